CREATE TABLE charges (
    number   INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    id       TEXT    NOT NULL UNIQUE,
    account  TEXT    NOT NULL,
    amount   BIGINT  NOT NULL CHECK (amount > 0),
    currency TEXT    NOT NULL
);
CREATE INDEX charges_account ON charges (account, number);

-- The orders whose `tok_flaky` has failed once already.
CREATE TABLE flaky_orders (
    account   TEXT NOT NULL,
    reference TEXT NOT NULL,
    PRIMARY KEY (account, reference)
);

CREATE TABLE payouts (
    id       BIGINT PRIMARY KEY,
    account  TEXT   NOT NULL,
    amount   BIGINT NOT NULL CHECK (amount > 0),
    status   TEXT   NOT NULL CHECK (status IN ('requested', 'sending', 'sent', 'rejected')),
    transfer TEXT
);

-- What happened to a payout. Rows are only ever appended; the first one, its birth, comes from nowhere.
CREATE TABLE payout_history (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payout_id BIGINT NOT NULL REFERENCES payouts (id),
    event     TEXT   NOT NULL,
    source    TEXT,
    target    TEXT   NOT NULL,
    actor     TEXT,
    reason    TEXT,
    metadata  TEXT,
    at        BIGINT NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
);
CREATE INDEX payout_history_payout ON payout_history (payout_id, id);

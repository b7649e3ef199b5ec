CREATE TABLE payouts (
    id       BIGINT PRIMARY KEY NOT NULL,
    account  TEXT   NOT NULL,
    amount   BIGINT NOT NULL CHECK (amount > 0),
    status   TEXT   NOT NULL CHECK (status IN ('requested', 'sending', 'sent', 'rejected')),
    transfer TEXT
);

-- What happened to a payout. Rows are only ever appended; the first one, its birth, comes from nowhere.
CREATE TABLE payout_history (
    id        INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    payout_id BIGINT  NOT NULL REFERENCES payouts (id),
    event     TEXT    NOT NULL,
    source    TEXT,
    target    TEXT    NOT NULL,
    actor     TEXT,
    reason    TEXT,
    metadata  TEXT,
    at        BIGINT  NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
);
CREATE INDEX payout_history_payout ON payout_history (payout_id, id);

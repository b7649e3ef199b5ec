-- AUTOINCREMENT: an id is never given out again, not even that of a deleted order, which the ledger still names.
CREATE TABLE orders (
    id       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    owner    TEXT    NOT NULL,
    item     TEXT    NOT NULL,
    amount   BIGINT  NOT NULL CHECK (amount > 0),
    currency TEXT    NOT NULL,
    status   TEXT    NOT NULL CHECK (status IN ('created', 'paying', 'paid', 'cancelled', 'settled', 'notified')),
    charge   TEXT
);
CREATE INDEX orders_owner ON orders (owner, id);

-- The payment that is under way: one row for each order that is `paying`.
CREATE TABLE payment_attempts (
    order_id       BIGINT PRIMARY KEY NOT NULL REFERENCES orders (id),
    downstream_key TEXT   NOT NULL,
    caller_key     TEXT   NOT NULL,
    card           TEXT   NOT NULL,
    started_at     BIGINT NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
);

-- What happened to an order. Rows are only ever appended; the first one, its birth, comes from nowhere.
CREATE TABLE order_history (
    id       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    order_id BIGINT  NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    event    TEXT    NOT NULL,
    source   TEXT,
    target   TEXT    NOT NULL,
    at       BIGINT  NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
);
CREATE INDEX order_history_order ON order_history (order_id, id);

-- What was settled: once an order, whatever becomes of the order afterwards.
CREATE TABLE ledger (
    order_id BIGINT PRIMARY KEY NOT NULL,
    account  TEXT   NOT NULL,
    amount   BIGINT NOT NULL
);
CREATE INDEX ledger_account ON ledger (account, order_id);

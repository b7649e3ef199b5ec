CREATE TABLE checkout_orders (
    id       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    owner    TEXT    NOT NULL,
    item     TEXT    NOT NULL,
    amount   BIGINT  NOT NULL CHECK (amount > 0),
    currency TEXT    NOT NULL,
    status   TEXT    NOT NULL CHECK (status IN ('created', 'paid', 'shipped', 'cancelled'))
);
CREATE INDEX checkout_orders_owner ON checkout_orders (owner, id);

-- What happened to an order. Rows are only ever appended; the first one, its birth, comes from nowhere.
CREATE TABLE checkout_history (
    id       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    order_id BIGINT  NOT NULL REFERENCES checkout_orders (id),
    event    TEXT    NOT NULL,
    source   TEXT,
    target   TEXT    NOT NULL,
    at       BIGINT  NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    actor    TEXT,
    reason   TEXT,
    metadata TEXT
);
CREATE INDEX checkout_history_order ON checkout_history (order_id, id);

-- What is known of the orders that events are about.
CREATE TABLE inbox_orders (
    id     BIGINT PRIMARY KEY NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    status TEXT   NOT NULL CHECK (status IN ('placed', 'paid', 'refunded'))
);

-- How they came there; the reason of a move is the id of its event.
CREATE TABLE inbox_order_history (
    id       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    order_id BIGINT  NOT NULL REFERENCES inbox_orders (id),
    event    TEXT    NOT NULL,
    source   TEXT,
    target   TEXT    NOT NULL,
    actor    TEXT,
    reason   TEXT,
    metadata TEXT,
    at       BIGINT  NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
);
CREATE INDEX inbox_order_history_order ON inbox_order_history (order_id, id);

-- Money that came and went. Nothing here keeps an event from being booked twice.
CREATE TABLE inbox_ledger (
    id       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    order_id BIGINT  NOT NULL,
    event_id TEXT    NOT NULL,
    amount   BIGINT  NOT NULL
);

-- How often events have failed, and those that are not tried any more.
CREATE TABLE inbox_failures (
    event      TEXT   PRIMARY KEY NOT NULL,
    deliveries BIGINT NOT NULL
);
CREATE TABLE inbox_dead_letters (
    event  TEXT PRIMARY KEY NOT NULL,
    text   TEXT NOT NULL,
    reason TEXT NOT NULL
);

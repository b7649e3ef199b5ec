-- No transaction holds these statements together: each does nothing where it was done before.
-- Names and keys are bytes: no collation folds their case, or the space at an end.
CREATE TABLE IF NOT EXISTS orders (
    id       BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    owner    VARBINARY(255) NOT NULL,
    item     LONGTEXT       NOT NULL,
    amount   BIGINT         NOT NULL CHECK (amount > 0),
    currency VARCHAR(255)   NOT NULL,
    status   VARCHAR(255)   NOT NULL CHECK (status IN ('created', 'paying', 'paid', 'cancelled', 'settled', 'notified')),
    charge   VARCHAR(255),
    INDEX orders_owner (owner, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The payment that is under way: one row for each order that is `paying`.
CREATE TABLE IF NOT EXISTS payment_attempts (
    order_id       BIGINT         NOT NULL PRIMARY KEY,
    downstream_key VARBINARY(255) NOT NULL,
    caller_key     VARBINARY(255) NOT NULL,
    card           LONGTEXT       NOT NULL,
    started_at     BIGINT         NOT NULL
        DEFAULT ((TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)),
    FOREIGN KEY (order_id) REFERENCES orders (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What happened to an order: when, and if it is known by whom and why. Rows are only ever appended; the first one, its
-- birth, comes from nowhere.
CREATE TABLE IF NOT EXISTS order_history (
    id       BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id BIGINT       NOT NULL,
    event    VARCHAR(255) NOT NULL,
    source   VARCHAR(255),
    target   VARCHAR(255) NOT NULL,
    at       BIGINT       NOT NULL
        DEFAULT ((TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)),
    actor    VARCHAR(255),
    reason   LONGTEXT,
    metadata LONGTEXT,
    INDEX order_history_order (order_id, id),
    FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What was settled: once an order, whatever becomes of the order afterwards.
CREATE TABLE IF NOT EXISTS ledger (
    order_id BIGINT         NOT NULL PRIMARY KEY,
    account  VARBINARY(255) NOT NULL,
    amount   BIGINT         NOT NULL,
    INDEX ledger_account (account, order_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- No transaction holds these statements together: each does nothing where it was done before.
-- Names are bytes: no collation folds their case, or the space at an end.
CREATE TABLE IF NOT EXISTS checkout_orders (
    id       BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    owner    VARBINARY(255) NOT NULL,
    item     LONGTEXT       NOT NULL,
    amount   BIGINT         NOT NULL CHECK (amount > 0),
    currency VARCHAR(255)   NOT NULL,
    status   VARCHAR(255)   NOT NULL CHECK (status IN ('created', 'paid', 'shipped', 'cancelled')),
    INDEX checkout_orders_owner (owner, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What happened to an order. Rows are only ever appended; the first one, its birth, comes from nowhere.
CREATE TABLE IF NOT EXISTS checkout_history (
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
    INDEX checkout_history_order (order_id, id),
    FOREIGN KEY (order_id) REFERENCES checkout_orders (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

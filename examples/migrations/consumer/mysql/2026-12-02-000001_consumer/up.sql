-- No transaction holds these statements together: each does nothing where it was done before.
-- Names and keys are bytes: no collation folds their case, or the space at an end.

-- What is known of the orders that events are about.
CREATE TABLE IF NOT EXISTS inbox_orders (
    id     BIGINT       NOT NULL PRIMARY KEY,
    amount BIGINT       NOT NULL CHECK (amount > 0),
    status VARCHAR(255) NOT NULL CHECK (status IN ('placed', 'paid', 'refunded'))
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How they came there; the reason of a move is the id of its event.
CREATE TABLE IF NOT EXISTS inbox_order_history (
    id       BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id BIGINT       NOT NULL,
    event    VARCHAR(255) NOT NULL,
    source   VARCHAR(255),
    target   VARCHAR(255) NOT NULL,
    actor    VARCHAR(255),
    reason   LONGTEXT,
    metadata LONGTEXT,
    at       BIGINT       NOT NULL
        DEFAULT ((TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)),
    INDEX inbox_order_history_order (order_id, id),
    FOREIGN KEY (order_id) REFERENCES inbox_orders (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Money that came and went. Nothing here keeps an event from being booked twice.
CREATE TABLE IF NOT EXISTS inbox_ledger (
    id       BIGINT   NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id BIGINT   NOT NULL,
    event_id LONGTEXT NOT NULL,
    amount   BIGINT   NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How often events have failed, and those that are not tried any more.
CREATE TABLE IF NOT EXISTS inbox_failures (
    event      VARBINARY(255) NOT NULL PRIMARY KEY,
    deliveries BIGINT         NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS inbox_dead_letters (
    event  VARBINARY(255) NOT NULL PRIMARY KEY,
    text   LONGTEXT       NOT NULL,
    reason LONGTEXT       NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

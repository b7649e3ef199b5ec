-- No transaction holds these statements together: each does nothing where it was done before.
CREATE TABLE IF NOT EXISTS payouts (
    id       BIGINT       NOT NULL PRIMARY KEY,
    account  LONGTEXT     NOT NULL,
    amount   BIGINT       NOT NULL CHECK (amount > 0),
    status   VARCHAR(255) NOT NULL CHECK (status IN ('requested', 'sending', 'sent', 'rejected')),
    transfer VARCHAR(255)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What happened to a payout. Rows are only ever appended; the first one, its birth, comes from nowhere.
CREATE TABLE IF NOT EXISTS payout_history (
    id        BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    payout_id BIGINT       NOT NULL,
    event     VARCHAR(255) NOT NULL,
    source    VARCHAR(255),
    target    VARCHAR(255) NOT NULL,
    actor     VARCHAR(255),
    reason    LONGTEXT,
    metadata  LONGTEXT,
    at        BIGINT       NOT NULL
        DEFAULT ((TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)),
    INDEX payout_history_payout (payout_id, id),
    FOREIGN KEY (payout_id) REFERENCES payouts (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

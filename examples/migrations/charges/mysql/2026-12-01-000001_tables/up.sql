-- No transaction holds these statements together: each does nothing where it was done before.
-- Names are bytes: no collation folds their case, or the space at an end.
CREATE TABLE IF NOT EXISTS charges (
    number   BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id       VARCHAR(255)   NOT NULL UNIQUE,
    account  VARBINARY(255) NOT NULL,
    amount   BIGINT         NOT NULL CHECK (amount > 0),
    currency VARCHAR(255)   NOT NULL,
    INDEX charges_account (account, number)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The orders whose `tok_flaky` has failed once already.
CREATE TABLE IF NOT EXISTS flaky_orders (
    account   VARBINARY(255)  NOT NULL,
    reference VARBINARY(2048) NOT NULL,
    PRIMARY KEY (account, reference)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

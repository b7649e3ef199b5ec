-- One row a key. Times are milliseconds since the epoch, by the database's clock.
-- state: 0 claimed, 1 completed, 2 released. held: 1 if the claim may not be taken over once its lease is over.
-- arguments: what the operation was called with, where it asked for that to be kept.
-- body is NULL where an answer could not be stored; an empty answer has an empty body.
-- Names are bytes: no collation folds case, accents or the space at an end.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    namespace   VARBINARY(255) NOT NULL,
    operation   VARBINARY(255) NOT NULL,
    scope       VARBINARY(255) NOT NULL,
    `key`       VARBINARY(255) NOT NULL,
    fingerprint VARBINARY(64)  NOT NULL,
    state       BIGINT         NOT NULL CHECK (state IN (0, 1, 2)),
    held        BIGINT         NOT NULL CHECK (held IN (0, 1)),
    owner       BINARY(16)     NOT NULL,
    token       BIGINT         NOT NULL,
    attempts    BIGINT         NOT NULL,
    generation  BIGINT         NOT NULL DEFAULT 1,
    lease_until BIGINT         NOT NULL,
    created_at  BIGINT         NOT NULL,
    expires_at  BIGINT         NOT NULL,
    status      BIGINT,
    headers     LONGBLOB,
    body        LONGBLOB,
    arguments   LONGBLOB,
    PRIMARY KEY (namespace, operation, scope, `key`),
    INDEX idempotency_keys_expires_at (expires_at)
) ENGINE = InnoDB;

-- Recovery points; they go with their record. generation tells the steps of one life of a key from those of the next,
-- after it has expired.
CREATE TABLE IF NOT EXISTS idempotency_steps (
    namespace   VARBINARY(255) NOT NULL,
    operation   VARBINARY(255) NOT NULL,
    scope       VARBINARY(255) NOT NULL,
    `key`       VARBINARY(255) NOT NULL,
    generation  BIGINT         NOT NULL,
    position    BIGINT         NOT NULL,
    name        VARBINARY(1024) NOT NULL,
    value       LONGBLOB       NOT NULL,
    PRIMARY KEY (namespace, operation, scope, `key`, generation, position),
    FOREIGN KEY (namespace, operation, scope, `key`)
        REFERENCES idempotency_keys (namespace, operation, scope, `key`) ON DELETE CASCADE
) ENGINE = InnoDB;

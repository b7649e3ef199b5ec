-- One row a key. Times are milliseconds since the epoch, by the database's clock.
-- state: 0 claimed, 1 completed, 2 released. held: 1 if the claim may not be taken over once its lease is over.
-- arguments: what the operation was called with, where it asked for that to be kept.
-- body is NULL where an answer could not be stored; an empty answer has an empty body.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    namespace   TEXT    NOT NULL,
    operation   TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    state       INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
    held        INTEGER NOT NULL CHECK (held IN (0, 1)),
    owner       BLOB    NOT NULL,
    token       INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    generation  INTEGER NOT NULL DEFAULT 1,
    lease_until INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    status      INTEGER,
    headers     BLOB,
    body        BLOB,
    arguments   BLOB,
    PRIMARY KEY (namespace, operation, scope, key)
);
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_at ON idempotency_keys (expires_at);

-- Recovery points. generation tells the steps of one life of a key from those of the next, after it has expired.
CREATE TABLE IF NOT EXISTS idempotency_steps (
    namespace   TEXT    NOT NULL,
    operation   TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    generation  INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    value       BLOB    NOT NULL,
    PRIMARY KEY (namespace, operation, scope, key, generation, position)
);
-- Steps go with their record. A trigger, since foreign keys are enforced only where a connection asks for it.
CREATE TRIGGER IF NOT EXISTS idempotency_keys_deleted AFTER DELETE ON idempotency_keys BEGIN
    DELETE FROM idempotency_steps
    WHERE namespace = old.namespace AND operation = old.operation AND scope = old.scope AND key = old.key;
END;

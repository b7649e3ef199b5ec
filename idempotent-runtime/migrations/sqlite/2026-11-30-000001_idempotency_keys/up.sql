-- One row a key. Times are milliseconds since the epoch, by the database's clock.
-- state: 0 claimed, 1 completed, 2 released. held: 1 if the claim may not be taken over once its lease is over.
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
    lease_until INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    status      INTEGER,
    headers     BLOB,
    body        BLOB,
    PRIMARY KEY (namespace, operation, scope, key)
);
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_at ON idempotency_keys (expires_at);

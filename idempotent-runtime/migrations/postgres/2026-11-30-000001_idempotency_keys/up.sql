-- One row a key. Times are milliseconds since the epoch, by the database's clock.
-- state: 0 claimed, 1 completed, 2 released. held: 1 if the claim may not be taken over once its lease is over.
-- arguments: what the operation was called with, where it asked for that to be kept.
-- body is NULL where an answer could not be stored; an empty answer has an empty body.
-- Keys compare byte by byte, whatever the collation of the database.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    namespace   text COLLATE "C" NOT NULL,
    operation   text COLLATE "C" NOT NULL,
    scope       text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    fingerprint bytea    NOT NULL,
    owner       bytea    NOT NULL,
    token       bigint   NOT NULL,
    lease_until bigint   NOT NULL,
    created_at  bigint   NOT NULL,
    expires_at  bigint   NOT NULL,
    attempts    bigint   NOT NULL,
    generation  bigint   NOT NULL DEFAULT 1,
    state       smallint NOT NULL CHECK (state IN (0, 1, 2)),
    held        smallint NOT NULL CHECK (held IN (0, 1)),
    status      smallint,
    headers     bytea,
    body        bytea,
    arguments   bytea,
    PRIMARY KEY (namespace, operation, scope, key)
);
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_at ON idempotency_keys (expires_at);

-- Recovery points; they go with their record. generation tells the steps of one life of a key from those of the next,
-- after it has expired.
CREATE TABLE IF NOT EXISTS idempotency_steps (
    namespace   text COLLATE "C" NOT NULL,
    operation   text COLLATE "C" NOT NULL,
    scope       text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    generation  bigint NOT NULL,
    position    bigint NOT NULL,
    name        text   NOT NULL,
    value       bytea  NOT NULL,
    PRIMARY KEY (namespace, operation, scope, key, generation, position),
    FOREIGN KEY (namespace, operation, scope, key)
        REFERENCES idempotency_keys (namespace, operation, scope, key) ON DELETE CASCADE
);

DROP TABLE IF EXISTS idempotency_steps;
DROP TABLE IF EXISTS idempotency_keys;

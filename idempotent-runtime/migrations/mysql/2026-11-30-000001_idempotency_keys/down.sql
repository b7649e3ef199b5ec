DROP TABLE idempotency_steps;
DROP TABLE idempotency_keys;

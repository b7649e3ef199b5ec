ALTER TABLE order_history DROP COLUMN metadata;
ALTER TABLE order_history DROP COLUMN reason;
ALTER TABLE order_history DROP COLUMN actor;

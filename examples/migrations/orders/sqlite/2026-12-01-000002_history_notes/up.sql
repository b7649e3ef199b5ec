-- Who moved an order, why, and what else is worth remembering.
ALTER TABLE order_history ADD COLUMN actor TEXT;
ALTER TABLE order_history ADD COLUMN reason TEXT;
ALTER TABLE order_history ADD COLUMN metadata TEXT;

DROP TABLE ledger;
DROP TABLE order_history;
DROP TABLE payment_attempts;
DROP TABLE orders;

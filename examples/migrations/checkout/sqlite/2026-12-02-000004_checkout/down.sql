DROP TABLE checkout_history;
DROP TABLE checkout_orders;

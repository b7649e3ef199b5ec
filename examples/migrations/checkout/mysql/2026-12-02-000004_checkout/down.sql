DROP TABLE IF EXISTS checkout_history;
DROP TABLE IF EXISTS checkout_orders;

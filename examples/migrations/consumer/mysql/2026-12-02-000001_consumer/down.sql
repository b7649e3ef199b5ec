DROP TABLE IF EXISTS inbox_dead_letters;
DROP TABLE IF EXISTS inbox_failures;
DROP TABLE IF EXISTS inbox_ledger;
DROP TABLE IF EXISTS inbox_order_history;
DROP TABLE IF EXISTS inbox_orders;

DROP TABLE inbox_dead_letters;
DROP TABLE inbox_failures;
DROP TABLE inbox_ledger;
DROP TABLE inbox_order_history;
DROP TABLE inbox_orders;

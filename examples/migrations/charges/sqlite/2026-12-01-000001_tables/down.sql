DROP TABLE flaky_orders;
DROP TABLE charges;

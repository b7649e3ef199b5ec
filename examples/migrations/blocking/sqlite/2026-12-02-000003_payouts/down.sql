DROP TABLE payout_history;
DROP TABLE payouts;

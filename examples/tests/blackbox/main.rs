//! Drives the built programs from outside: each test starts its own process on its own database, and talks HTTP to it or
//! gives it lines to read.
//!
//! The same tests serve every database. Built with `--no-default-features --features postgres` they need
//! `TEST_POSTGRES_URL`, and with `mysql` in its place `TEST_MYSQL_URL`: the URL of a server on which they may create
//! databases. With `blocking-postgres` or `blocking-mysql` they include those of `blocking`.

mod answer;
mod ask;
#[path = "../soak/chance.rs"]
mod chance;
mod database;
mod feed;
mod program;
mod provider;
mod proxy;
mod raw;

mod bad_input;
#[cfg(feature = "blocking")]
mod blocking;
mod browsers;
mod checkout;
mod clients;
mod consumer;
mod crashes;
mod creating;
mod deleting;
mod keys;
mod likes;
mod machine;
mod paying;
mod races;
mod readme;
mod specification;
mod starting;
mod stopping;

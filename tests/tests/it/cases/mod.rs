use super::database;

mod agreement;
mod app;
mod client;
mod expiry;
mod faults;
mod identity;
mod plain;
mod protocol;
mod races;
mod replay;

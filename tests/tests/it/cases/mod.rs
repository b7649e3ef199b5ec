use super::database;

mod agreement;
mod app;
mod client;
mod expiry;
mod faults;
mod identity;
mod interleavings;
mod plain;
mod pools;
mod protocol;
mod races;
mod replay;

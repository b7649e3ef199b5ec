use super::database;

mod agreement;
pub(crate) mod app;
mod client;
mod expiry;
mod faults;
mod graphs;
mod held;
mod identity;
mod interleavings;
mod leases;
pub(crate) mod machines;
mod plain;
mod pools;
mod protocol;
mod races;
mod replay;
mod steps;

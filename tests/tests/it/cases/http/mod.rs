//! What goes through HTTP: compiled once for each framework, and the same of each.

use super::super::database;

/// The service, on this framework.
mod app {
    pub(crate) use super::super::super::app::*;
    pub(crate) type Service = ServiceOn<super::super::Framework>;
}

mod client;
mod expiry;
mod faults;
mod held;
mod hints;
mod leases;
mod protocol;
mod races;
mod replay;
mod steps;
mod tokens;

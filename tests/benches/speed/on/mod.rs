//! What is measured on one database: compiled once for each.

mod hand;
mod lights;
mod lock;
mod memory;
mod protocol;
mod rows;
pub(crate) mod shop;

use serde_json::Value;

use super::database::{self, Database};
use crate::options::Options;

pub(crate) use protocol::protocol;
pub(crate) use rows::rows;

/// Measures the services over HTTP, each over an empty database.
pub(crate) async fn load(options: &Options) -> Result<Value, String> {
    let none = || format!("no server for {}", database::NAME);
    let ours = Database::fresh().await.ok_or_else(none)?;
    let theirs = Database::fresh().await.ok_or_else(none)?;
    crate::load::load(options, database::NAME, [ours.location(), theirs.location()]).await
}

//! The measurements on `PostgreSQL`.

use tests::postgres as database;

#[path = "on/mod.rs"]
pub(crate) mod on;

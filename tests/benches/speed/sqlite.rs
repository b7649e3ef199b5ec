//! The measurements on `SQLite`.

use tests::sqlite as database;

#[path = "on/mod.rs"]
pub(crate) mod on;

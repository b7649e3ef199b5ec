//! The measurements on MySQL and MariaDB.

use tests::mysql as database;

#[path = "on/mod.rs"]
pub(crate) mod on;

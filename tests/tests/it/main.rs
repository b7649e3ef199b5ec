//! Every case on every database: the files of `cases` are compiled once for each.

#![allow(clippy::duplicate_mod, reason = "which is how each case meets each database")]
#![allow(missing_docs, reason = "a test says in its name what it shows")]

mod mysql;
mod postgres;
mod sqlite;

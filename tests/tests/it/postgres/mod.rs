pub(crate) use tests::postgres as database;

#[path = "../cases/mod.rs"]
mod cases;
mod connections;
mod guards;
mod machines;

pub(crate) use tests::postgres as database;

#[path = "../cases/mod.rs"]
mod cases;
mod connections;
mod effects;
mod guards;
mod machines;
mod trips;

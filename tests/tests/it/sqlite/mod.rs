pub(crate) use tests::sqlite as database;

#[path = "../cases/mod.rs"]
mod cases;
mod machines;

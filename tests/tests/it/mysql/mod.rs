pub(crate) use tests::mysql as database;

#[path = "../cases/mod.rs"]
mod cases;
mod facts;
mod traps;

pub(crate) use tests::sqlite as database;

#[path = "../service.rs"]
mod service;

pub(crate) use service::run;

pub(crate) use tests::postgres as database;

#[path = "../service.rs"]
mod service;

pub(crate) use service::run;

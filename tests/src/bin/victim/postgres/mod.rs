pub(crate) use tests::postgres as database;

#[path = "../blocking.rs"]
mod blocking;
#[path = "../service.rs"]
mod service;

pub(crate) use service::run;

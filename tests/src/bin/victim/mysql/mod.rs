pub(crate) use tests::mysql as database;

#[path = "../service.rs"]
mod service;

pub(crate) use service::run;

pub(crate) use tests::mysql as database;

#[path = "../blocking.rs"]
mod blocking;
#[path = "../service.rs"]
mod service;

pub(crate) use service::run;

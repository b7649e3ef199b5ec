mod service;

pub(crate) use service::Axum;
pub(crate) use service::Axum as Framework;

#[path = "../http/mod.rs"]
mod http;

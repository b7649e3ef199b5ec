mod own;
mod service;

use service::Actix as Framework;

#[path = "../http/mod.rs"]
mod http;

//! A layer for whole routers: of axum, and of any tower service over HTTP.

mod body;
mod layer;
mod service;

pub use body::IdempotencyBody;
pub use layer::IdempotencyLayer;
pub use service::IdempotencyService;

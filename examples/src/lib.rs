//! What the example programs share, and the payment provider that `orders` can also start inside itself.
//!
//! Begin with [`charges`]: a whole service around one `#[idempotent]` handler. Then read `src/bin/orders/`, which adds
//! a state machine and a handler that calls another service.

pub mod charges;
pub mod cors;
pub mod db;
pub mod lines;
pub mod money;
pub mod problem;
pub mod server;
pub mod settings;
pub mod start;
pub mod text;
pub mod user;

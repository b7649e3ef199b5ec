//! Handlers of axum 0.8.

mod answers;
mod call;
mod serve;
mod transition;

pub use call::Call;
pub use serve::{leased, stepped, transactional};

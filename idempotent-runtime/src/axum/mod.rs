//! Handlers of axum 0.8.

mod answers;
mod call;
mod serve;
mod token;
mod transition;

pub use call::Call;
#[cfg(feature = "tower")]
pub(crate) use call::asked;
pub use serve::{leased, stepped, transactional};

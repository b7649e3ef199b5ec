//! What expansions call. No part of the interface: it changes without notice.

pub use crate::answer::Keep;
#[cfg(feature = "axum")]
pub use crate::axum::{Call, leased, stepped, transactional};
#[cfg(feature = "__failpoints")]
pub use crate::failpoint::FAILPOINTS;
pub use crate::pool::Connection;
pub use crate::run::plain;
pub use crate::terms::{KeySource, Need, Policy, Print, Terms};
#[cfg(feature = "axum")]
pub use axum::response::{IntoResponse, Response};

use std::future::Future;
use std::marker::PhantomData;

use futures_util::future::BoxFuture;

/// A connection type that was checked.
#[derive(Debug)]
pub struct Checked<C>(PhantomData<fn() -> C>);

/// Asks, on the user's own type, that it be a connection: the only place that does.
#[must_use]
pub const fn connection<C: Connection>() -> Checked<C> {
    Checked(PhantomData)
}

/// Boxes a future where the user wrote it, so that what makes it not `Send` is shown there.
pub fn boxed<'f, F: Future + Send + 'f>(future: F) -> BoxFuture<'f, F::Output> {
    Box::pin(future)
}

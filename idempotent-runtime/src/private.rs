//! What expansions call. No part of the interface: it changes without notice.

pub use crate::answer::Keep;
#[cfg(feature = "axum")]
pub use crate::axum::{Call, leased, stepped, transactional};
#[cfg(feature = "blocking")]
pub use crate::blocking;
pub use crate::connection::{AsyncConnection, BlockingConnection, Connection};
#[cfg(feature = "__failpoints")]
pub use crate::failpoint::FAILPOINTS;
pub use crate::openapi::{Kept, UNKNOWN_POLICY, route_policy};
pub use crate::operations::Place;
pub use crate::run::plain;
pub use crate::terms::{InFlight, KeySource, Need, Policy, Print, Repeat, Terms};
#[cfg(feature = "axum")]
pub use axum::response::{IntoResponse, Response};

use std::future::Future;
use std::marker::PhantomData;

use futures_util::future::BoxFuture;

/// A connection type that was checked.
#[derive(Debug)]
pub struct Checked<C>(PhantomData<fn() -> C>);

/// Asks, on the user's own type, that it be a connection to be awaited: the only place that does.
#[must_use]
pub const fn connection<C: AsyncConnection>() -> Checked<C> {
    Checked(PhantomData)
}

/// Asks, on the user's own type, that it be a connection that blocks: the only place that does.
#[must_use]
pub const fn blocking_connection<C: BlockingConnection>() -> Checked<C> {
    Checked(PhantomData)
}

/// Boxes a future where the user wrote it, so that what makes it not `Send` is shown there.
pub fn boxed<'f, F: Future + Send + 'f>(future: F) -> BoxFuture<'f, F::Output> {
    Box::pin(future)
}

/// What handlers of actix-web are expanded to.
#[cfg(feature = "actix")]
pub mod actix {
    pub use crate::actix::{Call, Response, boxed, extractor, leased, respond, stepped, transactional};
}

/// What `#[derive(StateMachine)]` writes.
pub use crate::__state_machine_impls as state_machine_impls;
pub use crate::machine::{Columns, EventOf, Expiry, Graph, NoRow, StateMachine, TableName, Tables};
pub use crate::machine::{Edge as GraphEdge, Event as GraphEvent, State as GraphState};
pub use crate::machine::{number_column, parse as parse_state, state_column};
pub use std::string::String;
pub use {diesel, serde};

/// What `#[state_transition]` writes.
pub mod transition {
    pub use crate::machine::{Ask, Sources, Terms, Via};
    pub use crate::machine::{check_edge, check_event, check_needs, check_outcome, check_state};
    pub use crate::machine::{close, close_via, failed, guard, open, open_via, outcome, returns};
    pub use crate::run::plain::{Opened, catch};
}
#[cfg(feature = "__nowhere")]
pub use crate::store::nowhere::Nowhere;

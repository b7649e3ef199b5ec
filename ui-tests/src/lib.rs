//! The names that the cases share, so that each shows its one mistake and nothing else.

pub use actix_web::{HttpRequest, HttpResponse, Responder, web};
pub use axum::Json;
pub use axum::extract::{Path, State};
pub use axum::http::StatusCode;
pub use axum::response::{IntoResponse, Response};
pub use idempotent_runtime::doc::OrderStatus;
pub use idempotent_runtime::{
    Error, Idempotency, RoutePolicy, StateMachine, Transition, TransitionError, idempotent, state_transition,
};
use serde::{Deserialize, Serialize};

/// The tables of the state machines.
#[allow(missing_docs, reason = "each column says what it is")]
pub mod schema {
    diesel::table! {
        orders (id) {
            id -> BigInt,
            status -> Text,
            version -> BigInt,
            entered_at -> BigInt,
            charge_key -> Nullable<Text>,
        }
    }

    diesel::table! {
        order_history (id) {
            id -> BigInt,
            order_id -> BigInt,
            event -> Text,
            source -> Nullable<Text>,
            target -> Text,
            actor -> Nullable<Text>,
            reason -> Nullable<Text>,
            metadata -> Nullable<Text>,
            at -> BigInt,
        }
    }
}

/// The connection of the cases.
pub type Db = diesel_async::sync_connection_wrapper::SyncConnectionWrapper<diesel::SqliteConnection>;

/// The state of the cases.
#[derive(Debug, Clone)]
pub struct App {
    /// An engine.
    pub idempotency: Idempotency<Db>,
    /// A lease.
    pub lease: std::time::Duration,
}

/// What is ordered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// Its number.
    pub id: i64,
}

/// What arrives.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its name.
    pub id: String,
}

/// Who asks.
#[derive(Debug, Clone)]
pub struct User {
    /// The number of the user.
    pub id: i64,
}

impl<S: Sync> axum::extract::FromRequestParts<S> for User {
    type Rejection = StatusCode;

    async fn from_request_parts(_: &mut axum::http::request::Parts, _: &S) -> Result<Self, StatusCode> {
        Ok(Self { id: 1 })
    }
}

impl actix_web::FromRequest for User {
    type Error = std::convert::Infallible;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(_: &HttpRequest, _: &mut actix_web::dev::Payload) -> Self::Future {
        std::future::ready(Ok(Self { id: 1 }))
    }
}

/// Why an order did not move.
#[derive(Debug)]
pub enum OrderError {
    /// The machine does not permit it.
    Transition(TransitionError),
    /// The card was declined.
    Declined,
}

impl From<TransitionError> for OrderError {
    fn from(error: TransitionError) -> Self {
        Self::Transition(error)
    }
}

//! A route that issues one-time tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::routing::{MethodRouter, post};

use super::answers::ours;
use crate::connection::Connection;
use crate::engine::Idempotency;
use crate::http::token::issue;

impl<C: Connection> Idempotency<C> {
    /// A route of axum that issues one-time tokens for an operation: POST answers 201 with
    /// `{"token":"…","expires_in":600}`, which no cache keeps. The token is for the caller that the engine's
    /// [`Scope`](crate::Scope) names, so that authentication stands outside.
    ///
    /// ```
    /// # use idempotent_runtime::{Idempotency, doc::Sqlite as Db};
    /// # fn routes(engine: &Idempotency<Db>) -> axum::Router {
    /// axum::Router::new().route("/tokens", engine.token_route("checkout", std::time::Duration::from_secs(600)))
    /// # }
    /// ```
    pub fn token_route<S>(&self, operation: &'static str, ttl: Duration) -> MethodRouter<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        let engine = Arc::clone(self.inner());
        post(move |request: Request| async move {
            let (head, _) = request.into_parts();
            ours(issue(&engine, &head, operation, ttl).await)
        })
    }
}

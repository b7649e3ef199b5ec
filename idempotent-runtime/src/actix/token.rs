//! A route that issues one-time tokens.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpRequest, Route, web};

use super::convert::{head_of, ours};
use crate::connection::Connection;
use crate::engine::Idempotency;
use crate::http::token::issue;

impl<C: Connection> Idempotency<C> {
    /// A route of actix-web that issues one-time tokens for an operation: what
    /// [`token_route`](Self::token_route) is to axum.
    ///
    /// ```
    /// # use idempotent_runtime::{Idempotency, doc::Sqlite as Db};
    /// # fn configure(engine: &Idempotency<Db>, config: &mut actix_web::web::ServiceConfig) {
    /// config.route("/tokens", engine.actix_token_route("checkout", std::time::Duration::from_secs(600)));
    /// # }
    /// ```
    #[must_use]
    pub fn actix_token_route(&self, operation: &'static str, ttl: Duration) -> Route {
        let engine = Arc::clone(self.inner());
        web::post().to(move |request: HttpRequest| {
            let engine = Arc::clone(&engine);
            async move { ours(issue(&engine, &head_of(&request), operation, ttl).await) }
        })
    }
}

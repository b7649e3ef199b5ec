//! The service on axum.

use std::future::IntoFuture;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, StatusCode, request::Parts};
use idempotent_runtime::{Error, Steps, idempotent};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::super::app::{self, Answer, App, Serving};
use super::super::database::Db;

/// Who asks: the header `x-user`, or everybody.
pub(crate) struct User(String);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        let user = parts.headers.get("x-user").map_or(Ok("everybody"), |user| user.to_str());
        user.map(|user| Self(user.to_owned())).map_err(|_| StatusCode::UNAUTHORIZED)
    }
}

#[idempotent(key = header, ttl = app.ttl, scope = user.0, engine = app.engine)]
async fn transactional(user: User, State(app): State<App>, #[tx] conn: &mut Db, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.tx)(conn, body).await
}

#[idempotent(key = header, ttl = app.ttl, lease = app.lease, scope = user.0, engine = app.engine)]
async fn leased(user: User, State(app): State<App>, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.leased)(body).await
}

#[idempotent(key = header, ttl = app.ttl, lease = app.lease, scope = user.0, on_crash = hold, engine = app.engine)]
async fn held(user: User, State(app): State<App>, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.leased)(body).await
}

#[idempotent(name = "tests.tx", key = token, ttl = app.ttl, scope = user.0, engine = app.engine)]
async fn token_tx(user: User, State(app): State<App>, #[tx] conn: &mut Db, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.tx)(conn, body).await
}

#[idempotent(name = "tests.leased", key = token, ttl = app.ttl, lease = app.lease, scope = user.0, engine = app.engine)]
async fn token_leased(user: User, State(app): State<App>, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.leased)(body).await
}

#[idempotent(name = "tests.once", key = token("X-Csrf-Token", once), ttl = app.ttl, scope = user.0, engine = app.engine)]
async fn token_once(user: User, State(app): State<App>, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.leased)(body).await
}

/// An error of ours, as a handler shows it.
pub(crate) struct Failed(Error);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0.code()).into_response()
    }
}

#[idempotent(key = header, ttl = app.ttl, lease = app.lease, scope = user.0, max_attempts = 3, engine = app.engine)]
async fn stepped(
    user: User,
    State(app): State<App>,
    #[steps] steps: &mut Steps<Db>,
    body: Bytes,
) -> Result<Response, Failed> {
    app.runs.fetch_add(1, Ordering::SeqCst);
    Ok((app.stepped)(steps, body).await?)
}

/// Handlers of axum.
pub(crate) struct Axum;

impl app::Framework for Axum {
    fn send(app: App, request: Request<Body>) -> BoxFuture<'static, Answer> {
        async move { app::read(router(app).oneshot(request).await.unwrap()).await }.boxed()
    }

    async fn serve(app: App) -> Serving {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(axum::serve(listener, router(app)).into_future());
        Serving::new(address, move || serving.abort())
    }
}

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/tx", any(transactional))
        .route("/leased", any(leased))
        .route("/held", any(held))
        .route("/stepped", any(stepped))
        .route("/token/tx", any(token_tx))
        .route("/token/leased", any(token_leased))
        .route("/token/once", any(token_once))
        .route("/tokens", app.engine.token_route("tests.tx", Duration::from_secs(600)))
        .nest("/nested", Router::new().route("/leased", any(leased)))
        .with_state(app)
}

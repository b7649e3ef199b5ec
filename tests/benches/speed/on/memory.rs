//! `axum-idempotent`, with its store in memory.
//!
//! What it does not guarantee: a restart forgets every answer, and two processes know nothing of each other; requests
//! that arrive together all run; a crash after the commit loses the answer, and the retry orders again; a key that was
//! sent with another body gets the old answer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use axum_idempotent::{IdempotentLayer, IdempotentOptions};
use diesel_async::pooled_connection::deadpool::Pool;
use http::{Request, StatusCode};
use ruts::store::Ttl;
use ruts::store::moka::MokaStore;
use ruts::{CookieOptions, Session, SessionLayer};
use tower::ServiceExt;
use tower_cookies::CookieManagerLayer;

use super::database::Db;
use super::shop::{Failure, Order, Shop, place_alone};

/// How many orders a session has. The store walks over all answers of a session each time.
pub(crate) const ORDERS_OF_A_SESSION: u64 = 20;

async fn create(
    State(pool): State<Arc<Pool<Db>>>,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Order>), Failure> {
    place_alone(&pool, order).await
}

async fn log_in(session: Session<MokaStore>) -> StatusCode {
    let ttl = Ttl::new(3_600).expect("an hour");
    session.set("user", &"alice", ttl, None).await.expect("the store is in memory");
    StatusCode::NO_CONTENT
}

/// A router over the same database.
pub(crate) fn router(shop: &Shop) -> Router {
    let store = Arc::new(MokaStore::builder().max_capacity(1_000_000).build());
    let cookie = CookieOptions::build().name("session").max_age(3_600).path("/");
    let options = IdempotentOptions::new(3_600).use_idempotency_key_header(None, true);
    Router::new()
        .route("/memory", post(create))
        .layer(IdempotentLayer::<MokaStore>::new(options))
        .route("/session", post(log_in))
        .layer(SessionLayer::new(store).with_cookie_options(cookie))
        .layer(CookieManagerLayer::new())
        .with_state(Arc::new(shop.pool.clone()))
}

/// A new session: what to send as its cookie.
pub(crate) async fn session(router: &Router) -> String {
    let request = Request::post("/session").body(Body::empty()).expect("a request");
    let response = router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
    let cookie = response.headers()["set-cookie"].to_str().expect("a cookie");
    cookie.split(';').next().unwrap_or_default().to_owned()
}

//! Nothing to complain of under every lint.
#![deny(warnings, clippy::all, clippy::pedantic)]

use ui_tests::*;

/// Creates an order.
#[idempotent(key = header, ttl = "72h", scope = user.id, fingerprint = json, in_flight = wait("5s"), policy = CREATE_ORDER)]
pub async fn transactional(
    user: User,
    #[tx] conn: &mut Db,
    Json(mut order): Json<Order>,
) -> Result<Json<Order>, StatusCode> {
    order.id += 1;
    let _ = (conn, order.clone());
    Ok(Json(order))
}

#[idempotent(key = header("X-Request-Id", optional), ttl = "72h", lease = app.lease, scope = user.id + 1, store = |status| status.is_success(), engine = app.idempotency)]
async fn leased(user: User, State(app): State<App>, Path(_id): Path<i64>) -> impl IntoResponse {
    StatusCode::OK
}

#[idempotent(name = "checkout", key = token, ttl = "10m", scope = user.id)]
async fn checkout(user: User, #[tx] _conn: &mut Db) -> StatusCode {
    StatusCode::SEE_OTHER
}

#[idempotent(name = "checkout.once", key = token("X-Csrf-Token", once), ttl = "10m")]
async fn checkout_once() -> StatusCode {
    StatusCode::OK
}

#[idempotent(http, name = "likes.add", key = (user.id, post), ttl = "forever", fingerprint = none)]
async fn like(user: User, Path(post): Path<i64>, #[tx] _conn: &mut Db) -> StatusCode {
    StatusCode::CREATED
}

#[idempotent(key = event.id, ttl = "7d", fingerprint = (event.id.len(), "x"))]
async fn consume(#[tx] conn: &mut Db, event: &Event) -> Result<Order, Error> {
    let _ = conn;
    Ok(Order { id: 1 })
}

#[idempotent(key = (first, id), ttl = std::time::Duration::from_secs(60), lease = "5s")]
async fn job((first, mut second): (i64, i64), Event { id, .. }: Event) -> Result<i64, Error> {
    second += first;
    Ok(second)
}

fn main() {
    let _: axum::Router<App> = axum::Router::new()
        .route("/a", axum::routing::post(transactional))
        .route("/b/{id}", axum::routing::post(leased))
        .route("/c/{post}", axum::routing::post(like))
        .route("/d", axum::routing::post(checkout))
        .route("/e", axum::routing::post(checkout_once));
    let _ = consume;
    let _ = job;
}

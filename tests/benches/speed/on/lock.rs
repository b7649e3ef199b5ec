//! A lock and a cached answer in Redis, around the handler.
//!
//! What it does not guarantee: answers and orders are in two places, so that a crash between them loses the answer, and
//! the retry orders again; a lock whose holder was paused is taken over beside it, and nothing fences the late one; what
//! Redis loses or evicts is run again; a key that was sent with another body gets the old answer.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use diesel_async::pooled_connection::deadpool::Pool;
use http::{HeaderMap, StatusCode};
use redis::aio::MultiplexedConnection;

use super::database::Db;
use super::shop::{Failure, Order, Shop, place_alone};

#[derive(Clone)]
struct App {
    pool: Pool<Db>,
    redis: MultiplexedConnection,
}

const HEAD: [(&str, &str); 1] = [("content-type", "application/json")];

async fn create(State(mut app): State<App>, headers: HeaderMap, Json(order): Json<Order>) -> Result<Response, Failure> {
    let key = headers["idempotency-key"].to_str().unwrap_or_default();
    let (lock, answer) = (format!("lock:{key}"), format!("answer:{key}"));
    let (kept, locked): (Option<Vec<u8>>, Option<String>) = redis::pipe()
        .cmd("GET")
        .arg(&answer)
        .cmd("SET")
        .arg(&lock)
        .arg(1)
        .arg("NX")
        .arg("PX")
        .arg(30_000)
        .query_async(&mut app.redis)
        .await?;
    if let Some(kept) = kept {
        return Ok((StatusCode::CREATED, HEAD, kept).into_response());
    }
    if locked.is_none() {
        return Ok(StatusCode::CONFLICT.into_response());
    }
    let (status, Json(placed)) = place_alone(&app.pool, order).await?;
    let body = serde_json::to_vec(&placed)?;
    // The lock is left to end by itself: whoever comes in between finds the answer.
    let () = redis::cmd("SET").arg(&answer).arg(&body).arg("EX").arg(3_600).query_async(&mut app.redis).await?;
    Ok((status, HEAD, body).into_response())
}

/// A router over the same database and the Redis of `TEST_REDIS_URL`; `None` if there is none.
pub(crate) async fn router(shop: &Shop) -> Option<Router> {
    let Ok(url) = std::env::var("TEST_REDIS_URL") else {
        tests::leave_out("redis", "TEST_REDIS_URL");
        return None;
    };
    let client = redis::Client::open(url).expect("a URL of Redis");
    let redis = client.get_multiplexed_async_connection().await.expect("Redis answers");
    Some(Router::new().route("/lock", post(create)).with_state(App { pool: shop.pool.clone(), redis }))
}

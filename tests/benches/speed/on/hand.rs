//! The protocol as articles describe it, written by hand in the handler: select, insert, run, update.
//!
//! What it does not guarantee: a crash between the commits leaves the key "in progress" for ever, or an order without
//! its answer; a key that was sent with another body gets the old answer; nothing expires.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error::DatabaseError};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};
use http::{HeaderMap, StatusCode};

use super::database::Db;
use super::shop::{Failure, Order, Shop, place};

diesel::table! {
    hand_keys (id) {
        id -> Text,
        status -> Nullable<Integer>,
        body -> Nullable<Text>,
    }
}

async fn create(
    State(pool): State<Arc<Pool<Db>>>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Result<Response, Failure> {
    let key = headers["idempotency-key"].to_str().unwrap_or_default().to_owned();
    let mut conn = pool.get().await?;
    let row = hand_keys::table.find(&key).select((hand_keys::status, hand_keys::body));
    match row.first::<(Option<i32>, Option<String>)>(&mut *conn).await.optional()? {
        Some((Some(status), Some(body))) => {
            let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
            let head = [("content-type", "application/json")];
            return Ok((status.unwrap_or_default(), head, body).into_response());
        }
        Some(_) => return Ok(StatusCode::CONFLICT.into_response()),
        None => {}
    }
    match diesel::insert_into(hand_keys::table).values(hand_keys::id.eq(&key)).execute(&mut *conn).await {
        Err(DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => return Ok(StatusCode::CONFLICT.into_response()),
        inserted => inserted?,
    };
    let placed = conn.transaction(async |conn| place(conn, order).await).await?;
    let body = serde_json::to_string(&placed)?;
    diesel::update(hand_keys::table.find(&key))
        .set((hand_keys::status.eq(201), hand_keys::body.eq(&body)))
        .execute(&mut *conn)
        .await?;
    Ok((StatusCode::CREATED, [("content-type", "application/json")], body).into_response())
}

/// A router over the same database.
pub(crate) async fn router(shop: &Shop) -> Router {
    let create_table = "CREATE TABLE hand_keys (id VARCHAR(255) NOT NULL PRIMARY KEY, status INT, body TEXT)";
    let mut conn = shop.pool.get().await.expect("a connection");
    conn.batch_execute(create_table).await.expect("the table can be made");
    Router::new().route("/hand", post(create)).with_state(Arc::new(shop.pool.clone()))
}

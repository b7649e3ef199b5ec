//! The service that is measured, on one database: the same handlers with and without what makes them safe to repeat.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use diesel::prelude::*;
use diesel_async::pooled_connection::RecyclingMethod;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};
use http::{Request, StatusCode};
use idempotent_runtime::{Error, Idempotency, Scope, Steps, idempotent};
use serde::{Deserialize, Serialize};
use tower::ServiceExt;

use super::database::{Database, Db, SERIAL, inserted, recycled};

/// What every handler may use.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) pool: Pool<Db>,
    pub(crate) router: Router,
    // Dropped last: the connections of the pool are in it.
    database: Arc<Database>,
}

/// The body of a request, and with its number that of the answer: about 1 KB.
#[derive(Debug, Clone, Serialize, Deserialize, Queryable)]
pub(crate) struct Order {
    #[serde(default)]
    pub(crate) id: i64,
    pub(crate) amount: i64,
    pub(crate) note: String,
}

diesel::table! {
    bench_orders (id) {
        id -> BigInt,
        amount -> BigInt,
        note -> Text,
    }
}

/// Why a handler gave up. In a benchmark nothing does.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0).into_response()
    }
}

type Created = (StatusCode, Json<Order>);

/// The work of each handler: one row.
pub(crate) async fn place(conn: &mut Db, order: Order) -> Result<Order, diesel::result::Error> {
    let row = (bench_orders::amount.eq(order.amount), bench_orders::note.eq(&order.note));
    let id = inserted!(conn, bench_orders::table, row, bench_orders::id).await?;
    Ok(Order { id, ..order })
}

/// The work in a transaction, on a connection of the pool.
pub(crate) async fn place_alone(pool: &Pool<Db>, order: Order) -> Result<Created, Failure> {
    let mut conn = pool.get().await?;
    let placed = conn.transaction(async |conn| place(conn, order).await).await?;
    Ok((StatusCode::CREATED, Json(placed)))
}

async fn bare(State(app): State<App>, Json(order): Json<Order>) -> Result<Created, Failure> {
    place_alone(&app.pool, order).await
}

#[idempotent(name = "bench.transactional", key = header, ttl = "72h", engine = app.engine)]
async fn transactional(
    State(app): State<App>,
    #[tx] conn: &mut Db,
    Json(order): Json<Order>,
) -> Result<Created, Failure> {
    Ok((StatusCode::CREATED, Json(place(conn, order).await?)))
}

#[idempotent(name = "bench.leased", key = header, ttl = "72h", engine = app.engine)]
async fn leased(State(app): State<App>, Json(order): Json<Order>) -> Result<Created, Failure> {
    place_alone(&app.pool, order).await
}

#[idempotent(name = "bench.steps", key = header, ttl = "72h", engine = app.engine)]
async fn stepped(
    State(app): State<App>,
    Path(steps_wanted): Path<u32>,
    #[steps] steps: &mut Steps<Db>,
    Json(order): Json<Order>,
) -> Result<StatusCode, Stopped> {
    for step in 0..steps_wanted {
        let order = order.clone();
        let step = format!("step {step}");
        steps.tx(&step, async |conn| Ok::<_, Stopped>(place(conn, order).await.map(|order| order.id)?)).await?;
    }
    Ok(StatusCode::CREATED)
}

/// Why steps stopped.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Idempotency(#[from] Error),
    #[error(transparent)]
    Database(#[from] diesel::result::Error),
}

impl IntoResponse for Stopped {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.to_string()).into_response()
    }
}

/// What a repeat is measured against: the same request, answered by a SELECT of a row of the same size.
async fn find(State(app): State<App>, Path(id): Path<i64>, Json(_): Json<Order>) -> Result<Json<Order>, Failure> {
    let mut conn = app.pool.get().await?;
    Ok(Json(bench_orders::table.find(id).first(&mut *conn).await?))
}

/// The state of the handlers.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) pool: Pool<Db>,
    pub(crate) engine: Idempotency<Db>,
}

impl Shop {
    /// A shop over an empty database, with a pool of so many connections; `None` if there is no server.
    pub(crate) async fn open(connections: usize) -> Option<Self> {
        let database = Arc::new(Database::fresh().await?);
        // Connections are not asked whether they live before they are handed out, which by default diesel-async does: a
        // round trip more at each turn, on either side.
        let pool = recycled(&database.location(), connections, RecyclingMethod::Fast, |_| {});
        let engine = Idempotency::builder(pool.clone(), Scope::shared()).build();
        engine.migrate().await.expect("the tables can be made");
        let create = format!("CREATE TABLE bench_orders (id {SERIAL}, amount BIGINT NOT NULL, note TEXT NOT NULL)");
        let mut conn = pool.get().await.expect("a connection");
        conn.batch_execute(&create).await.expect("the table can be made");
        drop(conn);
        let router = Router::new()
            .route("/bare", post(bare))
            .route("/transactional", post(transactional))
            .route("/leased", post(leased))
            .route("/steps/{steps}", post(stepped))
            .route("/orders/{id}", post(find))
            .with_state(App { pool: pool.clone(), engine });
        Some(Self { pool, router, database })
    }

    /// The address of its database.
    #[allow(dead_code, reason = "asked on PostgreSQL")]
    pub(crate) fn location(&self) -> String {
        self.database.location()
    }

    /// Sends a request, and reads its answer.
    pub(crate) async fn send(&self, request: Request<Body>, expected: StatusCode) -> Bytes {
        send(&self.router, request, expected).await
    }
}

/// Sends a request to a router, and reads its answer.
pub(crate) async fn send(router: &Router, request: Request<Body>, expected: StatusCode) -> Bytes {
    let response = router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    assert_eq!(status, expected, "{}", String::from_utf8_lossy(&body));
    body
}

/// A POST of a body under a key.
pub(crate) fn post_to(path: &str, key: &str, body: Bytes) -> Request<Body> {
    let request = Request::post(path).header("content-type", "application/json").header("idempotency-key", key);
    request.body(Body::from(body)).expect("a request")
}

/// The body of an order, of about so many bytes.
pub(crate) fn order_of(bytes: usize, amount: i64) -> Bytes {
    let order = Order { id: 0, amount, note: "n".repeat(bytes.saturating_sub(40)) };
    serde_json::to_vec(&order).expect("an order can be written").into()
}

pub(crate) fn fresh_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Keys under which something was done before, handed out in turns.
#[derive(Debug, Default)]
pub(crate) struct Used {
    keys: Vec<String>,
    next: AtomicU64,
}

impl Used {
    pub(crate) fn new(keys: Vec<String>) -> Arc<Self> {
        Arc::new(Self { keys, next: AtomicU64::new(0) })
    }

    pub(crate) fn next(&self) -> &str {
        // Far apart, so that neighbours in the order of their making do not meet.
        let next = self.next.fetch_add(7_919, Ordering::Relaxed);
        &self.keys[usize::try_from(next % self.keys.len() as u64).unwrap_or(0)]
    }
}

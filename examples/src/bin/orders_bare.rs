//! `orders` without `#[idempotent]`: placing and reading, over the same tables and with the same code. What the
//! attribute costs is measured against it (`scripts/bench`).
//!
//! A request that is repeated orders twice here.

#[allow(dead_code, reason = "it places and reads, and `orders` does more")]
#[path = "orders/order.rs"]
mod order;
#[allow(dead_code, reason = "that of `orders`")]
#[path = "orders/schema.rs"]
mod schema;
#[allow(dead_code, reason = "that of `orders`")]
#[path = "orders/status.rs"]
mod status;

use std::process::ExitCode;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderName, LOCATION};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use diesel_async::AsyncConnection;
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use examples::db::Pool;
use examples::problem::Problem;
use examples::start::{self, StartError};
use examples::user::User;
use examples::{db, server, settings};

use crate::order::{NewOrder, Order};

#[cfg(feature = "sqlite")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/orders/sqlite");
#[cfg(feature = "postgres")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/orders/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/orders/mysql");

#[tokio::main]
async fn main() -> ExitCode {
    start::program("orders_bare", run()).await
}

async fn run() -> Result<(), StartError> {
    let listen = settings::listen("127.0.0.1:3000")?;
    let pool = db::open(&settings::database_url("orders_bare.db")?).await?;
    db::migrate(&pool, MIGRATIONS).await?;
    let router = Router::new()
        .route("/orders", post(create))
        .route("/orders/{id}", get(read))
        .layer(middleware::from_fn(server::to_the_end))
        .with_state(pool);
    server::serve(server::bind(&listen).await?, router).await
}

type Created = (StatusCode, [(HeaderName, String); 1], Json<Order>);

async fn create(user: User, State(pool): State<Pool>, Json(new): Json<NewOrder>) -> Result<Created, Problem> {
    let mut conn = pool.get().await?;
    let order = conn.transaction(async |conn| Order::insert(conn, &user.name, &new).await).await?;
    Ok((StatusCode::CREATED, [(LOCATION, format!("/orders/{}", order.id))], Json(order)))
}

async fn read(user: User, Path(id): Path<i64>, State(pool): State<Pool>) -> Result<Json<Order>, Problem> {
    let mut conn = pool.get().await?;
    Order::find(&mut conn, &user.name, id).await.map(Json)
}

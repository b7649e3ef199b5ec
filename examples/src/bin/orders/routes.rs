//! The routes, and the handlers that need no more than one transaction.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderName, LOCATION};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router, middleware};
use examples::db::Db;
use examples::problem::Problem;
use examples::server;
use examples::text::Text;
use examples::user::User;
use idempotent_runtime::{Deleted, Transition, TransitionError, idempotent, state_transition};
use serde::Deserialize;

use crate::app::App;
use crate::history::{self, HistoryRow};
use crate::ledger::{self, Entry};
use crate::order::{NewOrder, Order};
use crate::pay::pay;
use crate::status::OrderStatus;

pub(crate) fn router(app: App) -> Router {
    let reads = Router::new()
        .route("/orders", get(list))
        .route("/orders/{id}", get(read))
        .route("/orders/{id}/history", get(read_history))
        .route("/ledger", get(read_ledger))
        .layer(middleware::from_fn(server::to_the_end));
    let writes = Router::new()
        .route("/orders", post(create))
        .route("/orders/{id}", delete(remove))
        .route("/orders/{id}/item", put(replace_item))
        .route("/orders/{id}/pay", post(pay))
        .route("/orders/{id}/cancel", post(cancel))
        .route("/orders/{id}/settle", post(settle))
        .route("/orders/{id}/notify", post(notify));
    reads.merge(writes).with_state(app)
}

/// What a new order is answered with.
type Created = (StatusCode, [(HeaderName, String); 1], Json<Order>);

#[idempotent(key = header, ttl = "72h", scope = user.name)]
async fn create(user: User, #[tx] conn: &mut Db, Json(new): Json<NewOrder>) -> Result<Created, Problem> {
    let order = Order::insert(conn, &user.name, &new).await?;
    Ok((StatusCode::CREATED, [(LOCATION, format!("/orders/{}", order.id))], Json(order)))
}

#[idempotent(key = header(optional), ttl = "72h", scope = user.name)]
async fn cancel(user: User, Path(id): Path<i64>, #[tx] conn: &mut Db) -> Result<Json<Order>, Problem> {
    Order::fire(conn, &user.name, id, OrderStatus::cancel()).await.map(Json)
}

#[idempotent(key = header(optional), ttl = "72h", scope = user.name)]
async fn settle(user: User, Path(id): Path<i64>, #[tx] conn: &mut Db) -> Result<Json<Order>, Problem> {
    Order::find(conn, &user.name, id).await?;
    match settle_and_book(conn, id, &user.name).await {
        Ok(_) | Err(Problem::Transition(TransitionError::Conflict { passed: true, .. })) => {}
        Err(problem) => return Err(problem),
    }
    Order::find(conn, &user.name, id).await.map(Json)
}

/// Settles an order, and books it in the same transaction: settled once, booked once.
#[state_transition(machine = OrderStatus, event = settle)]
async fn settle_and_book(
    #[tx] conn: &mut Db,
    #[id] id: i64,
    #[actor] account: &str,
) -> Result<Transition<()>, Problem> {
    let order = Order::find(conn, account, id).await?;
    ledger::book(conn, account, &order).await?;
    Ok(().into())
}

#[idempotent(key = header(optional), ttl = "72h", scope = user.name)]
async fn notify(user: User, Path(id): Path<i64>, #[tx] conn: &mut Db) -> Result<Json<Order>, Problem> {
    Order::fire(conn, &user.name, id, OrderStatus::notify()).await.map(Json)
}

/// Deletes an order. One that is not there is deleted already; another user's is not there.
#[idempotent(key = header, ttl = "72h", scope = user.name)]
async fn remove(user: User, Path(id): Path<i64>, #[tx] conn: &mut Db) -> Result<Deleted, Problem> {
    match Order::lock(conn, &user.name, id).await {
        Ok(order) if order.status == OrderStatus::Paying => {
            Err(order.conflict("it cannot be deleted before its payment has ended"))
        }
        Ok(order) => Ok(order.delete(conn).await?.into()),
        Err(Problem::NotFound) => Ok(Deleted::rows(0)),
        Err(problem) => Err(problem),
    }
}

/// The body of a request to replace the item.
#[derive(Debug, Deserialize)]
struct NewItem {
    item: Text,
}

#[idempotent(key = header, ttl = "72h", scope = user.name)]
async fn replace_item(
    user: User,
    Path(id): Path<i64>,
    #[tx] conn: &mut Db,
    Json(new): Json<NewItem>,
) -> Result<Json<Order>, Problem> {
    Order::replace_item(conn, &user.name, id, &new.item).await.map(Json)
}

async fn list(user: User, State(app): State<App>) -> Result<Json<Vec<Order>>, Problem> {
    let mut conn = app.pool.get().await?;
    Ok(Json(Order::list(&mut conn, &user.name).await?))
}

async fn read(user: User, Path(id): Path<i64>, State(app): State<App>) -> Result<Json<Order>, Problem> {
    let mut conn = app.pool.get().await?;
    Order::find(&mut conn, &user.name, id).await.map(Json)
}

async fn read_history(
    user: User,
    Path(id): Path<i64>,
    State(app): State<App>,
) -> Result<Json<Vec<HistoryRow>>, Problem> {
    let mut conn = app.pool.get().await?;
    let order = Order::find(&mut conn, &user.name, id).await?;
    Ok(Json(history::list(&mut conn, order.id).await?))
}

async fn read_ledger(user: User, State(app): State<App>) -> Result<Json<Vec<Entry>>, Problem> {
    let mut conn = app.pool.get().await?;
    Ok(Json(ledger::list(&mut conn, &user.name).await?))
}

//! What can be asked, and how it is answered.

use axum::extract::{OriginalUri, Path, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use axum::http::{HeaderName, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use examples::db::Db;
use examples::problem::Problem;
use examples::server;
use idempotent_runtime::idempotent;

use crate::app::{App, TTL};
use crate::browser::{self, View};
use crate::card::Card;
use crate::order::{NewOrder, Order};
use crate::outcome::{self, Outcome};
use crate::page::{Page, Panel};
use crate::status::OrderStatus;
use crate::visitor::Visitor;

/// How many orders are shown.
const SHOWN: i64 = 20;

/// The routes.
pub(crate) fn router(app: App) -> Router {
    let tokens = Router::new()
        .route("/tokens", app.idempotency.token_route("checkout", TTL))
        .route_layer(middleware::from_extractor::<Visitor>());
    let reads = Router::new().route("/orders", get(list)).layer(middleware::from_fn(server::to_the_end));
    let page = Router::new()
        .route("/", get(index))
        .layer(middleware::from_fn(server::to_the_end))
        .layer(middleware::from_fn(browser::answer));
    let files = Router::new().route("/checkout.css", get(style)).route("/checkout.js", get(script));
    let once = Router::new()
        .route("/checkout", post(checkout))
        .route("/orders/{id}/pay", post(pay))
        .layer(middleware::from_fn(outcome::mark));
    let forms = Router::new()
        .route("/orders/{id}/ship", post(ship))
        .route("/orders/{id}/cancel", post(cancel))
        .merge(once)
        .layer(middleware::from_fn(browser::answer))
        .layer(middleware::from_fn(browser::slow_down));
    tokens.merge(reads).merge(files).merge(page).merge(forms).with_state(app)
}

/// What a new order is answered with.
type Created = (StatusCode, [(HeaderName, String); 1], Json<Order>);

/// Orders, once for each token. The order and the answer are one transaction.
#[idempotent(name = "checkout", key = token, ttl = TTL, scope = visitor.name, engine = app.idempotency, in_flight = wait("10s"))]
async fn checkout(
    visitor: Visitor,
    State(app): State<App>,
    #[tx] conn: &mut Db,
    new: NewOrder,
) -> Result<Created, Problem> {
    let order = Order::insert(conn, &visitor.name, &new).await?;
    Ok((StatusCode::CREATED, [(LOCATION, format!("/?order={}", order.id))], Json(order)))
}

/// Pays, once for each token; and the machine knows that an order is paid once.
#[idempotent(name = "pay", key = token, ttl = TTL, scope = visitor.name, engine = app.idempotency, in_flight = wait("10s"))]
async fn pay(
    visitor: Visitor,
    State(app): State<App>,
    Path(id): Path<i64>,
    #[tx] conn: &mut Db,
) -> Result<Json<Order>, Problem> {
    Order::fire(conn, &visitor.name, id, OrderStatus::pay()).await.map(Json)
}

/// Ships. No token: the machine lets it happen once, and a repeat finds it done. A key is honoured.
#[idempotent(key = header(optional), ttl = TTL, scope = visitor.name, engine = app.idempotency)]
async fn ship(
    visitor: Visitor,
    State(app): State<App>,
    Path(id): Path<i64>,
    #[tx] conn: &mut Db,
) -> Result<Json<Order>, Problem> {
    Order::fire(conn, &visitor.name, id, OrderStatus::ship()).await.map(Json)
}

/// Cancels, in the same way.
#[idempotent(key = header(optional), ttl = TTL, scope = visitor.name, engine = app.idempotency)]
async fn cancel(
    visitor: Visitor,
    State(app): State<App>,
    Path(id): Path<i64>,
    #[tx] conn: &mut Db,
) -> Result<Json<Order>, Problem> {
    Order::fire(conn, &visitor.name, id, OrderStatus::cancel()).await.map(Json)
}

async fn list(visitor: Visitor, State(app): State<App>) -> Result<Json<Vec<Order>>, Problem> {
    let mut conn = app.pool.get().await?;
    Ok(Json(Order::list(&mut conn, &visitor.name, SHOWN).await?))
}

/// The page: a form with a fresh token, or the order that was just dealt with; and all orders below.
async fn index(
    visitor: Option<Visitor>,
    State(app): State<App>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (visitor, welcome) = match visitor {
        Some(visitor) => (visitor, None),
        None => Visitor::new(),
    };
    let view = View::of(&uri);
    let cards = Card::list(&app, &visitor.name, SHOWN).await?;
    let asked = view.order().filter(|asked| cards.iter().any(|card| card.order.id == *asked));
    let panel = match asked {
        Some(order) => Panel::Order { order, outcome: Outcome::told(&headers, order) },
        None => Panel::Form(app.issue(&visitor.name, "checkout").await?),
    };
    let forget = asked.and_then(|_| Outcome::forget());
    let cookies = AppendHeaders(welcome.into_iter().chain(forget));
    let page = Page { panel, cards, is_slow: view.is_slow() };
    Ok((cookies, page).into_response())
}

async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page/checkout.css"))
}

async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("page/checkout.js"))
}

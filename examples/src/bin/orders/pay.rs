//! Paying: a handler that calls another service, and so cannot do all its work in one transaction.
//!
//! Three steps: write down what is about to happen, let it happen, write down what came of it. No connection is held
//! while the provider is called. A crash between two steps leaves the order `paying`; the next request goes on.

use axum::Json;
use axum::extract::{Path, State};
use examples::db;
use examples::problem::Problem;
use examples::text::Text;
use examples::user::User;
use idempotent_runtime::idempotent;
use serde::Deserialize;

use crate::app::App;
use crate::attempt::Attempt;
use crate::caller_key::CallerKey;
use crate::order::Order;
use crate::provider::Charged;
use crate::status::Status;
use crate::transition::{self, Event, Transition};

/// The body of a request to pay.
#[derive(Debug, Deserialize)]
pub(crate) struct Payment {
    card: Text,
}

/// What there is to do.
enum Start {
    Charge(Attempt),
    /// Somebody paid before.
    Paid(Order),
}

#[idempotent(key = header, ttl = "72h", scope = user.name, lease = app.lease)]
pub(crate) async fn pay(
    user: User,
    Path(id): Path<i64>,
    State(app): State<App>,
    CallerKey(key): CallerKey,
    Json(payment): Json<Payment>,
) -> Result<Json<Order>, Problem> {
    let attempt = match start(&app, &user, id, &key, &payment).await? {
        Start::Charge(attempt) => attempt,
        Start::Paid(order) => return Ok(Json(order)),
    };
    match app.provider.charge(&attempt).await? {
        Charged::Succeeded(charge) => confirm(&app, &user, &attempt, &charge).await.map(Json),
        Charged::Declined => {
            decline(&app, &user, &attempt).await?;
            Err(Problem::CardDeclined)
        }
    }
}

/// Begins an attempt, or goes on with the one that is under way.
async fn start(app: &App, user: &User, id: i64, key: &str, payment: &Payment) -> Result<Start, Problem> {
    let mut conn = app.pool.get().await?;
    db::write(&mut conn, async |conn| {
        let order = Order::lock(conn, &user.name, id).await?;
        if order.status == Status::Paying {
            let busy = transition::conflict(&order, "its payment is under way with another key");
            let attempt = Attempt::go_on(conn, order, key, app.lease).await?;
            return attempt.map(Start::Charge).ok_or(busy);
        }
        match transition::fire(conn, order, Event::Pay).await? {
            Transition::Applied(order) => {
                Ok(Start::Charge(Attempt::begin(conn, order, key, payment.card.as_str()).await?))
            }
            Transition::AlreadyApplied(order) => Ok(Start::Paid(order)),
        }
    })
    .await
}

/// Writes down that the provider charged.
async fn confirm(app: &App, user: &User, attempt: &Attempt, charge: &str) -> Result<Order, Problem> {
    let mut conn = app.pool.get().await?;
    db::write(&mut conn, async |conn| {
        let order = Order::lock(conn, &user.name, attempt.order).await?;
        match transition::fire(conn, order, Event::Confirm).await? {
            Transition::Applied(order) if attempt.end(conn).await? => {
                Ok(Order::set_charge(conn, order.id, charge).await?)
            }
            // Another attempt is under way. It cannot be: the provider answers alike to whoever goes on with one.
            Transition::Applied(order) => {
                tracing::error!(order = order.id, charge, "a charge belongs to no attempt");
                Err(transition::conflict(&order, "its payment is another one by now"))
            }
            Transition::AlreadyApplied(order) => Ok(order),
        }
    })
    .await
}

/// Writes down that the provider refused: the order can be paid anew.
async fn decline(app: &App, user: &User, attempt: &Attempt) -> Result<(), Problem> {
    let mut conn = app.pool.get().await?;
    db::write(&mut conn, async |conn| {
        let order = Order::lock(conn, &user.name, attempt.order).await?;
        // Whoever went on with this attempt too may have been faster, and another one may have begun since.
        if attempt.end(conn).await? {
            transition::fire(conn, order, Event::Decline).await?;
        }
        Ok(())
    })
    .await
}

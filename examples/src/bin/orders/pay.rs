//! Paying: a handler that calls another service, and so cannot do all its work in one transaction.
//!
//! Three steps: write down what is about to happen, let it happen, write down what came of it. A step that is recorded
//! is not done again: a crash, or a failure of the provider, leaves the order `paying`, and the next request goes on
//! where that was. No connection is held while the provider is called.

use axum::Json;
use axum::extract::{Path, State};
use examples::db::Db;
use examples::problem::Problem;
use examples::text::Text;
use examples::user::User;
use idempotent_runtime::{Steps, Transition, idempotent};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::attempt::{Attempt, Payer};
use crate::caller_key::CallerKey;
use crate::order::Order;
use crate::provider::Charged;
use crate::status::OrderStatus;

/// The body of a request to pay.
#[derive(Debug, Deserialize)]
pub(crate) struct Payment {
    card: Text,
}

/// What there is to do: the value of the first step.
#[derive(Debug, Serialize, Deserialize)]
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
    CallerKey(caller_key): CallerKey,
    #[steps] steps: &mut Steps<Db>,
    Json(payment): Json<Payment>,
) -> Result<Json<Order>, Problem> {
    let payer = Payer { caller_key, card: payment.card, downstream_key: steps.downstream_key("charge") };
    let begin = async |conn: &mut Db| match Order::lock(conn, &user.name, id).await? {
        order if order.status == OrderStatus::Paying => go_on(conn, order, &payer, &app).await,
        order => start(conn, order, &payer, &user).await,
    };
    let attempt = match steps.tx("start", begin).await? {
        Start::Charge(attempt) => attempt,
        Start::Paid(order) => return Ok(Json(order)),
    };
    // The key that is sent is the attempt's, which is another run's if that began it.
    match steps.run("charge", async |_own_key| app.provider.charge(&attempt).await).await? {
        Charged::Succeeded(charge) => {
            let confirmed = steps.tx("confirm", async |conn| confirm(conn, &user, &attempt, &charge).await);
            Ok(Json(confirmed.await?))
        }
        Charged::Declined => {
            steps.tx("decline", async |conn| decline(conn, &user, &attempt).await).await?;
            Err(Problem::CardDeclined)
        }
    }
}

/// Begins an attempt, unless there is nothing to pay any more.
async fn start(conn: &mut Db, order: Order, payer: &Payer, user: &User) -> Result<Start, Problem> {
    if order.status.is_paid() {
        return Ok(Start::Paid(order));
    }
    match OrderStatus::pay().of(order.id).actor(&user.name).execute(conn).await? {
        Transition::Applied(_) => Ok(Start::Charge(Attempt::begin(conn, order, payer).await?)),
        // It cannot be: the order is locked, and was not `paying`.
        Transition::AlreadyApplied => Err(order.conflict("its payment is under way with another key")),
    }
}

/// Goes on with the attempt that is under way, if it is this caller's or old enough.
async fn go_on(conn: &mut Db, order: Order, payer: &Payer, app: &App) -> Result<Start, Problem> {
    let busy = order.conflict("its payment is under way with another key");
    let attempt = Attempt::go_on(conn, order, payer, app.lease).await?;
    attempt.map(Start::Charge).ok_or(busy)
}

/// Writes down that the provider charged.
async fn confirm(conn: &mut Db, user: &User, attempt: &Attempt, charge: &str) -> Result<Order, Problem> {
    let order = Order::lock(conn, &user.name, attempt.order).await?;
    if order.status.is_paid() {
        return Ok(order);
    }
    let confirmed = OrderStatus::confirm().of(order.id).actor(&user.name).execute(conn).await?;
    if confirmed.is_applied() && attempt.end(conn).await? {
        return Ok(Order::set_charge(conn, order.id, charge).await?);
    }
    // Another attempt is under way. It cannot be: the provider answers alike to whoever goes on with one.
    tracing::error!(order = order.id, charge, "a charge belongs to no attempt");
    Err(order.conflict("its payment is another one by now"))
}

/// Writes down that the provider refused: the order can be paid anew.
async fn decline(conn: &mut Db, user: &User, attempt: &Attempt) -> Result<(), Problem> {
    let order = Order::lock(conn, &user.name, attempt.order).await?;
    // Whoever went on with this attempt too may have been faster, and another one may have begun since.
    if attempt.end(conn).await? {
        let _ = OrderStatus::decline().of(order.id).actor(&user.name).execute(conn).await?;
    }
    Ok(())
}

//! Every shape of a transition.
#![deny(warnings, clippy::all, clippy::pedantic)]

use ui_tests::*;

/// Pays an order.
#[state_transition(machine = OrderStatus, event = pay)]
pub async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<i64>, OrderError> {
    let _ = conn;
    Ok(order.into())
}

#[state_transition(machine = OrderStatus, from = Created | Paid, to = Cancelled, guard = *order > 1 && reason.len() > 3)]
async fn cancel(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[version] seen: i64,
    #[actor] _who: &str,
    #[reason] reason: &String,
    #[metadata] items: Vec<i64>,
) -> Result<Transition<usize>, OrderError> {
    let _ = conn;
    Ok(items.len().into())
}

#[state_transition(machine = OrderStatus, from = any - Created, to = Settled)]
async fn settle<T: AsRef<str> + Sync>(#[tx] conn: &mut Db, #[id] order: &i64, by: T) -> Result<Transition<()>, OrderError> {
    let _ = (conn, by.as_ref());
    Ok(().into())
}

#[state_transition(
    machine = idempotent_runtime::doc::OrderStatus, from = Created, via = Paying, to = Paid,
    reclaim = "1m"
)]
async fn charge(#[tx] conn: &mut Db, #[id] order: i64, #[key] key: String) -> Result<Transition<String>, OrderError> {
    let _ = conn;
    Ok(key.into())
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt;

/// One function is both.
#[idempotent(key = event.id, ttl = "1h")]
#[state_transition(machine = OrderStatus, event = pay)]
async fn on_payment(#[tx] conn: &mut Db, event: &Event, #[id] order: i64) -> Result<Transition<Receipt>, BothErrors> {
    let _ = conn;
    Ok(Receipt.into())
}

#[derive(Debug)]
struct BothErrors;

impl From<Error> for BothErrors {
    fn from(_: Error) -> Self {
        Self
    }
}

impl From<TransitionError> for BothErrors {
    fn from(_: TransitionError) -> Self {
        Self
    }
}

#[derive(StateMachine, Debug, Clone, Copy)]
#[state_machine(
    table = schema::orders, column = status, id = id, initial = Open,
    transitions(judge: Open => Good | Bad)
)]
enum Verdict {
    Open,
    Good,
    Bad,
}

#[state_transition(machine = Verdict, event = judge, outcome = |said| if said.is_empty() { Verdict::Bad } else { Verdict::Good })]
async fn judge(#[tx] conn: &mut Db, #[id] order: i64, said: String) -> Result<Transition<String>, OrderError> {
    let _ = conn;
    Ok(said.into())
}

struct Orders;

impl Orders {
    #[state_transition(machine = OrderStatus, event = pay)]
    async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<Self>, OrderError> {
        let _ = conn;
        Ok(Self.into())
    }
}

fn main() {
    let _ = (pay, cancel, settle::<String>, charge, on_payment, judge, Orders::pay);
}

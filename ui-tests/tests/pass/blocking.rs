//! Functions without `async`, and nothing to complain of.
#![deny(warnings, clippy::all, clippy::pedantic)]

use diesel::SqliteConnection;
use idempotent_runtime::blocking::Steps;
use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d", fingerprint = (event.id.len(), "x"))]
fn consume(#[tx] conn: &mut SqliteConnection, event: &Event) -> Result<Order, Error> {
    let _ = conn;
    Ok(Order { id: 1 })
}

#[idempotent(key = (first, id), ttl = "1h", lease = "5s")]
fn job((first, mut second): (i64, i64), Event { id, .. }: Event) -> Result<i64, Error> {
    second += first;
    Ok(second)
}

#[idempotent(name = "pay", key = order.id, ttl = "72h", arguments = order)]
fn pay(#[steps] steps: &mut Steps<SqliteConnection>, order: &Order) -> Result<String, Error> {
    let id: i64 = steps.tx("start", |_conn| Ok::<_, Error>(order.id))?;
    steps.run("charge", |key| Ok(format!("{key} {id}")))
}

/// A transition by itself, and one under a key.
#[state_transition(machine = OrderStatus, event = pay)]
fn paid(#[tx] conn: &mut SqliteConnection, #[id] order: i64) -> Result<Transition<i64>, OrderError> {
    let _ = conn;
    Ok(order.into())
}

#[idempotent(key = event, ttl = "7d")]
#[state_transition(machine = OrderStatus, event = pay)]
fn on_paid(#[tx] conn: &mut SqliteConnection, #[id] order: i64, event: &str) -> Result<Transition<i64>, Failed> {
    let _ = conn;
    Ok(order.into())
}

struct Failed(String);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl From<TransitionError> for Failed {
    fn from(error: TransitionError) -> Self {
        Self(error.to_string())
    }
}

struct Jobs;

impl Jobs {
    #[idempotent(name = "Jobs::run", key = id, ttl = "1h")]
    fn run(#[tx] _conn: &mut SqliteConnection, id: i64) -> Result<i64, Error> {
        Ok(Self::double(id))
    }

    fn double(id: i64) -> i64 {
        id * 2
    }
}

fn main() {
    let _ = (consume, pay, paid, on_paid, Jobs::run);
    let _ = job;
    println!("{}", Failed::from(Error::KeyMissing).0);
}

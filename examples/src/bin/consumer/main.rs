//! A consumer of payment events that arrive twice, and out of order.
//!
//! `cargo run --bin consumer` plays a sample; `cargo run --bin consumer -- FILE`, or a pipe, brings events of your own,
//! one a line, with a blank line after each batch:
//!
//! ```text
//! {"id":"evt_1","order":1,"type":"placed","amount":2000}
//! {"id":"evt_2","order":1,"type":"paid","amount":2000}
//! ```
//!
//! It answers each event with its outcome, and each batch with what to acknowledge and what to deliver again. Begin to
//! read at `inbox.rs`. `DATABASE_URL` (default: `consumer.db` beside the program) says where to store.

mod event;
mod failures;
mod inbox;
mod order;
mod report;
mod schema;

use std::process::ExitCode;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use examples::db::{self, Pool};
use examples::start::{self, StartError};
use examples::{lines, settings};
use idempotent_runtime::{Error, Idempotency, Scope};

use crate::event::Delivery;
use crate::inbox::{Refused, take};
use crate::report::{Batch, Report};

#[cfg(feature = "sqlite")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/consumer/sqlite");
#[cfg(feature = "postgres")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/consumer/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/consumer/mysql");

/// A duplicate, a refund before its payment, and an event that cannot be.
const SAMPLE: &str = include_str!("sample.jsonl");

#[tokio::main]
async fn main() -> ExitCode {
    start::program("consumer", run()).await
}

async fn run() -> Result<(), StartError> {
    let mut input = lines::input(SAMPLE)?;
    let pool = db::open(&settings::database_url("consumer.db")?).await?;
    let idempotency = Idempotency::builder(pool.clone(), Scope::shared()).build();
    idempotency.migrate().await?;
    idempotency.install()?;
    db::migrate(&pool, MIGRATIONS).await?;
    let _sweeper = idempotency.sweeper();

    let (mut line, mut batch) = (0, Vec::new());
    // Nothing else runs on this thread: it may wait for its input.
    while let Some(text) = lines::next(&mut *input)? {
        line += 1;
        match text.trim().is_empty() {
            true => consume(&pool, std::mem::take(&mut batch)).await?,
            false => batch.push(Delivery { line, text }),
        }
    }
    consume(&pool, batch).await
}

/// Takes in a batch. An event that fails in the middle of it rolls nothing of the others back.
async fn consume(pool: &Pool, deliveries: Vec<Delivery>) -> Result<(), StartError> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let mut batch = Batch::default();
    for delivery in &deliveries {
        let report = receive(pool, delivery).await;
        // Said only now that it is committed: a broker's client acknowledges at this point, and not before.
        lines::print(&report)?;
        batch.add(report);
    }
    lines::print(&batch)
}

/// Takes in one delivery, in a transaction of its own.
async fn receive(pool: &Pool, delivery: &Delivery) -> Report {
    let mut conn = match pool.get().await {
        Ok(conn) => conn,
        Err(error) => return Report::passing(delivery, &Refused::Unreachable(error)),
    };
    let (outcome, reason) = match delivery.event() {
        Err(error) => ("failed", error.to_string()),
        Ok(event) => {
            let mut ran = false;
            match take(&mut conn, &event, &mut ran).await {
                Ok(outcome) => return Report::of(delivery, outcome, !ran),
                Err(refused) if refused.is_passing() => return Report::passing(delivery, &refused),
                Err(refused @ Refused::NotYet(_)) => ("not_yet", refused.to_string()),
                Err(refused @ Refused::Idempotency(Error::KeyReused)) => ("mismatch", refused.to_string()),
                Err(refused) => ("failed", refused.to_string()),
            }
        }
    };
    match failures::count(&mut conn, delivery, &reason).await {
        Ok(deliveries) => Report::failed(delivery, outcome, reason, deliveries),
        // Not counted: it will fail once more.
        Err(error) => Report::passing(delivery, &error.into()),
    }
}

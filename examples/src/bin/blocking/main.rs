//! Payouts, on blocking diesel: a job runner without `async`.
//!
//! `cargo run --bin blocking` plays a sample; `cargo run --bin blocking -- FILE`, or a pipe, brings requests of your own,
//! one a line: `{"id":1,"account":"ann","amount":2000}`. Run it twice: every payout is made once, and answered twice.
//!
//! `DATABASE_URL` (default: `payouts.db` beside the program) says where to store, `BANK` (default: `bank` beside the
//! program) where the bank keeps its transfers, a file each, and `LEASE` (default `30s`) how long a run that has died
//! keeps its payout from others. With `CRASH=transfer` the program dies when the bank has transferred and nobody has
//! written that down: start it again without, and see that the bank does not transfer twice.

mod bank;
mod job;
mod payout;
mod schema;

use std::process::ExitCode;
use std::time::Duration;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use examples::db::blocking::{self as db, Pool};
use examples::start::{self, StartError};
use examples::{lines, settings};
use idempotent_runtime::{Error, Idempotency, Scope, blocking};
use serde::Serialize;

use crate::bank::{Bank, Reply};
use crate::job::{JobError, Runner, accept, send};
use crate::payout::Request;

#[cfg(feature = "sqlite")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/blocking/sqlite");
#[cfg(feature = "postgres")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/blocking/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/blocking/mysql");

/// Two payouts, the first of them once more, and one that the bank refuses.
const SAMPLE: &str = include_str!("sample.jsonl");
/// How long to wait at most before a payout that somebody else has is asked for again.
const REST: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    start::blocking_program("blocking", run)
}

fn run() -> Result<(), StartError> {
    let mut input = lines::input(SAMPLE)?;
    let runner = Runner { bank: Bank::open(settings::bank()?, settings::crash()?)?, lease: settings::lease()? };
    let pool = db::open(&settings::database_url("payouts.db")?)?;
    let idempotency = Idempotency::builder(pool.clone(), Scope::shared()).build();
    idempotency.migrate()?;
    idempotency.install()?;
    db::migrate(&pool, MIGRATIONS)?;
    let _sweeper = idempotency.sweeper();

    // What a crash has left is finished first, without its caller.
    blocking::resume(&idempotency, "payouts.send", |payout| send(payout, &runner))?;

    let mut number = 0;
    while let Some(text) = lines::next(&mut *input)? {
        number += 1;
        if !text.trim().is_empty() {
            lines::print(&answer(number, &text, &pool, &runner))?;
        }
    }
    Ok(())
}

/// A line of the output.
#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Paid {
        id: i64,
        #[serde(flatten)]
        reply: Reply,
    },
    Failed {
        id: i64,
        error: String,
    },
    Unreadable {
        line: usize,
        error: String,
    },
}

fn answer(line: usize, text: &str, pool: &Pool, runner: &Runner) -> Line {
    match serde_json::from_str::<Request>(text) {
        Err(error) => Line::Unreadable { line, error: error.to_string() },
        Ok(request) => match pay(&request, pool, runner) {
            Ok(reply) => Line::Paid { id: request.id, reply },
            Err(error) => Line::Failed { id: request.id, error: error.to_string() },
        },
    }
}

/// Pays out. If another runner is at it, or one has died within its lease, waits and then goes on, or has its reply.
fn pay(request: &Request, pool: &Pool, runner: &Runner) -> Result<Reply, JobError> {
    until_free(|| accept(&mut *pool.get()?, request))?;
    until_free(|| send(request.id, runner))
}

fn until_free<T>(call: impl Fn() -> Result<T, JobError>) -> Result<T, JobError> {
    loop {
        match call() {
            Err(JobError::Idempotency(Error::KeyInUse { retry_after })) => std::thread::sleep(retry_after.min(REST)),
            ended => return ended,
        }
    }
}

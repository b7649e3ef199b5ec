//! The two functions that this program is about. Neither is async; both may be called any number of times.

use std::time::Duration;

use examples::db::blocking::Db;
use idempotent_runtime::blocking::Steps;
use idempotent_runtime::{Error, TransitionError, idempotent};

use crate::bank::{Bank, Reply};
use crate::payout::{Payout, Request};

/// What a run needs.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) bank: Bank,
    pub(crate) lease: Duration,
}

/// Why a payout has not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    #[error(transparent)]
    Idempotency(#[from] Error),
    #[error(transparent)]
    Transition(#[from] TransitionError),
    #[error("the database failed: {0}")]
    Database(#[from] diesel::result::Error),
    #[error("the database gives no connection: {0}")]
    Pool(#[from] diesel::r2d2::PoolError),
    #[error("the bank cannot be reached, repeat the request: {0}")]
    Bank(#[from] std::io::Error),
}

/// Writes down what is asked for. The same number with another account or amount is refused.
#[idempotent(name = "payouts.accept", key = request.id, fingerprint = request, ttl = "forever")]
pub(crate) fn accept(#[tx] conn: &mut Db, request: &Request) -> Result<(), JobError> {
    Payout::insert(conn, request)
}

/// Pays out: written down before, sent, written down after. The bank is sent the same key in every attempt, and the
/// number is kept with the claim, so that a run which has died can be finished without its caller.
#[idempotent(name = "payouts.send", key = number, ttl = "forever", lease = runner.lease, arguments = number)]
pub(crate) fn send(#[steps] steps: &mut Steps<Db>, number: i64, runner: &Runner) -> Result<Reply, JobError> {
    let payout = steps.tx("begin", |conn| Payout::begin(conn, number))?;
    // Recorded once it has answered. If this program dies before that, the next one asks again.
    let reply = steps.run("transfer", |key| Ok::<_, JobError>(runner.bank.transfer(&key, &payout)?))?;
    steps.tx("end", |conn| Payout::end(conn, number, &reply))?;
    Ok(reply)
}

//! The inbox: each event once, however often and in whatever order it is delivered.

use diesel::result::{DatabaseErrorKind, Error as DatabaseError};
use diesel_async::pooled_connection::deadpool::PoolError;
use examples::db::{self, Db};
use idempotent_runtime::{Error, StateMachine as _, TransitionError, idempotent};
use serde::{Deserialize, Serialize};

use crate::event::{Event, Kind, failure_key};
use crate::failures;
use crate::order::{self, OrderStatus};

/// What an event has come to. Stored, and what every further delivery is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It has moved its order, and was booked.
    Applied,
    /// Its order was there already, or has moved on: there is nothing left to do.
    Late,
}

/// Why an event has come to nothing yet. What it wrote is rolled back, and another delivery of it runs again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// What must come first has not arrived.
    #[error("{0}")]
    NotYet(String),
    /// It says what cannot be.
    #[error("{0}")]
    Rule(String),
    #[error(transparent)]
    Transition(#[from] TransitionError),
    #[error(transparent)]
    Idempotency(#[from] Error),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the database is not available: {0}")]
    Unreachable(#[from] PoolError),
}

impl Refused {
    /// Whether it is nobody's fault, and another delivery may succeed: another consumer was met, or the database is away.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Transition(TransitionError::Database(error)) | Self::Database(error) => {
                // Two events place one order at once: the other one was faster.
                let overtaken = matches!(error, DatabaseError::DatabaseError(DatabaseErrorKind::UniqueViolation, _));
                overtaken || db::is_passing(error)
            }
            Self::Transition(error) => error.is_retryable(),
            Self::Idempotency(error) => error.is_retryable(),
            Self::Unreachable(_) => true,
            Self::NotYet(_) | Self::Rule(_) => false,
        }
    }
}

/// Takes an event in: its claim, what it does and its outcome are one transaction, and its own. `ran` says afterwards
/// whether it ran now, or the outcome is that of an earlier delivery.
///
/// The producer's id is the key, and what the event says its fingerprint: another event by the same id is refused. The
/// outcome is kept for longer than any broker here delivers again.
#[idempotent(name = "consumer.take", key = event.id.as_str(), fingerprint = event, ttl = "30d")]
pub(crate) async fn take(#[tx] conn: &mut Db, event: &Event, ran: &mut bool) -> Result<Outcome, Refused> {
    *ran = true;
    failures::forget(conn, &failure_key(event.id.as_str())).await?;
    let (step, booked) = match event.kind {
        Kind::Placed => return place(conn, event).await,
        Kind::Paid => (OrderStatus::pay(), event.amount.units()),
        Kind::Refunded => (OrderStatus::refund(), -event.amount.units()),
    };
    match step.of(event.order).reason(event.id.as_str()).execute(conn).await {
        Ok(moved) if moved.is_applied() => {}
        Ok(_) | Err(TransitionError::Conflict { passed: true, .. }) => return Ok(Outcome::Late),
        Err(TransitionError::Conflict { actual, event: step, .. }) => {
            return Err(Refused::NotYet(format!("order {} is `{actual}`, and cannot `{step}` yet", event.order)));
        }
        Err(TransitionError::NotFound { .. }) => {
            return Err(Refused::NotYet(format!("there is no order {} yet", event.order)));
        }
        Err(error) => return Err(error.into()),
    }
    let amount = order::amount(conn, event.order).await?;
    if amount != Some(event.amount.units()) {
        // The order has moved, and moves back: all of this is one transaction.
        let due = amount.unwrap_or_default();
        return Err(Refused::Rule(format!("order {} is about {due}, and not {}", event.order, event.amount.units())));
    }
    order::book(conn, event, booked).await?;
    Ok(Outcome::Applied)
}

async fn place(conn: &mut Db, event: &Event) -> Result<Outcome, Refused> {
    if order::amount(conn, event.order).await?.is_some() {
        return Ok(Outcome::Late);
    }
    order::insert(conn, event).await?;
    OrderStatus::Placed.born(event.order).execute(conn).await?;
    Ok(Outcome::Applied)
}

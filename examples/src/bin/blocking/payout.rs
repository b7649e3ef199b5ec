//! A payout, and the graph along which it moves.

use diesel::prelude::*;
use examples::db::blocking::Db;
use examples::money::Amount;
use examples::text::Text;
use idempotent_runtime::{StateMachine, Transition, state_transition};
use serde::{Deserialize, Serialize};

use crate::bank::Reply;
use crate::job::JobError;
use crate::schema::payouts;

/// Where a payout can be.
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = crate::schema::payouts, column = status, id = id,
    history = crate::schema::payout_history, history_id = payout_id,
    initial = Requested,
    transitions(
        begin:  Requested => Sending,
        settle: Sending => Sent,
        reject: Sending => Rejected,
    )
)]
pub(crate) enum PayoutStatus {
    Requested,
    Sending,
    Sent,
    Rejected,
}

/// A line of the input. The number is the caller's, and names the payout.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: i64,
    account: Text,
    amount: Amount,
}

/// What is to be paid, and to whom. Runs remember it as the value of a step.
#[derive(Debug, Serialize, Deserialize, Queryable, Selectable)]
pub(crate) struct Payout {
    pub(crate) account: String,
    pub(crate) amount: i64,
}

impl Payout {
    pub(crate) fn insert(conn: &mut Db, request: &Request) -> Result<(), JobError> {
        let row = (
            payouts::id.eq(request.id),
            payouts::account.eq(request.account.as_str()),
            payouts::amount.eq(request.amount.units()),
            payouts::status.eq(PayoutStatus::Requested),
        );
        diesel::insert_into(payouts::table).values(row).execute(conn)?;
        Ok(PayoutStatus::Requested.born(request.id).execute(conn)?)
    }

    /// Begins to pay.
    pub(crate) fn begin(conn: &mut Db, id: i64) -> Result<Self, JobError> {
        let _ = PayoutStatus::begin().of(id).execute(conn)?;
        Ok(payouts::table.find(id).select(Self::as_select()).first(conn)?)
    }

    /// Writes down what the bank said.
    pub(crate) fn end(conn: &mut Db, id: i64, reply: &Reply) -> Result<(), JobError> {
        match reply {
            Reply::Sent { transfer } => {
                let _ = settle(conn, id, transfer)?;
            }
            Reply::Rejected { reason } => {
                let _ = PayoutStatus::reject().of(id).reason(reason.as_str()).execute(conn)?;
            }
        }
        Ok(())
    }
}

/// Settles a payout, and keeps the number of the transfer: both, or neither.
#[state_transition(machine = PayoutStatus, event = settle)]
fn settle(#[tx] conn: &mut Db, #[id] id: i64, transfer: &str) -> Result<Transition<()>, JobError> {
    diesel::update(payouts::table.find(id)).set(payouts::transfer.eq(transfer)).execute(conn)?;
    Ok(().into())
}

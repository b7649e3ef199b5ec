//! A charge.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use serde::Serialize;
use uuid::Uuid;

use super::new_charge::NewCharge;
use super::schema::charges;
use crate::db::Db;

/// A charge, as its account sees it.
#[derive(Debug, Serialize)]
pub(super) struct Charge {
    id: String,
    amount: i64,
    status: &'static str,
}

impl Charge {
    /// Writes a charge.
    pub(super) async fn insert(conn: &mut Db, account: &str, new: &NewCharge) -> QueryResult<Self> {
        let charge = Self::succeeded((format!("ch_{}", Uuid::new_v4().simple()), new.amount.units()));
        let row = (
            charges::id.eq(&charge.id),
            charges::account.eq(account),
            charges::amount.eq(charge.amount),
            charges::currency.eq(new.currency.code()),
        );
        diesel::insert_into(charges::table).values(row).execute(conn).await?;
        Ok(charge)
    }

    /// The charges of an account, newest first.
    pub(super) async fn list(conn: &mut Db, account: &str) -> QueryResult<Vec<Self>> {
        let rows = charges::table
            .filter(charges::account.eq(account))
            .order(charges::number.desc())
            .select((charges::id, charges::amount))
            .load(conn)
            .await?;
        Ok(rows.into_iter().map(Self::succeeded).collect())
    }

    /// Only charges that succeeded are kept.
    fn succeeded((id, amount): (String, i64)) -> Self {
        Self { id, amount, status: "succeeded" }
    }
}

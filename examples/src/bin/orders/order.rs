//! An order.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::{self, Db};
use examples::money::{Amount, Currency};
use examples::problem::Problem;
use examples::text::Text;
use idempotent_runtime::{Current, EventOf, StateMachine, TransitionError};
use serde::{Deserialize, Serialize};

use crate::schema::orders;
use crate::status::OrderStatus;

/// An order, as its owner sees it and as runs remember it.
#[derive(Debug, Serialize, Deserialize, Queryable, Selectable)]
#[diesel(table_name = orders)]
pub(crate) struct Order {
    pub(crate) id: i64,
    pub(crate) item: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    /// Read here, and written by transitions alone.
    pub(crate) status: Current<OrderStatus>,
    pub(crate) charge: Option<String>,
}

/// The body of a request to order.
#[derive(Debug, Deserialize)]
pub(crate) struct NewOrder {
    item: Text,
    amount: Amount,
    currency: Currency,
}

impl Order {
    /// Writes a new order, and its birth into its history.
    pub(crate) async fn insert(conn: &mut Db, owner: &str, new: &NewOrder) -> Result<Self, Problem> {
        let row = (
            orders::owner.eq(owner),
            orders::item.eq(new.item.as_str()),
            orders::amount.eq(new.amount.units()),
            orders::currency.eq(new.currency.code()),
            orders::status.eq(OrderStatus::Created),
        );
        diesel::insert_into(orders::table).values(row).execute(conn).await?;
        let id = db::last_id(conn).await?;
        OrderStatus::Created.born(id).actor(owner).execute(conn).await?;
        Self::find(conn, owner, id).await
    }

    /// Reads an order of this owner.
    pub(crate) async fn find(conn: &mut Db, owner: &str, id: i64) -> Result<Self, Problem> {
        let own = orders::table.filter(orders::id.eq(id)).filter(orders::owner.eq(owner));
        own.select(Self::as_select()).first(conn).await.optional()?.ok_or(Problem::NotFound)
    }

    /// Reads an order of this owner and keeps it from changing until the transaction of `conn` ends.
    pub(crate) async fn lock(conn: &mut Db, owner: &str, id: i64) -> Result<Self, Problem> {
        let own = orders::table.filter(orders::id.eq(id)).filter(orders::owner.eq(owner));
        let query = own.select(Self::as_select());
        // SQLite needs no lock: while a transaction writes there, no other one does.
        #[cfg(not(feature = "sqlite"))]
        let query = query.for_update();
        query.first(conn).await.optional()?.ok_or(Problem::NotFound)
    }

    /// Moves an order of this owner, unless it is there, or has been there and has moved on.
    pub(crate) async fn fire(
        conn: &mut Db,
        owner: &str,
        id: i64,
        event: EventOf<OrderStatus>,
    ) -> Result<Self, Problem> {
        Self::find(conn, owner, id).await?;
        match event.of(id).actor(owner).execute(conn).await {
            Ok(_) | Err(TransitionError::Conflict { passed: true, .. }) => Self::find(conn, owner, id).await,
            Err(error) => Err(error.into()),
        }
    }

    /// The answer to a request that the order's state does not permit, by a rule that is no edge of its machine.
    pub(crate) fn conflict(&self, rule: &str) -> Problem {
        let allowed = self.status.allowed_from();
        let possible = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
        let message = format!("order {} is `{}`; {rule}; possible now: {possible}", self.id, self.status);
        Problem::StateConflict { current: self.status.to_string(), allowed: allowed.into(), message }
    }

    /// The orders of this owner, newest first.
    pub(crate) async fn list(conn: &mut Db, owner: &str) -> QueryResult<Vec<Self>> {
        let own = orders::table.filter(orders::owner.eq(owner));
        own.order(orders::id.desc()).select(Self::as_select()).load(conn).await
    }

    /// Replaces what is ordered.
    pub(crate) async fn replace_item(conn: &mut Db, owner: &str, id: i64, item: &Text) -> Result<Self, Problem> {
        let order = Self::lock(conn, owner, id).await?;
        // By the id alone: MySQL would lock the index of the owners first, and meet whoever deletes the order.
        diesel::update(orders::table.find(id)).set(orders::item.eq(item.as_str())).execute(conn).await?;
        Ok(Self { item: item.as_str().to_owned(), ..order })
    }

    /// Writes down what was charged for an order.
    pub(crate) async fn set_charge(conn: &mut Db, id: i64, charge: &str) -> QueryResult<Self> {
        diesel::update(orders::table.find(id)).set(orders::charge.eq(charge)).execute(conn).await?;
        orders::table.find(id).select(Self::as_select()).first(conn).await
    }

    /// Deletes this order, and with it its history; says how many orders went.
    pub(crate) async fn delete(self, conn: &mut Db) -> QueryResult<usize> {
        diesel::delete(orders::table.find(self.id)).execute(conn).await
    }
}

//! An order.

use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::{Form, Json};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::{self, Db};
use examples::money::{Amount, Currency};
use examples::problem::Problem;
use examples::text::Text;
use idempotent_runtime::{Current, EventOf, StateMachine, TransitionError};
use serde::{Deserialize, Serialize};

use crate::schema::checkout_orders as orders;
use crate::status::OrderStatus;

/// An order, as its owner sees it.
#[derive(Debug, Serialize, Queryable, Selectable)]
#[diesel(table_name = orders)]
pub(crate) struct Order {
    pub(crate) id: i64,
    pub(crate) item: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    /// Read here, and written by transitions alone.
    pub(crate) status: Current<OrderStatus>,
}

/// The body of a request to order: a form, whose other fields are for others, or JSON.
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
    async fn find(conn: &mut Db, owner: &str, id: i64) -> Result<Self, Problem> {
        let own = orders::table.filter(orders::id.eq(id)).filter(orders::owner.eq(owner));
        own.select(Self::as_select()).first(conn).await.optional()?.ok_or(Problem::NotFound)
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

    /// The latest orders of this owner, newest first.
    pub(crate) async fn list(conn: &mut Db, owner: &str, most: i64) -> QueryResult<Vec<Self>> {
        let own = orders::table.filter(orders::owner.eq(owner));
        own.order(orders::id.desc()).limit(most).select(Self::as_select()).load(conn).await
    }

    /// `20.00 USD`
    pub(crate) fn price(&self) -> String {
        format!("{}.{:02} {}", self.amount / 100, self.amount % 100, self.currency.to_uppercase())
    }
}

impl<S: Send + Sync> FromRequest<S> for NewOrder {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")) {
            return Ok(Form::<Self>::from_request(request, state).await?.0);
        }
        Ok(Json::<Self>::from_request(request, state).await?.0)
    }
}

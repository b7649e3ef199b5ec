//! A payment that is under way, from the moment an order begins to be `paying` until it is paid or declined.
//!
//! It is written down before the provider is called, together with the key to send there: that of the run which began
//! it. Whoever goes on with it, after a crash or a failure of the provider, sends the same key again, and not one of its
//! own, so that the provider charges once.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use examples::db::{CLOCK, Db};
use examples::text::Text;
use serde::{Deserialize, Serialize};

use crate::order::Order;
use crate::schema::payment_attempts as attempts;

/// Who wants to pay, with what, and the key that this run would send to the provider.
#[derive(Debug)]
pub(crate) struct Payer {
    pub(crate) caller_key: String,
    pub(crate) card: Text,
    pub(crate) downstream_key: String,
}

/// What is to be charged, and under which key. Runs remember it as the value of a step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) order: i64,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) card: String,
    pub(crate) downstream_key: String,
}

impl Attempt {
    /// Begins to pay an order.
    pub(crate) async fn begin(conn: &mut Db, order: Order, payer: &Payer) -> QueryResult<Self> {
        let Payer { caller_key, card, downstream_key } = payer;
        let row = (
            attempts::order_id.eq(order.id),
            attempts::downstream_key.eq(downstream_key),
            attempts::caller_key.eq(caller_key),
            attempts::card.eq(card.as_str()),
        );
        diesel::insert_into(attempts::table).values(row).execute(conn).await?;
        Ok(Self::of(order, card.as_str().to_owned(), downstream_key.clone()))
    }

    /// Goes on with the attempt to pay an order, with the card and the key that it began with. `None` if another caller
    /// began it or went on with it within `lease`. The order is locked: nobody else goes on meanwhile.
    pub(crate) async fn go_on(
        conn: &mut Db,
        order: Order,
        Payer { caller_key, .. }: &Payer,
        lease: Duration,
    ) -> QueryResult<Option<Self>> {
        let lease = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        let lapsed = attempts::started_at.le(sql::<BigInt>(CLOCK).sql(" - ").bind::<BigInt, _>(lease));
        let ours = attempts::table
            .filter(attempts::order_id.eq(order.id))
            .filter(attempts::caller_key.eq(caller_key).or(lapsed));
        let found = ours.select((attempts::card, attempts::downstream_key)).first::<(String, String)>(conn).await;
        let Some((card, downstream_key)) = found.optional()? else { return Ok(None) };
        diesel::update(attempts::table.find(order.id))
            .set((attempts::caller_key.eq(caller_key), attempts::started_at.eq(sql::<BigInt>(CLOCK))))
            .execute(conn)
            .await?;
        Ok(Some(Self::of(order, card, downstream_key)))
    }

    /// Ends the attempt; false if it has ended already. A later attempt is left alone.
    pub(crate) async fn end(&self, conn: &mut Db) -> QueryResult<bool> {
        let own = attempts::table
            .filter(attempts::order_id.eq(self.order))
            .filter(attempts::downstream_key.eq(&self.downstream_key));
        Ok(diesel::delete(own).execute(conn).await? == 1)
    }

    fn of(order: Order, card: String, downstream_key: String) -> Self {
        Self { order: order.id, amount: order.amount, currency: order.currency, card, downstream_key }
    }
}

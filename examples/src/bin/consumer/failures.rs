//! How often an event has failed, and where it goes in the end. Counted in the database: deliveries go to any consumer,
//! and not every broker counts them.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;
use idempotent_runtime::transaction;

use crate::event::Delivery;
use crate::schema::{inbox_dead_letters as dead_letters, inbox_failures as failures};

/// With this many failed deliveries an event is dead. Times the broker's pause between two deliveries, that is also how
/// long an event waits for the one that must come first.
pub(crate) const MAX_DELIVERIES: i64 = 5;

/// Counts a delivery that failed, and says how many there were. The last one puts the event among the dead letters, in
/// the same transaction: then it may be acknowledged, and waits for somebody who looks at it.
pub(crate) async fn count(conn: &mut Db, delivery: &Delivery, reason: &str) -> QueryResult<i64> {
    let key = delivery.failure_key();
    transaction(conn, async move |conn| {
        let counted = diesel::update(failures::table.find(&key)).set(failures::deliveries.eq(failures::deliveries + 1));
        if counted.execute(conn).await? == 0 {
            let first = (failures::event.eq(&key), failures::deliveries.eq(1));
            diesel::insert_into(failures::table).values(first).execute(conn).await?;
        }
        // Its row is locked until the end: no other consumer counts this event meanwhile.
        let deliveries = failures::table.find(&key).select(failures::deliveries).first(conn).await?;
        if deliveries >= MAX_DELIVERIES {
            bury(conn, &key, delivery, reason).await?;
        }
        Ok(deliveries)
    })
    .await
}

async fn bury(conn: &mut Db, key: &str, delivery: &Delivery, reason: &str) -> QueryResult<()> {
    let buried = dead_letters::table.find(key).count().get_result::<i64>(conn).await?;
    if buried == 0 {
        // Not every database stores a zero character.
        let text = delivery.text.replace('\0', "\u{fffd}");
        let letter = (dead_letters::event.eq(key), dead_letters::text.eq(text), dead_letters::reason.eq(reason));
        diesel::insert_into(dead_letters::table).values(letter).execute(conn).await?;
    }
    Ok(())
}

/// Forgets the failures of an event that succeeds now, in the transaction in which it does.
pub(crate) async fn forget(conn: &mut Db, key: &str) -> QueryResult<()> {
    if diesel::delete(failures::table.find(key)).execute(conn).await? > 0 {
        diesel::delete(dead_letters::table.find(key)).execute(conn).await?;
    }
    Ok(())
}

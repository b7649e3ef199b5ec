//! Transitions of a row, with history, against the same two statements by hand.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};
use idempotent_runtime::{StateMachine, Transition};

use super::database::{Db, NOW, SERIAL};

mod schema {
    diesel::table! {
        lights (id) {
            id -> BigInt,
            status -> Text,
        }
    }
    diesel::table! {
        light_history (id) {
            id -> BigInt,
            row_id -> BigInt,
            event -> Text,
            source -> Nullable<Text>,
            target -> Text,
            actor -> Nullable<Text>,
            reason -> Nullable<Text>,
            metadata -> Nullable<Text>,
            at -> BigInt,
        }
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = schema::lights, column = status, id = id, history = schema::light_history,
    initial = Red,
    transitions(go: Red => Green, stop: Green => Red, switch: Red | Green => Amber, rest: Amber => Red)
)]
enum Light {
    Red,
    Green,
    Amber,
}

/// Makes the tables, with a light for each number up to `lights`.
pub(crate) async fn make(pool: &Pool<Db>, lights: usize) {
    let mut conn = pool.get().await.expect("a connection");
    let create = format!(
        "CREATE TABLE lights (id {SERIAL}, status TEXT NOT NULL); \
         CREATE TABLE light_history (id {SERIAL}, row_id BIGINT NOT NULL, event TEXT NOT NULL, source TEXT, \
         target TEXT NOT NULL, actor TEXT, reason TEXT, metadata TEXT, at BIGINT NOT NULL);"
    );
    conn.batch_execute(&create).await.expect("the tables can be made");
    for _ in 0..lights {
        let row = schema::lights::status.eq("red");
        diesel::insert_into(schema::lights::table).values(row).execute(&mut *conn).await.expect("a row");
    }
}

/// To green and back, by transitions.
pub(crate) async fn moved(pool: &Pool<Db>, id: i64) {
    for event in [Light::go(), Light::stop()] {
        let mut conn = pool.get().await.expect("a connection");
        let moved = event.of(id).execute(&mut *conn).await.expect("a transition");
        assert!(matches!(moved, Transition::Applied(_)));
    }
}

/// To amber, which may be reached from two states, and back, by transitions.
pub(crate) async fn moved_from_either(pool: &Pool<Db>, id: i64) {
    for event in [Light::switch(), Light::rest()] {
        let mut conn = pool.get().await.expect("a connection");
        let moved = event.of(id).execute(&mut *conn).await.expect("a transition");
        assert!(matches!(moved, Transition::Applied(_)));
    }
}

/// To green and back, by an UPDATE and an INSERT in a transaction.
pub(crate) async fn moved_by_hand(pool: &Pool<Db>, id: i64) {
    use schema::{light_history as history, lights};
    for (event, from, to) in [("go", "red", "green"), ("stop", "green", "red")] {
        let mut conn = pool.get().await.expect("a connection");
        let moved = conn.transaction(async |conn| {
            let row = lights::table.filter(lights::id.eq(id)).filter(lights::status.eq(from));
            if diesel::update(row).set(lights::status.eq(to)).execute(conn).await? != 1 {
                return Err(diesel::result::Error::NotFound);
            }
            let line = (
                history::row_id.eq(id),
                history::event.eq(event),
                history::source.eq(from),
                history::target.eq(to),
                history::at.eq(diesel::dsl::sql::<BigInt>(NOW)),
            );
            diesel::insert_into(history::table).values(line).execute(conn).await
        });
        assert_eq!(moved.await.expect("a transaction"), 1);
    }
}

//! State machines: a table of rows with a state, its history, and what is written besides.

pub(crate) mod bodies;
mod composed;
mod effects;
mod lines;
mod many;
mod outcomes;
mod races;
mod stored;
mod via;

use std::sync::Arc;

use diesel::prelude::*;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use idempotent_runtime::{Moved, StateMachine, Transition, TransitionError};

use super::database::{Database, Db, NOW, SERIAL};
use schema::{history, orders};

pub(crate) mod schema {
    diesel::table! {
        orders (id) {
            id -> BigInt,
            status -> Nullable<Text>,
            version -> BigInt,
            entered_at -> BigInt,
            charge_key -> Nullable<Text>,
            reception -> Nullable<Text>,
            amount -> BigInt,
        }
    }
    diesel::table! {
        history (id) {
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

/// The whole of a row, for guards.
#[derive(Debug, QueryableByName)]
#[diesel(table_name = orders)]
pub(crate) struct Row {
    pub(crate) amount: i64,
}

impl Row {
    pub(crate) fn is_large(&self) -> bool {
        self.amount > 100
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = schema::orders, column = status, id = id, history = schema::history,
    version = version, entered = entered_at, key = charge_key, row = Row,
    initial = Created,
    expires(after = "30m", to = Expired, from = Created | Paying),
    transitions(
        pay: Created => Paid,
        begin: Created => Paying,
        confirm: Paying => Paid,
        decline: Paying => Created,
        cancel: Created | Paid => Cancelled,
        settle: Paid => Settled,
        notify: Settled => Notified,
        reopen: Cancelled => Created,
        touch: Paid => Paid,
        approve: { Settled => Large if Row::is_large, Settled => Small },
        judge: Notified => Small | Large,
        enlarge: Small => Large,
        hold: Notified => Held if Row::is_large,
        free: Held => Small,
        expire: Created | Paying => Expired,
    )
)]
pub(crate) enum Status {
    Created,
    Paying,
    #[state(alias = "payed")]
    Paid,
    Cancelled,
    Settled,
    Notified,
    Large,
    Small,
    Expired,
    Held,
}

/// A line of the history.
pub(crate) type Line = (String, Option<String>, String);

/// A database with the tables.
pub(crate) struct Bench {
    pub(crate) pool: Pool<Db>,
    // Dropped last: the connections of the pool are in it.
    #[allow(dead_code, reason = "it goes with the test")]
    pub(crate) database: Arc<Database>,
}

impl Bench {
    /// Empty tables; `None` if there is no server.
    pub(crate) async fn new() -> Option<Self> {
        Self::with(8).await
    }

    /// Empty tables, and a pool of so many connections.
    pub(crate) async fn with(size: usize) -> Option<Self> {
        let database = Arc::new(Database::fresh().await?);
        let pool = database.pool(size);
        Some(Self::over(database, pool).await)
    }

    /// Empty tables in an empty database.
    pub(crate) async fn over(database: Arc<Database>, pool: Pool<Db>) -> Self {
        let bench = Self { pool, database };
        bench
            .run(&format!(
                "CREATE TABLE orders (id {SERIAL}, status TEXT, version BIGINT NOT NULL DEFAULT 0, \
                 entered_at BIGINT NOT NULL DEFAULT 0, charge_key TEXT, reception TEXT, amount BIGINT NOT NULL DEFAULT 0); \
                 CREATE TABLE history (id {SERIAL}, row_id BIGINT NOT NULL, event TEXT NOT NULL, source TEXT, \
                 target TEXT NOT NULL, actor TEXT, reason TEXT, metadata TEXT, at BIGINT NOT NULL); \
                 CREATE TABLE effects (id {SERIAL}, what TEXT NOT NULL);"
            ))
            .await;
        bench
    }

    pub(crate) async fn conn(&self) -> diesel_async::pooled_connection::deadpool::Object<Db> {
        self.pool.get().await.unwrap()
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.conn().await.batch_execute(sql).await.unwrap();
    }

    /// A row in a state.
    pub(crate) async fn row(&self, status: &str) -> i64 {
        insert(&mut *self.conn().await, Some(status)).await.unwrap()
    }

    /// A row in a state, since so many milliseconds.
    pub(crate) async fn aged(&self, status: &str, millis: i64) -> i64 {
        let id = self.row(status).await;
        self.run(&format!("UPDATE orders SET entered_at = {NOW} - {millis} WHERE id = {id}")).await;
        id
    }

    pub(crate) async fn status(&self, id: i64) -> Option<String> {
        orders::table.find(id).select(orders::status).first(&mut *self.conn().await).await.unwrap()
    }

    pub(crate) async fn version(&self, id: i64) -> i64 {
        orders::table.find(id).select(orders::version).first(&mut *self.conn().await).await.unwrap()
    }

    /// The history of a row: event, source, target.
    pub(crate) async fn story(&self, id: i64) -> Vec<Line> {
        let lines = history::table.filter(history::row_id.eq(id)).order(history::id);
        lines.select((history::event, history::source, history::target)).load(&mut *self.conn().await).await.unwrap()
    }

    pub(crate) async fn effects(&self) -> i64 {
        #[derive(QueryableByName)]
        struct Count {
            #[diesel(sql_type = diesel::sql_types::BigInt)]
            count: i64,
        }
        let count = diesel::sql_query("SELECT COUNT(*) AS count FROM effects");
        count.get_result::<Count>(&mut *self.conn().await).await.unwrap().count
    }
}

pub(crate) async fn insert(conn: &mut Db, status: Option<&str>) -> QueryResult<i64> {
    let row = (orders::status.eq(status), orders::version.eq(0), orders::entered_at.eq(0), orders::amount.eq(0));
    super::database::inserted!(conn, orders::table, row, orders::id).await
}

/// Something that a body writes.
pub(crate) async fn effect(conn: &mut Db, what: &str) -> QueryResult<()> {
    diesel::sql_query("INSERT INTO effects (what) VALUES ('x')").execute(conn).await?;
    let _ = what;
    Ok(())
}

/// Whose SQL this database speaks.
pub(crate) fn database_of() -> idempotent_runtime::Database {
    use idempotent_runtime::Database;
    match super::database::NAME {
        "sqlite" => Database::Sqlite,
        "mysql" => Database::Mysql,
        _ => Database::Postgres,
    }
}

pub(crate) fn line(event: &str, from: &str, to: &str) -> Line {
    (event.to_owned(), Some(from.to_owned()), to.to_owned())
}

/// What a machine's own event gives.
pub(crate) type Fired = Result<Transition<Moved<Status>>, TransitionError>;

#[tokio::test]
async fn every_event_at_every_state_does_what_the_graph_says() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let insert = async |conn: &mut Db, status: Status| insert(conn, Some(status.name())).await;
    let proof = idempotent_runtime::testkit::prove::<Status, _, _>(conn, insert).await;
    assert_eq!(proof.pairs, 10 * 15 + 1);
    assert_eq!(proof.applied, 17);
}

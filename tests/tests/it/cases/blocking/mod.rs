//! Functions without `async`, on connections of blocking diesel: the same protocol, and the same machines.

mod leased;
mod machines;
mod steps;
mod transactional;

use std::sync::{Arc, Barrier};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool, PooledConnection};
use idempotent_runtime::{Builder, Error, Idempotency, Scope};

use super::database::{Blocking, Database, NOW, SERIAL, blocking_pool, spelled};

#[derive(Debug, thiserror::Error)]
pub(super) enum JobError {
    #[error("idempotency: {0}")]
    Idempotency(#[from] Error),
    #[error("database: {0}")]
    Database(#[from] diesel::result::Error),
    #[error("transition: {0}")]
    Transition(#[from] idempotent_runtime::TransitionError),
    #[error("effect: {0}")]
    Effect(#[from] idempotent_runtime::EffectError),
    #[error("refused")]
    Refused,
}

impl JobError {
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Idempotency(error) => error.code(),
            Self::Database(_) => "database",
            Self::Transition(error) => error.code(),
            Self::Effect(_) => "effect",
            Self::Refused => "refused",
        }
    }
}

/// An engine of blocking connections over a database of its own.
pub(super) struct Bench {
    pub(super) engine: Idempotency<Blocking>,
    pub(super) pool: Pool<ConnectionManager<Blocking>>,
    // Dropped last: the connections of the pool are in it.
    #[allow(dead_code, reason = "it goes with the test")]
    database: Arc<Database>,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct What {
    #[diesel(sql_type = diesel::sql_types::Text)]
    what: String,
}

impl Bench {
    /// Empty tables; `None` if there is no server.
    pub(super) fn new() -> Option<Self> {
        Self::with(16, |builder| builder)
    }

    /// Empty tables, and a pool of so many connections.
    pub(super) fn with(size: u32, build: impl FnOnce(Builder<Blocking>) -> Builder<Blocking>) -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let database = Arc::new(runtime.block_on(Database::fresh())?);
        let pool = blocking_pool(&database.location(), size);
        let engine = build(Idempotency::builder(pool.clone(), Scope::shared())).build();
        engine.migrate().unwrap();
        let bench = Self { engine, pool, database };
        bench.run(&format!(
            "CREATE TABLE orders (id {SERIAL}, status TEXT, version BIGINT NOT NULL DEFAULT 0, \
             entered_at BIGINT NOT NULL DEFAULT 0, charge_key TEXT, reception TEXT, amount BIGINT NOT NULL DEFAULT 0); \
             CREATE TABLE history (id {SERIAL}, row_id BIGINT NOT NULL, event TEXT NOT NULL, source TEXT, \
             target TEXT NOT NULL, actor TEXT, reason TEXT, metadata TEXT, at BIGINT NOT NULL); \
             CREATE TABLE effects (id {SERIAL}, what TEXT NOT NULL);"
        ));
        Some(bench)
    }

    pub(super) fn conn(&self) -> PooledConnection<ConnectionManager<Blocking>> {
        self.pool.get().unwrap()
    }

    pub(super) fn run(&self, sql: &str) {
        self.conn().batch_execute(&spelled(sql)).unwrap();
    }

    pub(super) fn effects(&self) -> Vec<String> {
        let rows = diesel::sql_query("SELECT what FROM effects ORDER BY id").load::<What>(&mut self.conn()).unwrap();
        rows.into_iter().map(|row| row.what).collect()
    }

    pub(super) fn count(&self, of: &str) -> i64 {
        let count = diesel::sql_query(format!("SELECT COUNT(*) AS count FROM {of}"));
        count.get_result::<Count>(&mut self.conn()).unwrap().count
    }
}

/// Something that a body writes.
pub(super) fn insert(conn: &mut Blocking, what: &str) {
    diesel::sql_query(format!("INSERT INTO effects (what) VALUES ('{what}')")).execute(conn).unwrap();
}

/// What came of calls that began at once, one in each thread.
pub(super) fn at_once<R: Send>(threads: usize, call: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..threads)
            .map(|n| {
                let (barrier, call) = (&barrier, &call);
                scope.spawn(move || {
                    barrier.wait();
                    call(n)
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

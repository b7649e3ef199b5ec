//! Blocking diesel: functions without `async`, on `PgConnection`, `MysqlConnection` and `SqliteConnection`.
//!
//! [`#[idempotent]`](macro@crate::idempotent) and [`#[state_transition]`](macro@crate::state_transition) go on them as
//! they go on async functions, with the same arguments, the same records and the same promises. What is awaited
//! elsewhere returns here when it is done: `OrderStatus::pay().of(42).execute(conn)?`, `engine.sweep()?`.
//!
//! ```
//! # #[cfg(feature = "sqlite")] mod example {
//! use diesel::SqliteConnection; // or PgConnection, MysqlConnection
//! use diesel::r2d2::{ConnectionManager, Pool};
//! use idempotent_runtime::{Error, Idempotency, Scope, idempotent};
//! # struct Job { id: String }
//!
//! #[idempotent(key = job.id, ttl = "7d")]
//! fn run_job(#[tx] conn: &mut SqliteConnection, job: &Job) -> Result<u64, Error> {
//!     // … writes through `conn`: they commit with the record, or not at all.
//! #   let _ = conn;
//!     Ok(1)
//! }
//!
//! # fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::new(ConnectionManager::<SqliteConnection>::new("jobs.db"))?;
//! let engine = Idempotency::builder(pool, Scope::shared()).build();
//! engine.migrate()?;
//! engine.install()?;
//! # Ok(()) }
//! # }
//! ```
//!
//! Without `#[tx]` a function runs under a lease, through the pool of the engine. Its heartbeat beats on two threads
//! that this crate starts with the first such call, and that nobody has to know of: no runtime is needed around. Inside
//! one call such functions as any blocking one, by `tokio::task::spawn_blocking`.
//!
//! An engine of blocking connections is for blocking functions. An async handler can use it, but keeps its thread
//! waiting for each statement.

mod completer;
mod runtime;
mod span;
mod steps;
mod transaction;

pub use completer::{completer, resume};
pub use steps::Steps;
pub use transaction::{after_commit, transaction};

pub(crate) use runtime::{block, spawn, wait};
#[doc(hidden)]
pub use {
    runtime::wait_here,
    span::{catch, close_leased, open_leased, open_stepped},
};

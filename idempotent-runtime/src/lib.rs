//! Idempotent handlers, consumers and jobs over diesel.

mod answer;
#[cfg(feature = "axum")]
mod axum;
mod claim;
mod engine;
mod error;
mod fingerprint;
mod global;
mod key;
mod lifetime;
mod pool;
mod record;
mod run;
mod scope;
mod settings;
mod store;
mod sweeper;
mod terms;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use answer::{Answer, Keep, StoredHeaders};
pub use engine::Idempotency;
pub use error::Error;
pub use fingerprint::{Content, Fingerprint};
pub use key::{Key, KeyError, KeyPart, KeyPolicy, MAX_KEY_BYTES};
pub use lifetime::{Lease, Ttl};
pub use pool::{Connection, ConnectionPool, PoolError, Pooled};
pub use record::{Decision, Millis, Record, Refusal, State, decide};
pub use scope::Scope;
pub use settings::{Builder, Profile, StatementCache};
pub use store::Isolation;
pub use sweeper::Sweeper;

pub use idempotent_macros::idempotent;

/// Types that keep the examples of this documentation short.
#[doc(hidden)]
#[cfg(all(feature = "sqlite", feature = "deadpool"))]
pub mod doc {
    pub type Sqlite = diesel_async::sync_connection_wrapper::SyncConnectionWrapper<diesel::SqliteConnection>;
    pub type SqlitePool = diesel_async::pooled_connection::deadpool::Pool<Sqlite>;
}

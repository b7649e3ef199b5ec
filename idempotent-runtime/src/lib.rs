//! Idempotent handlers, consumers and jobs over diesel: the first request runs, every repeat gets the stored answer.
//!
//! Networks fail between "done" and "told you so". A client that sends its request again must not be charged again.
//! With this crate that is one line above a function: [`#[idempotent]`](macro@idempotent) expands it into *claim →
//! execute → store* around the same code, and keeps the records in the database that the function writes to.
//!
//! ```
//! # #[cfg(all(feature = "axum", feature = "sqlite", feature = "deadpool"))] mod example {
//! use axum::Json;
//! use diesel_async::pooled_connection::{AsyncDieselConnectionManager, deadpool::Pool};
//! use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
//! use http::StatusCode;
//! use idempotent_runtime::{Idempotency, Scope, idempotent};
//!
//! type Db = SyncConnectionWrapper<diesel::SqliteConnection>; // or AsyncPgConnection
//!
//! #[idempotent(key = header, ttl = "72h")]
//! async fn create_order(#[tx] conn: &mut Db, Json(item): Json<String>) -> (StatusCode, Json<String>) {
//!     // … writes through `conn`: they commit together with the answer, or not at all.
//! #   let _ = conn;
//!     (StatusCode::CREATED, Json(item))
//! }
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::builder(AsyncDieselConnectionManager::<Db>::new("orders.db")).build()?;
//! let engine = Idempotency::builder(pool, Scope::shared()).build();
//! engine.migrate().await?;
//! engine.install()?;
//! let app: axum::Router = axum::Router::new().route("/orders", axum::routing::post(create_order));
//! # let _ = app; Ok(())
//! # }
//! # }
//! ```
//!
//! # What is promised
//!
//! | mode | chosen by | promise |
//! |---|---|---|
//! | transactional | a `#[tx]` parameter | effects inside that database transaction happen exactly once, whatever crashes. The body may run more than once; one run commits |
//! | leased | no marker | one run at a time while its heartbeat reaches the database; a run that was paused past its lease can overlap with its successor outside the database, and its completion is refused. After a crash `on_crash = retry` gives at least once, `hold` at most once |
//! | steps | a `#[steps]` parameter | a recorded step is never repeated; one that crashed before it was recorded is tried again, with the same downstream key ([`Steps`]) |
//!
//! # Features
//!
//! `sqlite` (default), `postgres`: the databases. `deadpool` (default), `bb8`: the pools. `axum` (default): handlers.

#![cfg_attr(
    not(all(feature = "sqlite", feature = "postgres", feature = "axum")),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "no database and no framework uses every verb of the core"
    )
)]

mod answer;
#[cfg(feature = "axum")]
mod axum;
mod claim;
mod completer;
mod database;
mod effects;
mod engine;
mod error;
mod failpoint;
mod fingerprint;
mod global;
mod key;
mod key_part;
mod key_policy;
mod lease;
mod lifetime;
mod machine;
mod pool;
mod reconcile;
mod record;
mod run;
mod scope;
mod settings;
mod steps;
mod store;
mod sweeper;
mod terms;
#[cfg(feature = "testkit")]
pub mod testkit;
mod transaction;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use answer::{Answer, Keep, StoredHeaders};
pub use completer::Completer;
pub use database::Database;
pub use effects::{EffectError, after_commit};
pub use engine::Idempotency;
pub use error::Error;
pub use fingerprint::{Content, Fingerprint};
pub use key::{Key, KeyError, MAX_KEY_BYTES};
pub use key_part::KeyPart;
pub use key_policy::KeyPolicy;
pub use lease::Lease;
pub use machine::{
    Aged, Birth, Constraint, Current, Drift, Edge, Event, EventOf, Expiry, Fire, FireMany, Graph, GraphDiff, IdType,
    LoadRow, Many, Moved, NoRow, Note, RowId, RowName, Skipped, Snapshot, State as GraphState, StateMachine,
    Transition, TransitionError, UnknownState, Verification,
};
pub use pool::{Connection, ConnectionPool, PoolError, Pooled};
pub use reconcile::{HeldRecord, Resolution};
pub use record::{Decision, Millis, Record, Refusal, State, decide};
pub use scope::Scope;
pub use settings::{Builder, Profile, StatementCache};
pub use steps::Steps;
pub use store::Isolation;
pub use sweeper::Sweeper;
pub use transaction::transaction;

/// Makes retries, double clicks and races of a function harmless.
///
/// On an HTTP handler of axum, on any async function that returns `Result<T, E>`, and on associated functions without
/// `self`. The function stays as it is written; what is put around it claims its key, runs it, and stores its answer.
///
/// # Arguments
///
/// | argument | values | default |
/// |---|---|---|
/// | `key` | `header`, `header("X-Request-Id")`, `header(optional)`, or an expression over the parameters: string, integer, UUID, tuple ([`KeyPart`]) | required |
/// | `ttl` | how long the answer is kept: `"72h"`, `"forever"`, or a `Duration` expression | required |
/// | `scope` | whose key it is: an expression over the parameters | HTTP: the engine's [`Scope`]; else none |
/// | `fingerprint` | `bytes` (query and body as sent), `none`, or an expression over the parameters that is `Serialize`. Method and path always count | HTTP: `bytes`; else `none` |
/// | `lease` | how long an unfinished claim is believed: `"30s"`, or a `Duration` expression; renewed while the function runs ([`Lease`]); not with `#[tx]` | 30 s, or the ttl if shorter |
/// | `on_crash` | `retry` (taken over after the lease) or `hold` (nobody runs it again until somebody decides: [`Resolution`]); not with `#[tx]` | `retry` |
/// | `max_attempts` | attempts after which an abandoned claim is held; 0 = no limit; not with `#[tx]` | 10 |
/// | `arguments` | an expression that is kept with the claim, for [`Idempotency::resume`]; only where the key is an expression, and not with `#[tx]` | |
/// | `store` | which answers are kept: `default`, `success`, `all`, or a closure of the status ([`Keep`]) | `default` |
/// | `name` | an operation name that survives renames; required with `ttl = "forever"` and on associated functions | module path and function |
/// | `engine` | an expression giving the [`Idempotency`] | the installed one |
/// | `http` | a flag: an HTTP handler whose key is an expression | |
/// | `crate` | the path of this crate | `::idempotent_runtime` |
///
/// In an expression every parameter is in scope as a shared reference to what its pattern binds; the connection is not.
///
/// # Transactional handlers
///
/// A parameter marked `#[tx]` receives a connection inside the transaction that also holds the record. It is no
/// extractor. A status below 400 commits the handler's writes; 400 and above rolls them back, and the answer, if its
/// class is kept, is stored all the same.
///
/// ```
/// # #[cfg(all(feature = "axum", feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::{doc::Sqlite as Db, idempotent};
/// # struct User { id: i64 }
/// # impl<S: Sync> axum::extract::FromRequestParts<S> for User {
/// #     type Rejection = http::StatusCode;
/// #     async fn from_request_parts(_: &mut http::request::Parts, _: &S) -> Result<Self, http::StatusCode> { Ok(User { id: 1 }) }
/// # }
/// #[idempotent(key = header, ttl = "72h", scope = user.id)]
/// async fn create_order(user: User, #[tx] conn: &mut Db, item: String) -> http::StatusCode {
///     // … INSERT through `conn`
/// #   let _ = (conn, item);
///     http::StatusCode::CREATED
/// }
/// # }
/// ```
///
/// # Leased handlers
///
/// Without `#[tx]` the claim commits first and the handler may call other systems. Send them a key of their own that a
/// retry sends again.
///
/// ```
/// # #[cfg(feature = "axum")] mod example {
/// # use idempotent_runtime::idempotent;
/// #[idempotent(key = header, ttl = "72h", lease = "30s")]
/// async fn pay(card: String) -> http::StatusCode {
///     // … call the provider
/// #   let _ = card;
///     http::StatusCode::OK
/// }
/// # }
/// ```
///
/// With a parameter marked `#[steps]` the run has recovery points: see [`Steps`].
///
/// # Consumers and jobs
///
/// Without HTTP the key is an expression, and `#[tx]` is the caller's own connection: inside the caller's transaction
/// the record commits with it. `Ok` is stored with serde, `Err` releases.
///
/// ```
/// # #[cfg(all(feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::{doc::Sqlite as Db, idempotent};
/// # struct PaymentEvent { id: String }
/// #[idempotent(key = event.id, ttl = "7d")]
/// async fn on_payment(#[tx] conn: &mut Db, event: &PaymentEvent) -> Result<u64, idempotent_runtime::Error> {
///     // … write through `conn`
/// #   let _ = conn;
///     Ok(1)
/// }
/// # }
/// ```
pub use idempotent_macros::idempotent;

pub use idempotent_macros::{StateMachine, state_transition};

/// Types that keep the examples of this documentation short.
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations, reason = "not for others")]
#[cfg(all(feature = "sqlite", feature = "deadpool"))]
pub mod doc {
    pub type Sqlite = diesel_async::sync_connection_wrapper::SyncConnectionWrapper<diesel::SqliteConnection>;
    pub type SqlitePool = diesel_async::pooled_connection::deadpool::Pool<Sqlite>;

    pub mod schema {
        diesel::table! {
            orders (id) {
                id -> BigInt,
                status -> Text,
                version -> BigInt,
                entered_at -> BigInt,
                charge_key -> Nullable<Text>,
            }
        }
        diesel::table! {
            order_history (id) {
                id -> BigInt,
                order_id -> BigInt,
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

    #[derive(crate::StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
    #[state_machine(
        crate = crate,
        table = schema::orders, column = status, id = id,
        history = schema::order_history, history_id = order_id, version = version, entered = entered_at, key = charge_key,
        initial = Created,
        expires(after = "30m", to = Expired, from = Created),
        transitions(
            pay: Created => Paid,
            begin: Created => Paying,
            confirm: Paying => Paid,
            cancel: Created | Paid => Cancelled,
            settle: Paid => Settled,
            expire: Created => Expired,
        )
    )]
    pub enum OrderStatus {
        Created,
        Paying,
        Paid,
        Cancelled,
        Settled,
        Expired,
    }
}

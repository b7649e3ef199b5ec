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
//! | transition | [`#[state_transition]`](macro@state_transition), or an event of a machine ([`EventOf`]) | a row moves along an edge of its graph or not at all; of any number of calls at once one is [`Applied`](Transition::Applied). New state, line of the history and what the body wrote commit together. Effects [after the commit](after_commit()) run at most once |
//!
//! # State machines
//!
//! [`#[derive(StateMachine)]`](derive@StateMachine) keeps a graph in a column; [`trait@StateMachine`] is what it gives.
//! What each outcome says, and what it does not say: [`Transition`], [`TransitionError`].
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `sqlite` (default), `postgres`, `mysql` | the databases |
//! | `deadpool` (default), `bb8` | the pools |
//! | `axum` (default) | handlers of axum 0.8, and outcomes of transitions as answers |
//! | `actix` | the same of actix-web 4, for handlers that say so: `#[idempotent(actix, …)]` |
//! | `tower` | `IdempotencyLayer`, for whole routers and services |
//! | `blocking` | functions without `async`, on blocking diesel and pools of r2d2: `blocking`; on `SQLite` with `sqlite` beside it |
//! | `blocking-postgres` | the same on `PgConnection`; needs libpq |
//! | `blocking-mysql` | the same on `MysqlConnection`; needs libmysqlclient or libmariadb |
//! | `encryption` | what is stored of answers, steps and arguments is encrypted: `Encryption` |
//! | `redis` | one-time tokens in Redis: `RedisTokens` |
//! | `client` | `client`, for the callers of such a service; needs no database, only this feature |
//! | `testkit` | `testkit`, for the tests of your own state machines |

#![cfg_attr(
    not(all(feature = "sqlite", feature = "postgres", feature = "mysql", feature = "axum")),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "no database and no framework uses every verb of the core"
    )
)]

#[cfg(feature = "actix")]
mod actix;
mod answer;
#[cfg(feature = "axum")]
mod axum;
#[cfg(feature = "blocking")]
pub mod blocking;
mod caller;
mod claim;
#[cfg(feature = "client")]
pub mod client;
mod completer;
mod connection;
mod database;
mod deleted;
mod effects;
mod engine;
mod error;
mod failpoint;
mod fingerprint;
mod global;
mod hex;
#[cfg(any(feature = "actix", feature = "axum", feature = "tower"))]
mod http;
mod in_transaction;
mod jitter;
mod key;
mod key_part;
mod key_policy;
mod lease;
mod lifetime;
mod machine;
mod openapi;
mod operations;
mod owner;
mod pool;
mod recent;
mod reconcile;
mod record;
#[cfg(feature = "redis")]
mod redis;
mod run;
mod scope;
mod settings;
mod steps;
mod store;
mod stored_headers;
mod sweeper;
mod terms;
#[cfg(feature = "testkit")]
pub mod testkit;
mod token;
mod token_store;
#[cfg(feature = "tower")]
mod tower;
mod transaction;
mod vault;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use answer::{Answer, Keep};
pub use caller::Caller;
pub use completer::Completer;
pub use connection::{AsyncConnection, BlockingConnection, Connection};
pub use database::Database;
pub use deleted::Deleted;
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
pub use openapi::RoutePolicy;
pub use pool::{ConnectionPool, PoolError, Pooled};
pub use reconcile::{HeldRecord, Resolution};
pub use record::{Decision, Millis, Record, Refusal, State, decide, decide_token};
#[cfg(feature = "redis")]
pub use redis::RedisTokens;
pub use scope::Scope;
pub use settings::{Builder, Profile, StatementCache};
pub use steps::Steps;
pub use store::Isolation;
pub use stored_headers::StoredHeaders;
pub use sweeper::Sweeper;
pub use token::Token;
pub use token_store::{Spent, Ticket, TokenStore, TokenStoreError};
#[cfg(feature = "tower")]
pub use tower::{IdempotencyBody, IdempotencyLayer, IdempotencyService};
pub use transaction::transaction;
#[cfg(feature = "encryption")]
pub use vault::Encryption;

/// Makes retries, double clicks and races of a function harmless.
///
/// On an HTTP handler of axum or actix-web, on any function that returns `Result<T, E>`, async or (with the feature
/// `blocking`) not, and on associated functions without `self`. The function stays as it is written; what is put around
/// it claims its key, runs it, and stores its answer.
///
/// # Arguments
///
/// | argument | values | default |
/// |---|---|---|
/// | `key` | `header`, `header("X-Request-Id")`, `header(optional)`; `token`, `token("X-Csrf-Token")`, `token(once)`: a [`Token`] that the engine has issued; or an expression over the parameters: string, integer, UUID, tuple ([`KeyPart`]) | required |
/// | `ttl` | how long the answer is kept: `"72h"`, `"forever"`, or a `Duration` expression | required |
/// | `scope` | whose key it is: an expression over the parameters | HTTP: the engine's [`Scope`]; else none |
/// | `fingerprint` | `bytes` (query and body as sent), `json` (query as sent, and what the body says: [`Content::Json`]), `none`, or an expression over the parameters that is `Serialize`. Method and path always count; a boundary of form data does not ([`Content::Multipart`]) | HTTP: `bytes`; else `none` |
/// | `in_flight` | what a repeat does while the first run is under way: `reject`, or `wait("5s")` (at most so long, without a connection, and as many as [`waiters`](Builder::waiters) says); not in a plain function with `#[tx]` | `reject` |
/// | `lease` | how long an unfinished claim is believed: `"30s"`, or a `Duration` expression; renewed while the function runs ([`Lease`]); not with `#[tx]` | 30 s, or the ttl if shorter |
/// | `on_crash` | `retry` (taken over after the lease) or `hold` (nobody runs it again until somebody decides: [`Resolution`]); not with `#[tx]` | `retry` |
/// | `max_attempts` | attempts after which an abandoned claim is held; 0 = no limit; not with `#[tx]` | 10 |
/// | `arguments` | an expression that is kept with the claim, for [`Idempotency::resume`]; only where the key is an expression, and not with `#[tx]` | |
/// | `store` | which answers are kept: `default`, `success`, `all`, or a closure of the status ([`Keep`]) | `default` |
/// | `name` | an operation name that survives renames; required with `ttl = "forever"` and on associated functions | module path and function |
/// | `policy` | the name of a constant that publishes how a handler uses keys: a [`RoutePolicy`] | |
/// | `engine` | an expression giving the [`Idempotency`] | the installed one |
/// | `http` | a flag: an HTTP handler whose key is an expression | |
/// | `actix` | a flag: a handler of actix-web (feature `actix`) | of axum, whatever features are on |
/// | `crate` | the path of this crate | `::idempotent_runtime` |
///
/// In an expression every parameter is in scope as a shared reference to what its pattern binds; the connection is not.
///
/// Another `fingerprint` makes other fingerprints, also `json` in place of `bytes`: a repeat of a request that was stored
/// before the change is refused as another one.
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
/// # Handlers of actix-web
///
/// The flag `actix` says so. The parameters are extractors of actix-web, in every mode, and the answer is a `Responder`. What
/// a handler holds stays on its worker's thread and need not be `Send`; so does the task that runs it, which
/// [`drain`](Idempotency::drain) waits for: call it before the workers stop.
///
/// ```
/// # #[cfg(all(feature = "actix", feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::{doc::Sqlite as Db, idempotent};
/// use actix_web::{HttpResponse, web};
///
/// #[idempotent(actix, key = header, ttl = "72h")]
/// async fn create_order(#[tx] conn: &mut Db, item: web::Json<String>) -> HttpResponse {
///     // … INSERT through `conn`
/// #   let _ = conn;
///     HttpResponse::Created().json(item)
/// }
///
/// # fn build() {
/// let app = actix_web::App::new().route("/orders", web::post().to(create_order));
/// # let _ = app;
/// # }
/// # }
/// ```
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

/// A state machine that is kept in a column: a graph of states and events, checked while it is compiled.
///
/// On an enum whose variants are the states, and which derives `Debug` and `Clone` too. It implements
/// [`trait@StateMachine`], and what diesel, serde and the standard library need to store, load, show and parse a state.
/// Each event becomes an associated function that gives an [`EventOf`]: `OrderStatus::pay().of(id).execute(conn)`. What
/// else belongs to an event stands in a function of [`#[state_transition]`](macro@state_transition).
///
/// ```
/// # #[cfg(all(feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::doc::Sqlite as Db;
/// use diesel::prelude::*;
/// use idempotent_runtime::{StateMachine, TransitionError};
///
/// diesel::table! {
///     orders (id) {
///         id -> BigInt,
///         status -> Text,
///         amount -> BigInt,
///     }
/// }
///
/// #[derive(QueryableByName)]
/// #[diesel(table_name = orders)]
/// pub struct Order { amount: i64 }
///
/// impl Order {
///     fn is_large(&self) -> bool { self.amount > 100_000 }
/// }
///
/// #[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
/// #[state_machine(
///     table = orders, column = status, id = id, row = Order,
///     initial = Created,
///     transitions(
///         pay: { Created => InReview if Order::is_large, Created => Paid },
///         judge: InReview => Paid | Cancelled,
///         cancel: any - InReview => Cancelled,
///     )
/// )]
/// pub enum OrderStatus {
///     Created,
///     InReview,
///     #[state(alias = "payed")]
///     Paid,
///     #[state(terminal)]
///     Cancelled,
/// }
///
/// # async fn pay(conn: &mut Db) -> Result<(), TransitionError> {
/// assert_eq!(OrderStatus::Created.allowed_from(), ["pay", "cancel"]);
/// if let Some(moved) = OrderStatus::pay().of(42).execute(conn).await?.applied() {
///     println!("it was {}, and is {}", moved.from, moved.to); // created, paid
/// }
/// # Ok(())
/// # }
/// # }
/// ```
///
/// # Arguments
///
/// | argument | values | default |
/// |---|---|---|
/// | `table` | the path of the diesel table that holds the rows: `crate::schema::orders` | required |
/// | `column` | the column that holds the state: `Text` or `Nullable<Text>` | required |
/// | `id` | the column that names a row ([`IdType`]) | required |
/// | `initial` | where a row may begin: `Created`, or `Created \| Draft`; or `#[state(initial)]` on variants | required, in one way or the other |
/// | `transitions` | the edges, see below | required |
/// | `terminal` | states that nothing may leave: `Settled \| Refunded`; or `#[state(terminal)]` | |
/// | `history` | the path of the table of the history, with the columns `event`, `source`, `target`, `actor`, `reason`, `metadata`, `at` | no history |
/// | `history_id` | the column of the history that names the row; only with `history` | `row_id` |
/// | `version` | a `BigInt` column that counts the transitions of a row | |
/// | `entered` | a `BigInt` column: when the state was entered, in milliseconds since the epoch. Transitions set it; for an INSERT its default has to, as that of `migration_sql` does | |
/// | `key` | a text column for the key that is sent to another system | |
/// | `row` | the type that guards look at (derives `QueryableByName`, see [`LoadRow`]) | none, and no guards |
/// | `expires` | `expires(after = "30m", to = Expired, from = Created \| Draft)`; needs `entered` ([`Builder::expires`]) | `from`: every state with an unguarded edge to the target |
/// | `rename_all` | `snake_case`, `SCREAMING_SNAKE_CASE`, `kebab-case`, `camelCase`, `PascalCase`, `lowercase`, `UPPERCASE` | `snake_case` |
/// | `crate` | the path of this crate | `::idempotent_runtime` |
///
/// # Edges
///
/// | an edge | is |
/// |---|---|
/// | `pay: Created => Paid` | an event, a state that it leaves, and the state that it leads to |
/// | `cancel: Created \| Paid => Cancelled` | an edge from each |
/// | `abort: any - Paid => Cancelled` | an edge from every state but the terminal ones, the target itself, and those taken out |
/// | `touch: Paid => Paid` | writes without moving |
/// | `authorize: Init => Success \| Failed` | the function's outcome chooses, or [`Fire::to`] |
/// | `next: { Cart => Address, Delivery => Payment if Order::needs_payment, Delivery => Confirm }` | several edges of one event; of guarded ones the first whose guard passes is taken |
/// | `"OP_VOID/SUCCESS" as void_success: Init => Success` | an event whose stored name is no name in Rust |
/// | `return: Complete => Returned` | a keyword: `OrderStatus::r#return()` |
/// | `Created => Expired` | an edge without a name: event `to_expired`, one for all such edges to a state |
///
/// # Variants
///
/// | `#[state(…)]` | says |
/// |---|---|
/// | `name = "…"` | how the column holds it, in place of `rename_all` |
/// | `alias = "…"` | an older name that is still read, and never written; may stand several times |
/// | `initial` | a row may begin here |
/// | `terminal` | nothing may leave it |
/// | `external` | something else puts rows here, so that no edge has to |
/// | `other` | no state of the graph: what unknown names are read as. One variant with one field, `Unknown(String)` |
///
/// Names are compared byte by byte.
pub use idempotent_macros::StateMachine;

/// A transition with a body: moves a row along its graph, runs the function, and appends to the history, in one
/// transaction.
///
/// On a function, async or not, or an associated one without `self`, that returns [`Result<Transition<T>, E>`](Transition) with
/// `E: From<TransitionError>`. The body runs if the event is possible, once the row has moved: a repeat is answered with
/// [`AlreadyApplied`](Transition::AlreadyApplied), and what the state does not permit with a
/// [`Conflict`](TransitionError::Conflict), without it. `Err`, a panic, and an `AlreadyApplied` of its own undo
/// everything.
///
/// ```
/// # #[cfg(all(feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::doc::{OrderStatus, Sqlite as Db};
/// use idempotent_runtime::{Transition, TransitionError, state_transition};
///
/// #[state_transition(machine = OrderStatus, event = settle)]
/// async fn settle(#[tx] conn: &mut Db, #[id] order: i64, #[actor] who: &str) -> Result<Transition<u32>, TransitionError> {
///     // … writes through `conn`: they commit together with the new state, or not at all.
/// #   let _ = conn;
///     Ok(7.into())
/// }
///
/// # async fn call(conn: &mut Db) -> Result<(), TransitionError> {
/// match settle(conn, 42, "ann").await? {
///     Transition::Applied(entry) => println!("settled by this call: entry {entry}"),
///     Transition::AlreadyApplied => println!("settled before"),
/// }
/// # Ok(())
/// # }
/// # }
/// ```
///
/// # Arguments
///
/// | argument | values | default |
/// |---|---|---|
/// | `machine` | the enum that derives [`StateMachine`](derive@StateMachine) | required |
/// | `event` | an event of its graph, with all of its edges | `from` and `to` |
/// | `from`, `to` | states, in place of an event: `Created`, `Created \| Paid`, `any`, `any - Settled`; one edge must lead from each that is named to each target | `event` |
/// | `guard` | a condition over the parameters, by reference, and the locked `row`: `row.amount <= *limit`; not with `via` | |
/// | `outcome` | from the value to the state that it leads to: `\|said\| …`, or a function; where the graph leaves a choice, and nowhere else | |
/// | `via` | a state that is committed before the body runs, see below | |
/// | `failure`, `when` | with `via`: the state that a final error leads to, and which errors are final: `\|error\| …` | an error leaves the row in between |
/// | `reclaim` | with `via`: after how long in between another caller may go on | `"5m"` |
/// | `crate` | the path of this crate | `::idempotent_runtime` |
///
/// # Markers
///
/// | marker | on a parameter of type | |
/// |---|---|---|
/// | `#[tx]` | `&mut Db`, the caller's connection ([`Connection`]) | required. In a transaction of the caller's the transition is a savepoint |
/// | `#[id]` | the id, or a reference to it ([`RowId`]) | required |
/// | `#[version]` | `i64` | the version that the caller has seen: another one is [`Stale`](TransitionError::Stale) |
/// | `#[actor]`, `#[reason]` | `&str`, `String`, an `Option` of one | for the history |
/// | `#[metadata]` | anything that is `Serialize` | for the history, as JSON |
/// | `#[key]` | `String` | with `via`, required: the key for the other system |
///
/// # What is generated
///
/// A function of the same signature without the markers. Inside stands yours, unchanged, between a call that begins the
/// transaction and moves the row, and one that appends, commits, and runs the [effects](after_commit()). Beside it stand
/// constants that hold what was written against the graph: an event, a state or an edge that it does not have, a missing
/// `outcome`, or a marker whose column is not declared is a compile error at that word.
///
/// Under [`#[idempotent]`](macro@idempotent), which stands above, claim, transition and answer are one transaction.
///
/// # Calls to other systems
///
/// `via = Paying` commits `Created => Paying`, with the key, before the body runs, and `Paying => Paid` after it. The body is in
/// no transaction, and its `#[key]` is that of the row: a caller with the same key goes on at once with a row that is
/// stuck in between, and any other one after `reclaim`, with the key of the claim and not with its own. So the other
/// system is called at least once, with one key; only if it honours that is a repeat harmless. The machine declares
/// `key` and `entered`; on a connection that is in a transaction the call is refused.
///
/// ```
/// # #[cfg(all(feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::doc::{OrderStatus, Sqlite as Db};
/// # use idempotent_runtime::{Transition, TransitionError, state_transition};
/// # struct Provider;
/// # impl Provider { async fn charge(&self, _: i64, key: &str) -> Result<String, TransitionError> { Ok(key.to_owned()) } }
/// #[state_transition(machine = OrderStatus, from = Created, via = Paying, to = Paid, reclaim = "2m")]
/// async fn pay(
///     #[tx] conn: &mut Db,
///     #[id] order: i64,
///     #[key] key: String,
///     provider: &Provider,
/// ) -> Result<Transition<String>, TransitionError> {
/// #   let _ = conn;
///     Ok(provider.charge(order, &key).await?.into())
/// }
/// # }
/// ```
pub use idempotent_macros::state_transition;

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

#[cfg(all(doctest, feature = "axum", feature = "deadpool", feature = "sqlite", feature = "testkit"))]
#[doc = include_str!("../../docs/state-machines.md")]
mod state_machines_page {}

#[cfg(all(doctest, feature = "axum", feature = "deadpool", feature = "sqlite"))]
#[doc = include_str!("../../docs/consumers.md")]
mod consumers_page {}

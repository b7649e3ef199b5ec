//! What an engine is told once: the builder.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::connection::Connection;
use crate::engine::Idempotency;
use crate::key_policy::KeyPolicy;
use crate::machine::{LoadRow, StateMachine, TransitionError};
use crate::operations::Operations;
use crate::pool::ConnectionPool;
use crate::reconcile::{HeldRecord, Reconcile, Resolution};
use crate::scope::Scope;
use crate::store::{Isolation, Own};
use crate::stored_headers::StoredHeaders;
use crate::token_store::TokenStore;
use crate::vault::Vault;

/// The largest request body that is read, and the largest answer that is stored, unless said otherwise: 1 MiB.
pub(crate) const LIMIT: usize = 1024 * 1024;

/// How many requests of an engine wait at once, unless said otherwise.
const WAITERS: usize = 64;
/// What problems of the IETF profile are about, unless said otherwise: where the draft explains them.
const PROBLEM_TYPE: &str =
    "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.7";

/// The form of keys, and of the toolkit's own answers about them. Transitions have answers of their own.
///
/// ```
/// use idempotent_runtime::Profile;
/// assert_eq!(Profile::default(), Profile::Stripe);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Profile {
    /// `{"error":{"type":"idempotency_error","code":…,"message":…}}`, 409 for every conflict. A key may be bare or in
    /// quotes.
    #[default]
    Stripe,
    /// `application/problem+json` (RFC 9457) as in draft-ietf-httpapi-idempotency-key-header-07: 400 without a key, 422
    /// for one that was used for another request, 409 for one in use. With `type` ([`Builder::problem_type`]), `title`,
    /// `status`, `detail`, `code` and `retryable`. A key is one string of RFC 9651, in quotes; a bare one is refused.
    Ietf,
}

/// What an answer of the toolkit itself looks like.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) profile: Profile,
    /// The `type` of its problems (RFC 9457).
    pub(crate) problem_type: Arc<str>,
}

impl Default for Form {
    fn default() -> Self {
        Self { profile: Profile::default(), problem_type: PROBLEM_TYPE.into() }
    }
}

/// Whether answers say until when they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpiryHeader {
    Absent,
    Given,
}

/// Everything an engine was told, beside its pool.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) namespace: String,
    pub(crate) scope: Scope,
    pub(crate) form: Form,
    pub(crate) expiry_header: ExpiryHeader,
    pub(crate) waiters: usize,
    pub(crate) key_policy: KeyPolicy,
    pub(crate) body_limit: usize,
    pub(crate) response_limit: usize,
    pub(crate) headers: StoredHeaders,
    pub(crate) isolation: Isolation,
    pub(crate) statement_cache: StatementCache,
    pub(crate) reconcile: Option<Reconcile>,
    pub(crate) vault: Vault,
    /// Where tokens are, if not in the records.
    pub(crate) tokens: Option<Arc<dyn TokenStore>>,
    /// What the engine was called for, so far.
    pub(crate) operations: Operations,
}

impl Settings {
    /// A transaction of the engine's own, on a connection with so many open before.
    pub(crate) fn own(&self, base: u32) -> Own {
        Own { isolation: self.isolation, cached: self.statement_cache == StatementCache::On, base }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("namespace", &self.namespace)
            .field("scope", &self.scope)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

/// Whether connections keep prepared statements.
///
/// ```
/// use idempotent_runtime::StatementCache;
/// assert_eq!(StatementCache::default(), StatementCache::On);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatementCache {
    /// Each statement is prepared once for each connection.
    #[default]
    On,
    /// For `PgBouncer` before 1.21 in transaction mode, which knows no prepared statements. Statements are then sent
    /// one after the other.
    Off,
}

/// Builds an [`Idempotency`] engine.
///
/// ```
/// # use idempotent_runtime::doc::SqlitePool;
/// use idempotent_runtime::{Idempotency, KeyPolicy, Scope};
///
/// # fn build(pool: SqlitePool) {
/// let engine = Idempotency::builder(pool, Scope::shared())
///     .namespace("billing")
///     .key_policy(KeyPolicy::strict())
///     .body_limit(64 * 1024)
///     .build();
/// # }
/// ```
#[must_use = "call `.build()`"]
pub struct Builder<C: Connection> {
    pool: Arc<dyn ConnectionPool<C>>,
    settings: Settings,
    expiries: Vec<Expiring<C>>,
}

/// Ends rows of one machine that are to end by themselves: up to so many; says how many.
pub(crate) type Expiring<C> = fn(u32, &mut C) -> BoxFuture<'_, Result<usize, TransitionError>>;

impl<C: Connection> std::fmt::Debug for Builder<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<C: Connection> Builder<C> {
    pub(crate) fn new(pool: Arc<dyn ConnectionPool<C>>, scope: Scope) -> Self {
        let settings = Settings {
            namespace: String::new(),
            scope,
            form: Form::default(),
            expiry_header: ExpiryHeader::Absent,
            waiters: WAITERS,
            key_policy: KeyPolicy::default(),
            body_limit: LIMIT,
            response_limit: LIMIT,
            headers: StoredHeaders::default(),
            isolation: Isolation::default(),
            statement_cache: StatementCache::default(),
            reconcile: None,
            vault: Vault::default(),
            tokens: None,
            operations: Operations::default(),
        };
        Self { pool, settings, expiries: Vec::new() }
    }

    /// The name of this service among several that share one database; `""` unless given.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.namespace("billing");
    /// # }
    /// ```
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.settings.namespace = namespace.into();
        self
    }

    /// The form of keys, and of the toolkit's own answers.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.profile(idempotent_runtime::Profile::Ietf);
    /// # }
    /// ```
    pub fn profile(mut self, profile: Profile) -> Self {
        self.settings.form.profile = profile;
        self
    }

    /// The `type` of the problems of [`Profile::Ietf`]: the URL of a page of yours that says how your service uses keys.
    /// Unless given, that of the section of the draft that the problems and their titles are from.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.problem_type("https://developer.example.com/idempotency");
    /// # }
    /// ```
    pub fn problem_type(mut self, url: impl Into<String>) -> Self {
        self.settings.form.problem_type = url.into().into();
        self
    }

    /// Says with every answer that is kept for how long it still is: `Idempotency-Key-Expiry`, in whole seconds. What is
    /// kept forever, and what is not kept, has none. Off unless called, because the header is not registered.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.expiry_header();
    /// # }
    /// ```
    pub fn expiry_header(mut self) -> Self {
        self.settings.expiry_header = ExpiryHeader::Given;
        self
    }

    /// How many requests may wait at once for a first one to end (`in_flight = wait(…)`); one more is answered as with
    /// `reject`. 64 unless given. A request that waits holds no connection of the pool, but one of the client.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.waiters(1_000);
    /// # }
    /// ```
    pub fn waiters(mut self, most: usize) -> Self {
        self.settings.waiters = most;
        self
    }

    /// Which keys of clients are accepted.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.key_policy(idempotent_runtime::KeyPolicy::strict());
    /// # }
    /// ```
    pub fn key_policy(mut self, policy: KeyPolicy) -> Self {
        self.settings.key_policy = policy;
        self
    }

    /// The largest request body that is read, in bytes; larger ones are answered with 413. 1 MiB unless given.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.body_limit(64 * 1024);
    /// # }
    /// ```
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// The largest answer that is stored, in bytes; a larger one is passed on, and its repeats are refused. 1 MiB
    /// unless given.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.response_limit(64 * 1024);
    /// # }
    /// ```
    pub fn response_limit(mut self, bytes: usize) -> Self {
        self.settings.response_limit = bytes;
        self
    }

    /// Which headers are stored with an answer.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.headers(idempotent_runtime::StoredHeaders::default().allow(&http::header::SET_COOKIE));
    /// # }
    /// ```
    pub fn headers(mut self, headers: StoredHeaders) -> Self {
        self.settings.headers = headers;
        self
    }

    /// The isolation of the transactions that are begun for handlers.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.isolation(idempotent_runtime::Isolation::Serializable);
    /// # }
    /// ```
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.settings.isolation = isolation;
        self
    }

    /// Whether connections keep prepared statements.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.statement_cache(idempotent_runtime::StatementCache::Off);
    /// # }
    /// ```
    pub fn statement_cache(mut self, cache: StatementCache) -> Self {
        self.settings.statement_cache = cache;
        self
    }

    /// Who is asked, when a request meets a record whose outcome is unknown: look at the other system, by the step's
    /// downstream key, and say what is known.
    ///
    /// ```
    /// use idempotent_runtime::{HeldRecord, Resolution};
    ///
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.reconcile(async |record: HeldRecord| {
    ///     println!("asked about {}", record.key());
    ///     Resolution::KeepHolding
    /// });
    /// # }
    /// ```
    pub fn reconcile<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(HeldRecord) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Resolution> + Send + 'static,
    {
        self.settings.reconcile = Some(crate::reconcile::hook(hook));
        self
    }

    /// Encrypts what is stored of answers (headers and body, or the result of a plain function), of recorded steps, and
    /// of kept arguments. What was stored before is read as it is.
    ///
    /// ```
    /// use idempotent_runtime::Encryption;
    ///
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>, key: [u8; 32]) {
    /// let _ = builder.encryption(Encryption::new(1, &key));
    /// # }
    /// ```
    #[cfg(feature = "encryption")]
    pub fn encryption(mut self, encryption: crate::Encryption) -> Self {
        self.settings.vault = encryption.into();
        self
    }

    /// Where one-time tokens wait for their use, in place of the engine's own records: `RedisTokens`, or a store of your
    /// own.
    ///
    /// ```
    /// # use idempotent_runtime::{Builder, TokenStore, doc::Sqlite as Db};
    /// # fn set(builder: Builder<Db>, store: impl TokenStore) {
    /// let _ = builder.tokens(store);
    /// # }
    /// ```
    pub fn tokens(mut self, store: impl TokenStore) -> Self {
        self.settings.tokens = Some(Arc::new(store));
        self
    }

    /// Lets the engine's sweep also end the rows of a machine that are to end by themselves: those of its
    /// `expires(…)`.
    ///
    /// ```
    /// # use idempotent_runtime::doc::{OrderStatus, SqlitePool};
    /// # fn build(pool: SqlitePool) {
    /// use idempotent_runtime::{Idempotency, Scope};
    /// let engine = Idempotency::builder(pool, Scope::shared()).expires::<OrderStatus>().build();
    /// # let _ = engine;
    /// # }
    /// ```
    pub fn expires<M: StateMachine<Row: LoadRow<C>>>(mut self) -> Self {
        self.expiries.push(|limit, conn| crate::machine::expire::<M, C>(limit, conn).boxed());
        self
    }

    /// The engine. Nothing is connected to yet.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn set(builder: idempotent_runtime::Builder<idempotent_runtime::doc::Sqlite>) {
    /// let _ = builder.build();
    /// # }
    /// ```
    #[must_use]
    pub fn build(self) -> Idempotency<C> {
        Idempotency::new(self.pool, self.settings, self.expiries)
    }
}

//! The engine: a pool, its settings, and the verbs that claims need of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::task::TaskTracker;

use crate::claim::{Address, Claim, Claimed, Fence, Row, Unresolved};
use crate::connection::Connection;
use crate::error::Error;
use crate::key_part::storable;
use crate::lifetime::Ttl;
use crate::pool::{ConnectionPool, Pooled};
use crate::recent::Recent;
use crate::reconcile::HeldRecord;
use crate::run::WaitingRoom;
use crate::scope::Scope;
use crate::settings::{Builder, Expiring, Settings, StatementCache};
use crate::store::{Change, Driver, Which};
use crate::sweeper::Sweeper;
use crate::token::Token;
use crate::token_store::Ticket;

/// How long a claim waits for a connection of the pool before it is refused.
const POOL_TIMEOUT: Duration = Duration::from_secs(30);
/// How many records one statement of the sweep deletes.
const SWEEP_BATCH: i64 = 1_000;
/// How many rows of a machine one transaction of the sweep ends.
const EXPIRY_BATCH: u32 = 500;

/// The largest body limit of any engine of this program: a request is read before its engine is known.
static LARGEST_BODY_LIMIT: AtomicUsize = AtomicUsize::new(crate::settings::LIMIT);

/// How much of a request body may be read before its engine is known.
#[cfg(any(feature = "actix", feature = "axum"))]
pub(crate) fn largest_body_limit() -> usize {
    LARGEST_BODY_LIMIT.load(Ordering::Relaxed)
}

/// The engine behind annotated functions: keeps the records in your database, through your pool.
///
/// Cheap to clone. [`install`](Self::install) it once at start, and every annotated function over connections of type
/// `C` finds it; or keep it in your application's state and write `engine = app.idempotency`.
///
/// ```
/// # use idempotent_runtime::doc::SqlitePool;
/// use idempotent_runtime::{Idempotency, Scope};
///
/// # async fn start(pool: SqlitePool) -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Idempotency::builder(pool, Scope::shared()).build();
/// engine.migrate().await?;
/// engine.install()?;
/// let _sweeper = engine.sweeper();
/// # Ok(())
/// # }
/// ```
pub struct Idempotency<C: 'static> {
    inner: Arc<Inner<C>>,
}

pub(crate) struct Inner<C: 'static> {
    pub(crate) settings: Settings,
    pool: Arc<dyn ConnectionPool<C>>,
    pub(crate) driver: &'static dyn Driver<C>,
    tasks: TaskTracker,
    pub(crate) waiting_room: Arc<WaitingRoom>,
    pub(crate) recent: Recent,
    expiries: Vec<Expiring<C>>,
}

impl<C> Clone for Idempotency<C> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<C> fmt::Debug for Idempotency<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

impl<C: Connection> Idempotency<C> {
    /// Begins an engine over a pool. `scope` says whose keys requests carry.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", feature = "deadpool"))]
    /// # fn build(pool: idempotent_runtime::doc::SqlitePool) {
    /// let engine = idempotent_runtime::Idempotency::builder(pool, idempotent_runtime::Scope::shared()).build();
    /// # let _ = engine;
    /// # }
    /// ```
    pub fn builder(pool: impl ConnectionPool<C>, scope: Scope) -> Builder<C> {
        Builder::new(Arc::new(pool), scope)
    }

    pub(crate) fn new(pool: Arc<dyn ConnectionPool<C>>, settings: Settings, expiries: Vec<Expiring<C>>) -> Self {
        LARGEST_BODY_LIMIT.fetch_max(settings.body_limit, Ordering::Relaxed);
        let waiting_room = Arc::new(WaitingRoom::new(settings.waiters));
        let (driver, tasks, recent) = (C::driver().0, TaskTracker::new(), Recent::default());
        let inner = Inner { settings, pool, driver, tasks, waiting_room, recent, expiries };
        Self { inner: Arc::new(inner) }
    }

    /// Creates or updates the tables, recording the versions in diesel's own table of migrations. Services that start
    /// together migrate one after the other. A project that runs its migrations by hand copies
    /// `idempotent-runtime/migrations/` into its own folder instead.
    ///
    /// Fails if the database cannot be reached or written.
    ///
    /// ```
    /// # use idempotent_runtime::doc::SqlitePool;
    /// # async fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// engine.migrate().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "it says whether it went well"]
    pub fn migrate(&self) -> C::Returns<'_, Result<(), Error>> {
        C::returns(async {
            let conn = self.inner.connection().await?;
            let driver = self.inner.driver;
            let migrated = tokio::task::spawn_blocking(move || driver.migrate(conn)).await;
            migrated.map_err(Error::unavailable)?.map_err(Error::unavailable)
        })
    }
}

impl<C: Connection> Idempotency<C> {
    /// Makes this the engine of every annotated function over connections of type `C`; the first one installed also
    /// serves leased functions, which have no connection. A second one of the same type is an error: name it in the
    /// attribute (`engine = …`).
    ///
    /// ```
    /// # fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
    /// engine.install().expect("one engine for each connection type");
    /// assert!(engine.install().is_err());
    /// # }
    /// ```
    pub fn install(&self) -> Result<(), Error> {
        crate::global::install(self)
    }

    /// Deletes expired records in batches, in the background, until the guard is dropped. Every service may run one.
    ///
    /// ```
    /// # fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
    /// let sweeper = engine.sweeper();
    /// # drop(sweeper);
    /// # }
    /// ```
    #[must_use = "the sweep stops when the guard is dropped"]
    pub fn sweeper(&self) -> Sweeper {
        self.sweeper_every(crate::sweeper::REST)
    }

    /// As [`sweeper`](Self::sweeper), which rests for a minute between two sweeps, with another rest.
    ///
    /// ```
    /// # fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
    /// let sweeper = engine.sweeper_every(std::time::Duration::from_secs(3_600));
    /// # drop(sweeper);
    /// # }
    /// ```
    #[must_use = "the sweep stops when the guard is dropped"]
    pub fn sweeper_every(&self, rest: Duration) -> Sweeper {
        Sweeper::start(self.clone(), rest)
    }

    /// Deletes expired records now, and says how many. Never a claim that may still run, nor a held one.
    ///
    /// ```
    /// # async fn sweep(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// let deleted = engine.sweep().await?;
    /// # let _ = deleted;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "it says whether it went well"]
    pub fn sweep(&self) -> C::Returns<'_, Result<usize, Error>> {
        C::returns(self.inner.sweep())
    }

    /// Ends now what the machines of [`expires`](Builder::expires) say is to end by itself, and says how many rows. The
    /// sweeper does it too.
    ///
    /// ```
    /// # async fn sweep(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// let expired = engine.expire().await?;
    /// # let _ = expired;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "it says whether it went well"]
    pub fn expire(&self) -> C::Returns<'_, Result<usize, Error>> {
        C::returns(self.inner.expire())
    }

    /// Issues a one-time token: good for one run of the operation `operation` (the `name` of a function with `key =
    /// token`) by the caller `scope`, until `ttl` is over. For anybody else, elsewhere or later it is as good as none.
    ///
    /// The scope is what the function's own `scope = …` gives, or else the engine's rule; `""` where that is
    /// [shared](Scope::shared). What was issued and not used is deleted by the sweep.
    ///
    /// ```
    /// # async fn issue(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// let token = engine.issue_token("alice", "checkout", std::time::Duration::from_secs(600)).await?;
    /// # let _ = token;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "it says whether it went well"]
    pub fn issue_token<'c>(
        &'c self,
        scope: &'c str,
        operation: &'c str,
        ttl: Duration,
    ) -> C::Returns<'c, Result<Token, Error>> {
        C::returns(self.inner.issue(scope, operation, ttl))
    }

    /// Waits until everything that was claimed has ended, also for clients that have gone; false if `timeout` came
    /// first. Call it after the server has stopped accepting.
    ///
    /// ```
    /// # async fn stop(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
    /// let all_done = engine.drain(std::time::Duration::from_secs(30)).await;
    /// # let _ = all_done;
    /// # }
    /// ```
    #[must_use = "it says whether it went well"]
    pub fn drain(&self, timeout: Duration) -> C::Returns<'_, bool> {
        C::returns(async move {
            self.inner.tasks.close();
            tokio::time::timeout(timeout, self.inner.tasks.wait()).await.is_ok()
        })
    }
}

impl<C: Send + 'static> Idempotency<C> {
    pub(crate) fn inner(&self) -> &Arc<Inner<C>> {
        &self.inner
    }

    pub(crate) fn erased(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.inner) as _
    }
}

impl<C: Send + 'static> Inner<C> {
    /// A connection of the pool, for one span of work: no second one is taken while it is held.
    pub(crate) async fn connection(&self) -> Result<Pooled<C>, Error> {
        let mut conn = match tokio::time::timeout(POOL_TIMEOUT, self.pool.get()).await {
            Ok(Ok(conn)) => conn,
            Ok(Err(error)) => return Err(Error::unavailable(error)),
            Err(elapsed) => return Err(Error::unavailable(elapsed)),
        };
        if self.settings.statement_cache == StatementCache::Off {
            self.driver.without_statement_cache(&mut conn);
        }
        Ok(conn)
    }
}

impl<C: Send + 'static> Inner<C> {
    /// Deletes expired records; says how many.
    pub(crate) async fn sweep(&self) -> Result<usize, Error> {
        let mut total = 0;
        loop {
            let mut conn = self.connection().await?;
            let deleted = self.driver.sweep(&mut conn, SWEEP_BATCH).await.map_err(Error::unavailable)?;
            total += deleted;
            if deleted < usize::try_from(SWEEP_BATCH).unwrap_or(usize::MAX) {
                return Ok(total);
            }
        }
    }

    /// Ends the rows of machines that are to end by themselves; says how many.
    pub(crate) async fn expire(&self) -> Result<usize, Error> {
        let mut total = 0;
        for expiring in &self.expiries {
            loop {
                let mut conn = self.connection().await?;
                let expired = expiring(EXPIRY_BATCH, &mut conn).await.map_err(Error::unavailable)?;
                total += expired;
                if expired < usize::try_from(EXPIRY_BATCH).unwrap_or(usize::MAX) {
                    break;
                }
            }
        }
        Ok(total)
    }

    /// Issues a one-time token.
    pub(crate) async fn issue(&self, scope: &str, operation: &str, ttl: Duration) -> Result<Token, Error> {
        let (ttl, token) = (Ttl::new(ttl)?, Token::generate()?);
        let Settings { namespace, vault, .. } = &self.settings;
        let address = Address {
            namespace: namespace.clone(),
            operation: operation.to_owned(),
            // As the same scope is stored with a request; "" is the shared one.
            scope: storable(scope).unwrap_or_default(),
            key: token.key(),
            vault: vault.clone(),
        };
        match &self.settings.tokens {
            Some(store) => store.issue(&Ticket::of(&address), ttl.duration()).await.map_err(Error::unavailable)?,
            None => {
                let mut conn = self.connection().await?;
                self.driver.issue(&mut conn, &address, ttl).await.map_err(Error::unavailable)?;
            }
        }
        Ok(token)
    }

    /// Up to `most` claims that were never ended.
    pub(crate) async fn unresolved(&self, which: Which<'_>, most: u32) -> Result<Vec<Unresolved>, Error> {
        let mut conn = self.connection().await?;
        let mut claims = self.driver.unresolved(&mut conn, which, i64::from(most)).await.map_err(Error::unavailable)?;
        for claim in &mut claims {
            claim.address.vault = self.settings.vault.clone();
        }
        Ok(claims)
    }
}

/// What leased runs need of an engine, whatever its connections are.
pub(crate) trait Engine: Send + Sync {
    fn settings(&self) -> &Settings;
    fn tasks(&self) -> &TaskTracker;
    fn waiting_room(&self) -> &Arc<WaitingRoom>;
    fn recent(&self) -> &Recent;
    fn claim<'e>(&'e self, claim: &'e Claim) -> BoxFuture<'e, Result<Claimed, Error>>;
    fn look<'e>(&'e self, address: &'e Address) -> BoxFuture<'e, Result<Option<Row>, Error>>;
    fn change<'e>(
        &'e self,
        address: &'e Address,
        fence: Fence,
        change: Change<'e>,
    ) -> BoxFuture<'e, Result<bool, Error>>;
    fn held_at<'e>(&'e self, address: &'e Address) -> BoxFuture<'e, Result<Option<HeldRecord>, Error>>;
}

impl<C: Send + 'static> Engine for Inner<C> {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    fn waiting_room(&self) -> &Arc<WaitingRoom> {
        &self.waiting_room
    }

    fn recent(&self) -> &Recent {
        &self.recent
    }

    fn claim<'e>(&'e self, claim: &'e Claim) -> BoxFuture<'e, Result<Claimed, Error>> {
        async move {
            let mut conn = self.connection().await?;
            self.driver.claim(&mut conn, claim).await.map_err(Error::unavailable)
        }
        .boxed()
    }

    fn look<'e>(&'e self, address: &'e Address) -> BoxFuture<'e, Result<Option<Row>, Error>> {
        async move {
            let mut conn = self.connection().await?;
            self.driver.look(&mut conn, address).await.map_err(Error::unavailable)
        }
        .boxed()
    }

    fn change<'e>(
        &'e self,
        address: &'e Address,
        fence: Fence,
        change: Change<'e>,
    ) -> BoxFuture<'e, Result<bool, Error>> {
        async move {
            let mut conn = self.connection().await?;
            self.driver.change(&mut conn, address, fence, change).await.map_err(Error::unavailable)
        }
        .boxed()
    }

    fn held_at<'e>(&'e self, address: &'e Address) -> BoxFuture<'e, Result<Option<HeldRecord>, Error>> {
        async move { Ok(self.unresolved(Which::HeldAt(address), 1).await?.pop().map(HeldRecord)) }.boxed()
    }
}

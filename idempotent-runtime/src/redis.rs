//! One-time tokens in Redis.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use once_cell::sync::Lazy;
use redis::aio::ConnectionLike;
use redis::{Cmd, Script};

use crate::token_store::{Spent, Ticket, TokenStore, TokenStoreError};

const ISSUED: &str = "issued";

/// Looks and marks in one step. `KEYS[1]` the ticket, `ARGV[1]` how long its record will be kept.
static SPEND: Lazy<Script> = Lazy::new(|| {
    Script::new(
        r"
        local state = redis.call('GET', KEYS[1])
        if not state then return 0 end
        if state ~= 'issued' then return 2 end
        local left = math.min(redis.call('PTTL', KEYS[1]), tonumber(ARGV[1]))
        redis.call('SET', KEYS[1], 'spent', 'PX', math.max(left, 1))
        return 1
        ",
    )
});

/// A store of one-time tokens in Redis, or in what speaks its protocol (Valkey), alone or as a cluster: each token is one
/// key, in one slot.
///
/// `C` is a connection that can be cloned and used by many at once: `MultiplexedConnection`, `ConnectionManager`, or the
/// `ClusterConnection` of the crate redis.
///
/// What it cannot promise that the database can: token and record are in two places. A token that is spent here, by a
/// request which dies before its claim, stays good for the one who sends it again. A server that forgets (no
/// persistence, eviction, a failover to a replica that was behind) forgets tokens, and their holders get 403 and have to
/// ask for new ones; one that forgets only that a token was spent gives it another run once its record is swept, so let the
/// route's `ttl` be no shorter than the token's; and while Redis cannot be reached nobody runs. What it does not change:
/// whether a request has run is asked of the record, in the database, for as long as that is kept.
///
/// ```no_run
/// # use idempotent_runtime::doc::SqlitePool;
/// # async fn start(pool: SqlitePool) -> Result<(), Box<dyn std::error::Error>> {
/// use idempotent_runtime::{Idempotency, RedisTokens, Scope};
///
/// let redis = redis::Client::open("redis://127.0.0.1/")?.get_multiplexed_async_connection().await?;
/// let engine = Idempotency::builder(pool, Scope::caller()).tokens(RedisTokens::new(redis)).build();
/// # let _ = engine; Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RedisTokens<C> {
    connection: C,
    prefix: String,
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> RedisTokens<C> {
    /// Tokens under keys that begin with `idempotency:`.
    ///
    /// ```
    /// # use idempotent_runtime::RedisTokens;
    /// # fn store(connection: redis::aio::MultiplexedConnection) {
    /// let tokens = RedisTokens::new(connection);
    /// # let _ = tokens;
    /// # }
    /// ```
    pub fn new(connection: C) -> Self {
        Self { connection, prefix: "idempotency:".to_owned() }
    }

    /// Tokens under keys that begin with something else.
    ///
    /// ```
    /// # use idempotent_runtime::RedisTokens;
    /// # fn store(connection: redis::aio::MultiplexedConnection) {
    /// let tokens = RedisTokens::new(connection).prefix("shop:tokens:");
    /// # let _ = tokens;
    /// # }
    /// ```
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    fn key(&self, ticket: &Ticket) -> String {
        format!("{}{}", self.prefix, ticket.as_str())
    }
}

/// In milliseconds, at least one.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).clamp(1, i64::MAX.unsigned_abs())
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> TokenStore for RedisTokens<C> {
    fn issue<'t>(&'t self, ticket: &'t Ticket, ttl: Duration) -> BoxFuture<'t, Result<(), TokenStoreError>> {
        async move {
            let mut connection = self.connection.clone();
            let mut set = Cmd::new();
            set.arg("SET").arg(self.key(ticket)).arg(ISSUED).arg("PX").arg(millis(ttl));
            Ok(set.query_async::<()>(&mut connection).await?)
        }
        .boxed()
    }

    fn spend<'t>(&'t self, ticket: &'t Ticket, keep: Duration) -> BoxFuture<'t, Result<Spent, TokenStoreError>> {
        async move {
            let mut connection = self.connection.clone();
            let spent = SPEND.key(self.key(ticket)).arg(millis(keep)).invoke_async::<i64>(&mut connection).await?;
            Ok(match spent {
                1 => Spent::Now,
                2 => Spent::Before,
                _ => Spent::Never,
            })
        }
        .boxed()
    }
}

//! A service whose handlers, one for each mode, do as the test says.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use diesel::prelude::*;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, StatusCode};
use idempotent_runtime::{Builder, Error, Idempotency, RedisTokens, Scope, Steps};
use tokio::sync::Semaphore;

use super::database::{Database, Db, SERIAL};

pub(crate) type TxBody = dyn for<'c> Fn(&'c mut Db, Bytes) -> BoxFuture<'c, Response> + Send + Sync;
pub(crate) type SteppedBody =
    dyn for<'s> Fn(&'s mut Steps<Db>, Bytes) -> BoxFuture<'s, Result<Response, Error>> + Send + Sync;
pub(crate) type LeasedBody = dyn Fn(Bytes) -> BoxFuture<'static, Response> + Send + Sync;

/// Both ways to run, for cases that must hold in each.
pub(crate) const MODES: [&str; 2] = ["/tx", "/leased"];

#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Idempotency<Db>,
    pub(crate) pool: Pool<Db>,
    pub(crate) lease: Duration,
    pub(crate) ttl: Duration,
    pub(crate) runs: Arc<AtomicUsize>,
    pub(crate) tx: Arc<TxBody>,
    pub(crate) leased: Arc<LeasedBody>,
    pub(crate) stepped: Arc<SteppedBody>,
}

/// What serves the handlers.
pub(crate) trait Framework: 'static {
    /// One request; dropped, its client has hung up.
    fn send(app: App, request: Request<Body>) -> BoxFuture<'static, Answer>;
    /// Over sockets, HTTP/1 and 2.
    async fn serve(app: App) -> Serving;
}

/// A server, until it is dropped.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    stop: Option<Box<dyn FnOnce() + Send>>,
}

impl Serving {
    pub(crate) fn new(address: SocketAddr, stop: impl FnOnce() + Send + 'static) -> Self {
        Self { address, stop: Some(Box::new(stop)) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop();
        }
    }
}

pub(crate) struct ServiceOn<F> {
    pub(crate) app: App,
    // Dropped last: the connections of the pool are in it.
    pub(crate) database: Arc<Database>,
    framework: PhantomData<fn() -> F>,
}

/// The service of the cases that are about no framework.
pub(crate) type Service = ServiceOn<super::axum::Axum>;

/// What a client sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn replayed(&self) -> bool {
        self.headers.get("idempotent-replayed").is_some_and(|value| value == "true")
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn code(&self) -> String {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn retry_after(&self) -> u64 {
        self.headers["retry-after"].to_str().unwrap().parse().unwrap()
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{self:?}");
        self
    }
}

impl<F: Framework> ServiceOn<F> {
    /// A service over an empty database with the tables `idempotency_keys` and `effects`; `None` if there is no server.
    pub(crate) async fn new() -> Option<Self> {
        Self::with(8, |builder| builder).await
    }

    /// One with a pool of `size` connections and an engine of other settings.
    pub(crate) async fn with(size: usize, set: impl FnOnce(Builder<Db>) -> Builder<Db>) -> Option<Self> {
        let database = Arc::new(Database::fresh().await?);
        let pool = database.pool(size);
        Some(Self::over(database, pool, set).await)
    }

    pub(crate) async fn over(
        database: Arc<Database>,
        pool: Pool<Db>,
        set: impl FnOnce(Builder<Db>) -> Builder<Db>,
    ) -> Self {
        let engine = set(Idempotency::builder(pool.clone(), Scope::shared())).build();
        engine.migrate().await.unwrap();
        let create = format!("CREATE TABLE IF NOT EXISTS effects (id {SERIAL}, what TEXT NOT NULL)");
        pool.get().await.unwrap().batch_execute(&create).await.unwrap();
        let app = App {
            engine,
            pool,
            lease: Duration::from_secs(30),
            ttl: Duration::from_secs(3_600),
            runs: Arc::default(),
            tx: Arc::new(|conn, body| insert_and_answer(conn, body).boxed()),
            leased: Arc::new(|body| async move { (StatusCode::CREATED, body).into_response() }.boxed()),
            stepped: Arc::new(|_, body| async move { Ok((StatusCode::CREATED, body).into_response()) }.boxed()),
        };
        Self { app, database, framework: PhantomData }
    }

    /// The same database in another process, so to speak: a pool and an engine of its own.
    pub(crate) async fn another(&self, set: impl FnOnce(Builder<Db>) -> Builder<Db>) -> Self {
        Self::over(Arc::clone(&self.database), self.database.pool(8), set).await
    }

    /// The same service, to be told something else.
    pub(crate) fn twin(&self) -> Self {
        Self { app: self.app.clone(), database: Arc::clone(&self.database), framework: PhantomData }
    }

    pub(crate) fn on_tx(
        mut self,
        body: impl for<'c> Fn(&'c mut Db, Bytes) -> BoxFuture<'c, Response> + Send + Sync + 'static,
    ) -> Self {
        self.app.tx = Arc::new(body);
        self
    }

    pub(crate) fn on_leased(
        mut self,
        body: impl Fn(Bytes) -> BoxFuture<'static, Response> + Send + Sync + 'static,
    ) -> Self {
        self.app.leased = Arc::new(body);
        self
    }

    pub(crate) fn on_stepped(
        mut self,
        body: impl for<'s> Fn(&'s mut Steps<Db>, Bytes) -> BoxFuture<'s, Result<Response, Error>> + Send + Sync + 'static,
    ) -> Self {
        self.app.stepped = Arc::new(body);
        self
    }

    /// Both handlers answer with this, and the transactional one leaves an effect first.
    pub(crate) fn answering(self, answer: impl Fn() -> Response + Clone + Send + Sync + 'static) -> Self {
        let again = answer.clone();
        self.on_tx(move |conn, _| {
            let answer = answer.clone();
            async move {
                insert(conn, "effect").await;
                answer()
            }
            .boxed()
        })
        .on_leased(move |_| {
            let answer = again.clone();
            async move { answer() }.boxed()
        })
    }

    /// Sends a request, from a client of its own: whoever drops this has hung up.
    pub(crate) fn sending(&self, request: Request<Body>) -> BoxFuture<'static, Answer> {
        F::send(self.app.clone(), request)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        // A fault must fail a test, not hang it.
        tokio::time::timeout(Duration::from_secs(90), self.sending(request)).await.expect("an answer within 90 s")
    }

    /// Sends a request whose handler panics: the panic goes on to the server.
    pub(crate) async fn crash(&self, request: Request<Body>) {
        assert!(tokio::spawn(self.sending(request)).await.unwrap_err().is_panic());
    }

    /// Serves on a port of its own.
    pub(crate) async fn serve(&self) -> Serving {
        F::serve(self.app.clone()).await
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: impl Into<Body>) -> Answer {
        self.send(post(path, key, body)).await
    }

    pub(crate) fn runs(&self) -> usize {
        AtomicUsize::load(&self.app.runs, Ordering::SeqCst)
    }

    /// What the handlers wrote.
    pub(crate) async fn effects(&self) -> Vec<String> {
        effects::table.select(effects::what).order(effects::id).load(&mut self.conn().await).await.unwrap()
    }

    /// The names of the recorded steps.
    pub(crate) async fn steps(&self) -> Vec<String> {
        let steps = idempotency_steps::table.select(idempotency_steps::name).order(idempotency_steps::position);
        steps.load(&mut self.conn().await).await.unwrap()
    }

    /// The state of the only record: 0 claimed, 1 completed, 2 released.
    pub(crate) async fn state(&self) -> i16 {
        idempotency_keys::table.select(idempotency_keys::state).get_result(&mut self.conn().await).await.unwrap()
    }

    /// The state of the record of a key.
    pub(crate) async fn state_of(&self, key: &str) -> i16 {
        let record = idempotency_keys::table.filter(idempotency_keys::key.eq(key));
        record.select(idempotency_keys::state).get_result(&mut self.conn().await).await.unwrap()
    }

    /// How many records there are.
    pub(crate) async fn records(&self) -> i64 {
        idempotency_keys::table.count().get_result(&mut self.conn().await).await.unwrap()
    }

    pub(crate) async fn conn(&self) -> diesel_async::pooled_connection::deadpool::Object<Db> {
        self.app.pool.get().await.unwrap()
    }

    pub(crate) async fn sql(&self, sql: &str) {
        self.conn().await.batch_execute(&super::database::spelled(sql)).await.unwrap();
    }
}

/// Two gates of a handler: it has been entered, and it may leave.
#[derive(Clone)]
pub(crate) struct Gates {
    entered: Arc<Semaphore>,
    leave: Arc<Semaphore>,
}

impl Gates {
    pub(crate) fn new() -> Self {
        Self { entered: Arc::new(Semaphore::new(0)), leave: Arc::new(Semaphore::new(0)) }
    }

    /// In the handler: says that it has been entered, and waits to be let go.
    pub(crate) async fn pass(&self) {
        self.entered.add_permits(1);
        self.leave.acquire().await.unwrap().forget();
    }

    /// Waits until the handler has been entered.
    pub(crate) async fn entered(&self) {
        self.entered.acquire().await.unwrap().forget();
    }

    /// Lets one run of the handler go.
    pub(crate) fn let_go(&self) {
        self.leave.add_permits(1);
    }
}

pub(crate) fn post(path: &str, key: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path).header("idempotency-key", key).body(body.into()).unwrap()
}

pub(crate) async fn read(response: Response) -> Answer {
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    Answer { status: head.status.as_u16(), headers: head.headers, body }
}

/// A store of tokens in the Redis of `TEST_REDIS_URL`, under keys of its own; `None` if there is none.
pub(crate) async fn redis_tokens() -> Option<RedisTokens<redis::aio::MultiplexedConnection>> {
    let Ok(url) = std::env::var("TEST_REDIS_URL") else {
        tests::leave_out("redis", "TEST_REDIS_URL");
        return None;
    };
    let connection = redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap();
    Some(RedisTokens::new(connection).prefix(format!("test:{}:", key())))
}

/// A fresh key.
pub(crate) fn key() -> String {
    uuid::Uuid::new_v4().to_string()
}

pub(crate) async fn insert(conn: &mut Db, what: &str) -> i64 {
    super::database::inserted!(conn, effects::table, effects::what.eq(what), effects::id).await.unwrap()
}

async fn insert_and_answer(conn: &mut Db, body: Bytes) -> Response {
    let id = insert(conn, std::str::from_utf8(&body).unwrap_or("bytes")).await;
    (StatusCode::CREATED, format!("effect {id}")).into_response()
}

diesel::table! {
    effects (id) {
        id -> BigInt,
        what -> Text,
    }
}

diesel::table! {
    idempotency_steps (namespace, operation, scope, key, generation, position) {
        namespace -> Text,
        operation -> Text,
        scope -> Text,
        key -> Text,
        generation -> BigInt,
        position -> BigInt,
        name -> Text,
    }
}

diesel::table! {
    idempotency_keys (namespace, operation, scope, key) {
        namespace -> Text,
        operation -> Text,
        scope -> Text,
        key -> Text,
        fingerprint -> Binary,
        expires_at -> BigInt,
        lease_until -> BigInt,
        token -> BigInt,
        held -> SmallInt,
        state -> SmallInt,
    }
}

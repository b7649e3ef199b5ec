//! Effects after the commit, of handlers that are run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::post;
use diesel_async::{AsyncConnection, SimpleAsyncConnection};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, StatusCode};
use idempotent_runtime::{ConnectionPool, Idempotency, PoolError, Pooled, Scope, after_commit, idempotent};
use tokio::sync::Mutex;
use tower::ServiceExt;

use super::database::{Database, Db};

/// One connection, which never moves.
struct OnlyOne(Arc<Mutex<Db>>);

impl ConnectionPool<Db> for OnlyOne {
    fn get(&self) -> BoxFuture<'_, Result<Pooled<Db>, PoolError>> {
        async { Ok(Pooled::new(Arc::clone(&self.0).lock_owned().await)) }.boxed()
    }
}

#[derive(Clone)]
struct App {
    engine: Idempotency<Db>,
    runs: Arc<[AtomicUsize]>,
    mails: Arc<AtomicUsize>,
}

/// Meets another transaction in its first run.
#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn mail(State(app): State<App>, Path(n): Path<usize>, #[tx] conn: &mut Db) -> StatusCode {
    let mails = Arc::clone(&app.mails);
    let sent = after_commit(conn, move || async move {
        mails.fetch_add(1, Ordering::SeqCst);
        Ok::<_, String>(())
    });
    if sent.is_err() {
        return StatusCode::IM_A_TEAPOT;
    }
    if app.runs[n].fetch_add(1, Ordering::SeqCst) == 0 {
        let _ = conn.batch_execute("DO $$ BEGIN RAISE EXCEPTION 'met another' USING ERRCODE = '40001'; END $$").await;
    }
    StatusCode::CREATED
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_that_is_repeated_leaves_no_trace_on_the_connection_that_others_use_meanwhile() {
    let Some(database) = Database::fresh().await else { return };
    let conn = Db::establish(&database.location()).await.unwrap();
    let engine = Idempotency::builder(OnlyOne(Arc::new(Mutex::new(conn))), Scope::shared()).build();
    engine.migrate().await.unwrap();
    let app = App { engine, runs: (0..20).map(|_| AtomicUsize::new(0)).collect(), mails: Arc::default() };
    let asked: Vec<_> = (0..20)
        .map(|n| {
            let router = Router::new().route("/{n}", post(mail)).with_state(app.clone());
            let request = Request::post(format!("/{n}")).header("idempotency-key", format!("the-key-of-{n}"));
            tokio::spawn(router.oneshot(request.body(axum::body::Body::empty()).unwrap()))
        })
        .collect();
    for answer in asked {
        assert_eq!(answer.await.unwrap().unwrap().status(), StatusCode::CREATED);
    }
    assert_eq!(app.mails.load(Ordering::SeqCst), 20);
    assert!(app.runs.iter().all(|runs| runs.load(Ordering::SeqCst) == 2));
}

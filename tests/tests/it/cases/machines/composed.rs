//! A transition under `#[idempotent]`, in one transaction; and what a web client sees of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use idempotent_runtime::{
    Error, Idempotency, Scope, Transition, TransitionError, after_commit, idempotent, state_transition,
};
use tower::ServiceExt;

use super::super::database::Db;
use super::{Bench, Status, effect, line};

#[derive(Clone)]
struct App {
    engine: Idempotency<Db>,
    mails: std::sync::Arc<AtomicUsize>,
}

/// What handlers answer with, if not with what they return.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Transition(#[from] TransitionError),
    #[error(transparent)]
    Idempotency(#[from] Error),
    #[error(transparent)]
    Database(#[from] diesel::result::Error),
}

impl IntoResponse for Problem {
    fn into_response(self) -> axum::response::Response {
        match self {
            Self::Transition(error) => error.into_response(),
            Self::Idempotency(error) => error.into_response(),
            Self::Database(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

/// Pays the order of a path.
#[idempotent(key = header, ttl = "1h", engine = app.engine)]
#[state_transition(machine = Status, event = pay)]
async fn pay(
    State(app): State<App>,
    #[id] Path(id): Path<i64>,
    #[tx] conn: &mut Db,
) -> Result<Transition<Json<i64>>, Problem> {
    effect(conn, "paid").await?;
    let mails = std::sync::Arc::clone(&app.mails);
    after_commit(conn, move || async move {
        mails.fetch_add(1, Ordering::SeqCst);
        Ok::<_, String>(())
    })
    .expect("in a transaction of ours");
    Ok(Json(id).into())
}

async fn ask(app: &App, path: &str, key: &str) -> (StatusCode, String) {
    let router = Router::new().route("/{id}/pay", post(pay)).with_state(app.clone());
    let request = Request::post(path).header("idempotency-key", key).body(axum::body::Body::empty()).unwrap();
    let answer = router.oneshot(request).await.unwrap();
    let status = answer.status();
    (status, String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

async fn app(bench: &Bench) -> App {
    let engine = Idempotency::builder(bench.pool.clone(), Scope::shared()).build();
    engine.migrate().await.unwrap();
    App { engine, mails: std::sync::Arc::default() }
}

#[tokio::test]
async fn one_function_is_a_claim_a_transition_and_an_answer_in_one_transaction() {
    let Some(bench) = Bench::new().await else { return };
    let (app, id) = (app(&bench).await, bench.row("created").await);
    for _ in 0..2 {
        let answer = ask(&app, &format!("/{id}/pay"), "first-key").await;
        assert_eq!(answer, (StatusCode::OK, id.to_string()));
    }
    assert_eq!(ask(&app, &format!("/{id}/pay"), "second-key").await, (StatusCode::NO_CONTENT, String::new()));
    assert_eq!((bench.effects().await, app.mails.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(bench.story(id).await, [line("pay", "created", "paid")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn effects_of_many_requests_on_few_connections_are_told_apart() {
    let Some(bench) = Bench::with(2).await else { return };
    let app = app(&bench).await;
    let mut ids = Vec::new();
    for n in 0..120 {
        // Of every three one is refused, and has no effect.
        ids.push(bench.row(if n % 3 == 0 { "settled" } else { "created" }).await);
    }
    let asked: Vec<_> = ids
        .into_iter()
        .map(|id| {
            let app = app.clone();
            tokio::spawn(async move { ask(&app, &format!("/{id}/pay"), &format!("the-key-of-{id}")).await.0 })
        })
        .collect();
    let mut paid = 0;
    for answer in asked {
        paid += usize::from(answer.await.unwrap() == StatusCode::OK);
    }
    assert_eq!((paid, app.mails.load(Ordering::SeqCst), bench.effects().await), (80, 80, 80));
}

#[tokio::test]
async fn a_conflict_is_409_with_what_is_and_what_is_possible() {
    let Some(bench) = Bench::new().await else { return };
    let (app, id) = (app(&bench).await, bench.row("settled").await);
    let (status, body) = ask(&app, &format!("/{id}/pay"), "first-key").await;
    assert_eq!(status, StatusCode::CONFLICT);
    let error = serde_json::from_str::<serde_json::Value>(&body).unwrap()["error"].clone();
    assert_eq!((&error["type"], &error["current"]), (&"state_conflict".into(), &"settled".into()));
    assert_eq!(error["allowed"], serde_json::json!(["notify", "approve"]));
    // Nobody keeps it: when the order has come to where it can be paid, the same key pays.
    bench.run(&format!("UPDATE orders SET status = 'created' WHERE id = {id}")).await;
    assert_eq!(ask(&app, &format!("/{id}/pay"), "first-key").await.0, StatusCode::OK);
    assert_eq!(ask(&app, "/100000/pay", "third-key").await.0, StatusCode::NOT_FOUND);
}

#[idempotent(key = order, name = "orders.settle", ttl = "1h", engine = engine)]
#[state_transition(machine = Status, event = settle)]
async fn settle(
    engine: &Idempotency<Db>,
    #[tx] conn: &mut Db,
    #[id] order: i64,
) -> Result<Transition<String>, Problem> {
    effect(conn, "settled").await?;
    Ok(format!("settled {order}").into())
}

#[tokio::test]
async fn a_consumer_remembers_what_its_transition_gave() {
    let Some(bench) = Bench::new().await else { return };
    let (app, id) = (app(&bench).await, bench.row("paid").await);
    let conn = &mut *bench.conn().await;
    for _ in 0..2 {
        assert_eq!(settle(&app.engine, conn, id).await.unwrap(), Transition::Applied(format!("settled {id}")));
    }
    assert_eq!(bench.effects().await, 1);
    let other = bench.row("created").await;
    assert!(settle(&app.engine, conn, other).await.is_err());
    bench.run(&format!("UPDATE orders SET status = 'paid' WHERE id = {other}")).await;
    assert!(settle(&app.engine, conn, other).await.unwrap().is_applied());
}

struct Orders;

impl Orders {
    /// An associated function, that names `Self`.
    #[idempotent(key = order, name = "Orders::notify", ttl = "1h", engine = engine)]
    #[state_transition(machine = Status, event = notify)]
    async fn notify(
        engine: &Idempotency<Db>,
        #[tx] conn: &mut Db,
        #[id] order: i64,
    ) -> Result<Transition<i64>, Problem> {
        Self::write(conn).await?;
        Ok(order.into())
    }

    async fn write(conn: &mut Db) -> Result<(), Problem> {
        Ok(effect(conn, "notified").await?)
    }
}

#[tokio::test]
async fn an_associated_function_can_be_both() {
    let Some(bench) = Bench::new().await else { return };
    let (app, id) = (app(&bench).await, bench.row("settled").await);
    let conn = &mut *bench.conn().await;
    assert_eq!(Orders::notify(&app.engine, conn, id).await.unwrap(), Transition::Applied(id));
    assert_eq!(bench.effects().await, 1);
}

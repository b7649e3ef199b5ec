use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use diesel_async::SimpleAsyncConnection;
use http::{Request, StatusCode};
use idempotent_runtime::{Error, Idempotency, Scope, Steps, idempotent};
use tower::ServiceExt;

use super::database::{self, Db, SERIAL};
use crate::Task;

/// Short, so that what a crash leaves can be taken over soon.
const LEASE: Duration = Duration::from_millis(300);

#[derive(Clone)]
struct App {
    engine: Idempotency<Db>,
    provider: PathBuf,
}

impl App {
    /// Another system: it does what it is asked once for each key.
    fn charge(&self, key: &str) {
        let file = OpenOptions::new().create(true).append(true).open(&self.provider);
        writeln!(file.expect("the provider's file can be opened"), "{key}")
            .expect("the provider's file can be written");
    }
}

/// Where `WAIT_FOR` names a file: says that it waits, and waits until that is there.
async fn wait_to_be_let_go() {
    if let Some(file) = std::env::var_os("WAIT_FOR") {
        println!("waiting");
        while !std::path::Path::new(&file).exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}

async fn insert(conn: &mut Db, what: &str) -> Result<(), Failed> {
    conn.batch_execute(&format!("INSERT INTO effects (what) VALUES ('{what}')")).await.map_err(|_| Failed)
}

#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn transactional(State(app): State<App>, #[tx] conn: &mut Db) -> Result<(StatusCode, &'static str), Failed> {
    let _ = app;
    insert(conn, "effect").await?;
    Ok((StatusCode::CREATED, "done"))
}

#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn undone(State(app): State<App>, #[tx] conn: &mut Db) -> (StatusCode, &'static str) {
    let _ = (app, insert(conn, "undone").await);
    (StatusCode::UNPROCESSABLE_ENTITY, "done")
}

/// Runs for longer than a third of its lease, so that it is renewed.
#[idempotent(key = header, ttl = "1h", lease = LEASE, engine = app.engine)]
async fn leased(State(app): State<App>) -> (StatusCode, &'static str) {
    app.charge("leased");
    tokio::time::sleep(LEASE / 2).await;
    (StatusCode::CREATED, "done")
}

/// Answers that it failed, which gives the key back, until the provider was asked twice.
#[idempotent(key = header, ttl = "1h", lease = LEASE, engine = app.engine)]
async fn failing(State(app): State<App>) -> (StatusCode, &'static str) {
    app.charge("failing");
    let asked = std::fs::read_to_string(&app.provider).unwrap_or_default().lines().count();
    if asked < 2 { (StatusCode::BAD_GATEWAY, "failed") } else { (StatusCode::CREATED, "done") }
}

#[idempotent(key = header, ttl = "1h", lease = LEASE, engine = app.engine)]
async fn stepped(State(app): State<App>, #[steps] steps: &mut Steps<Db>) -> Result<(StatusCode, &'static str), Failed> {
    steps.tx("start", async |conn| insert(conn, "start").await).await?;
    steps
        .run("charge", async |key| {
            app.charge(&key);
            wait_to_be_let_go().await;
            Ok::<_, Failed>(())
        })
        .await?;
    steps.tx("confirm", async |conn| insert(conn, "confirm").await).await?;
    Ok((StatusCode::CREATED, "done"))
}

pub(crate) async fn run(task: Task) -> String {
    let pool = database::pool_at(&task.location, 4, |_| {});
    let engine = Idempotency::builder(pool.clone(), Scope::shared()).build();
    engine.migrate().await.expect("the tables can be made");
    let create = format!("CREATE TABLE IF NOT EXISTS effects (id {SERIAL}, what TEXT NOT NULL)");
    pool.get().await.expect("a connection").batch_execute(&create).await.expect("a table");
    let router = Router::new()
        .route("/transactional", post(transactional))
        .route("/undone", post(undone))
        .route("/leased", post(leased))
        .route("/failing", post(failing))
        .route("/stepped", post(stepped))
        .with_state(App { engine, provider: task.provider });
    let request = Request::post(format!("/{}", task.mode)).header("idempotency-key", task.key);
    let response = router.oneshot(request.body(axum::body::Body::empty()).expect("a request")).await;
    let (head, body) = response.unwrap_or_else(|never| match never {}).into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let replayed = head.headers.contains_key("idempotent-replayed");
    format!("{} {replayed} {}", head.status.as_u16(), String::from_utf8_lossy(&body))
}

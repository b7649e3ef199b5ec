use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use diesel_async::SimpleAsyncConnection;
use diesel_async::pooled_connection::deadpool::Pool;
use http::{Request, StatusCode};
use idempotent_runtime::{
    Error, Idempotency, Scope, StateMachine, Steps, Transition, TransitionError, idempotent, state_transition,
};
use tower::ServiceExt;

use super::database::{self, Db, SERIAL};
use crate::Task;

/// Short, so that what a crash leaves can be taken over soon.
const LEASE: Duration = Duration::from_millis(300);

#[derive(Clone)]
struct App {
    engine: Idempotency<Db>,
    pool: Pool<Db>,
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

impl From<TransitionError> for Failed {
    fn from(_: TransitionError) -> Self {
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

#[idempotent(name = "victim.token", key = token, ttl = "1h", engine = app.engine)]
async fn submitted(State(app): State<App>, #[tx] conn: &mut Db) -> Result<(StatusCode, &'static str), Failed> {
    let _ = app;
    insert(conn, "effect").await?;
    Ok((StatusCode::CREATED, "done"))
}

/// The token of this cell, issued by the first process that has come so far.
async fn token_of(engine: &Idempotency<Db>, provider: &std::path::Path) -> String {
    let file = provider.with_extension("token");
    if let Ok(token) = std::fs::read_to_string(&file) {
        return token;
    }
    let token = engine.issue_token("", "victim.token", Duration::from_secs(3_600)).await.expect("a token");
    std::fs::write(file, token.as_str()).expect("the temporary folder is writable");
    token.as_str().to_owned()
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

diesel::table! {
    parcels (id) {
        id -> BigInt,
        place -> Text,
        entered_at -> BigInt,
        carrier_key -> Nullable<Text>,
    }
}

diesel::table! {
    parcel_history (id) {
        id -> BigInt,
        row_id -> BigInt,
        event -> Text,
        source -> Nullable<Text>,
        target -> Text,
        actor -> Nullable<Text>,
        reason -> Nullable<Text>,
        metadata -> Nullable<Text>,
        at -> BigInt,
    }
}

#[derive(StateMachine, Debug, Clone, Copy)]
#[state_machine(
    table = parcels, column = place, id = id, history = parcel_history, entered = entered_at, key = carrier_key,
    initial = Packed,
    transitions(ship: Packed => OnTheRoad, deliver: OnTheRoad => Delivered)
)]
enum Place {
    Packed,
    OnTheRoad,
    Delivered,
}

#[state_transition(machine = Place, event = ship)]
async fn ship(#[tx] conn: &mut Db, #[id] parcel: i64) -> Result<Transition<()>, Failed> {
    insert(conn, "shipped").await?;
    Ok(().into())
}

#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn moved(State(app): State<App>, #[tx] conn: &mut Db) -> Result<(StatusCode, &'static str), Failed> {
    let _ = app;
    let _ = ship(conn, 1).await?;
    Ok((StatusCode::CREATED, "done"))
}

#[state_transition(machine = Place, from = Packed, via = OnTheRoad, to = Delivered, reclaim = "300ms")]
async fn carry(
    #[tx] conn: &mut Db,
    #[id] parcel: i64,
    #[key] key: String,
    app: &App,
) -> Result<Transition<()>, Failed> {
    let _ = conn;
    app.charge(&key);
    Ok(().into())
}

#[idempotent(key = header, ttl = "1h", lease = LEASE, engine = app.engine)]
async fn carried(State(app): State<App>) -> Result<(StatusCode, &'static str), Failed> {
    let mut conn = app.pool.get().await.map_err(|_| Failed)?;
    // A new key with every attempt: the first one is kept with the row.
    let _ = carry(&mut conn, 1, std::process::id().to_string(), &app).await?;
    Ok((StatusCode::CREATED, "done"))
}

/// The tables of the handlers, and the one parcel.
async fn make_tables(conn: &mut Db) {
    conn.batch_execute(&format!(
        "CREATE TABLE IF NOT EXISTS effects (id {SERIAL}, what TEXT NOT NULL); \
         CREATE TABLE IF NOT EXISTS parcels (id BIGINT PRIMARY KEY, place VARCHAR(40) NOT NULL, \
         entered_at BIGINT NOT NULL, carrier_key VARCHAR(40)); \
         CREATE TABLE IF NOT EXISTS parcel_history (id {SERIAL}, row_id BIGINT NOT NULL, event VARCHAR(40) NOT NULL, \
         source TEXT, target TEXT NOT NULL, actor TEXT, reason TEXT, metadata TEXT, at BIGINT NOT NULL); \
         INSERT INTO parcels SELECT 1, 'packed', 0, NULL WHERE NOT EXISTS (SELECT 1 FROM parcels)"
    ))
    .await
    .expect("tables can be made");
}

pub(crate) async fn run(task: Task) -> String {
    let pool = database::pool_at(&task.location, 4, |_| {});
    let engine = Idempotency::builder(pool.clone(), Scope::shared()).build();
    engine.migrate().await.expect("the tables can be made");
    make_tables(&mut pool.get().await.expect("a connection")).await;
    if task.mode.starts_with("blocking") {
        let ran = tokio::task::spawn_blocking(move || super::blocking::run(&task)).await;
        return ran.expect("it does not panic");
    }
    let token = if task.mode == "token" { token_of(&engine, &task.provider).await } else { String::new() };
    let router = Router::new()
        .route("/transactional", post(transactional))
        .route("/undone", post(undone))
        .route("/leased", post(leased))
        .route("/failing", post(failing))
        .route("/stepped", post(stepped))
        .route("/moved", post(moved))
        .route("/carried", post(carried))
        .route("/token", post(submitted))
        .with_state(App { engine, pool, provider: task.provider });
    let request = Request::post(format!("/{}", task.mode)).header("idempotency-key", task.key);
    let request = request.header("idempotency-token", token);
    let response = router.oneshot(request.body(axum::body::Body::empty()).expect("a request")).await;
    let (head, body) = response.unwrap_or_else(|never| match never {}).into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let replayed = head.headers.contains_key("idempotent-replayed");
    format!("{} {replayed} {}", head.status.as_u16(), String::from_utf8_lossy(&body))
}

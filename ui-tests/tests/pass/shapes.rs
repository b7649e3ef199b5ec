//! The shapes of functions that work.
#![deny(warnings)]

use idempotent_runtime::Steps;
use ui_tests::*;

/// Generic, with bounds.
#[idempotent(key = header, ttl = "72h", scope = user.id)]
async fn generic<T>(user: User, State(_): State<T>, #[tx] conn: &mut Db) -> StatusCode
where
    T: Clone + Send + Sync + 'static,
{
    let _ = conn;
    StatusCode::OK
}

/// `impl Trait` in the place of an argument.
#[idempotent(key = event.id, ttl = "7d")]
async fn argument(event: &Event, name: impl Into<String> + Send) -> Result<String, Error> {
    Ok(name.into())
}

/// Lifetimes, constants and types together.
#[idempotent(key = (words[0], N), ttl = "7d")]
async fn parameters<'a, const N: usize, T: Copy>(#[tx] conn: &mut Db, words: &'a [&'a str; N], _t: T) -> Result<usize, Error> {
    let _ = conn;
    Ok(words.len())
}

/// Raw identifiers.
#[idempotent(key = r#type, ttl = "7d")]
async fn r#match(r#type: &str) -> Result<(), Error> {
    Ok(())
}

/// Patterns of every kind; `mut` and `ref` bind by reference in the attribute.
#[idempotent(key = (a, b, c, d), ttl = "7d")]
async fn patterns(mut a: i64, (b, ref c): (i64, String), &d: &i64, [_, _]: [u8; 2]) -> Result<i64, Error> {
    a += b + d + i64::try_from(c.len()).unwrap_or(0);
    Ok(a)
}

/// No arguments at all, and one.
#[idempotent(key = header, ttl = "72h")]
async fn none() -> StatusCode {
    StatusCode::OK
}

#[idempotent(key = header, ttl = "72h")]
async fn one(_body: axum::body::Bytes) -> StatusCode {
    StatusCode::OK
}

/// Only a connection.
#[idempotent(key = header, ttl = "72h")]
async fn only_a_connection(#[tx] _conn: &mut Db) -> StatusCode {
    StatusCode::OK
}

/// Attributes go where they mean something.
#[must_use]
#[allow(clippy::let_unit_value)]
#[idempotent(key = event.id, ttl = "7d")]
#[allow(unused_assignments)]
async fn attributes(event: &Event) -> Result<(), Error> {
    Ok(())
}

#[derive(Clone)]
struct Api;

impl Api {
    /// Without `Self`: nested as ever.
    #[idempotent(key = header, ttl = "72h", name = "Api::plain")]
    async fn plain(user: User) -> StatusCode {
        let _ = user;
        StatusCode::OK
    }

    /// With `Self`, also in a plain function.
    #[idempotent(key = header, ttl = "72h", name = "Api::create", policy = CREATE)]
    async fn create(user: User, #[tx] conn: &mut Db) -> StatusCode {
        let _ = conn;
        Self::status(&user)
    }

    #[idempotent(key = event.id, ttl = "7d", name = "Api::consume")]
    async fn consume(#[tx] conn: &mut Db, event: &Event) -> Result<u16, Error> {
        let _ = conn;
        Ok(Self::status(&User { id: 1 }).as_u16())
    }

    fn status(_: &User) -> StatusCode {
        StatusCode::OK
    }
}

/// Recovery points, in a handler and in a job whose arguments are kept.
#[idempotent(key = header, ttl = "72h", scope = user.id, on_crash = hold, max_attempts = 3)]
async fn stepped(user: User, #[steps] steps: &mut Steps<Db>) -> Result<StatusCode, Failed> {
    let id: i64 = steps.tx("start", async |_conn| Ok::<_, Failed>(1)).await?;
    let charge: String = steps.run("charge", async |key| Ok::<_, Failed>(format!("{key} {id}"))).await?;
    let _ = charge;
    Ok(StatusCode::OK)
}

#[idempotent(name = "jobs.stepped", key = event.id, ttl = "7d", arguments = (&event.id, 1), max_attempts = *limit)]
async fn stepped_job(#[steps] _steps: &mut Steps<Db>, event: &Event, limit: u32) -> Result<(), Error> {
    Ok(())
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

/// A parameter that only the attribute uses raises no warning; neither do those of an async block that is spawned.
#[idempotent(key = event.id, ttl = "7d")]
async fn spawned(#[tx] _conn: &mut Db, event: &Event) -> Result<(), Error> {
    Ok(())
}

fn assert_send<T: Send>(_: T) {}

fn main() {
    let _: axum::Router<App> = axum::Router::new()
        .route("/generic", axum::routing::post(generic::<App>))
        .route("/none", axum::routing::post(none))
        .route("/one", axum::routing::post(one))
        .route("/only", axum::routing::post(only_a_connection))
        .route("/stepped", axum::routing::post(stepped))
        .route("/plain", axum::routing::post(Api::plain))
        .route("/create", axum::routing::post(Api::create));
    let check = |conn: &'static mut Db, event: &'static Event| {
        assert_send(spawned(conn, event));
        assert_send(argument(event, "name"));
        assert_send(stepped_job(event, 1));
    };
    let _ = check;
    let _ = |conn: &'static mut Db| drop(parameters(conn, &["a"], 1));
    let _ = (r#match, patterns, attributes, Api::consume, Api::CREATE);
}

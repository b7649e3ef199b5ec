//! What is answered before an engine is known: in the form of the first that was installed.

#![allow(missing_docs, reason = "a test says in its name what it shows")]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use http::{Request, StatusCode};
use idempotent_runtime::{Error, Idempotency, Profile, Scope, idempotent};
use serde_json::Value;
use tests::sqlite::{Database, Db};
use tower::ServiceExt;

#[idempotent(key = header, ttl = "1h")]
async fn create(body: String) -> (StatusCode, String) {
    (StatusCode::CREATED, body)
}

/// Another connection type, for which no engine is installed.
#[idempotent(key = header, ttl = "1h")]
async fn elsewhere(#[tx] _conn: &mut diesel_async::AsyncPgConnection) -> StatusCode {
    StatusCode::CREATED
}

async fn told(answer: Response) -> (u16, String, Value) {
    let (status, kind) = (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap().to_owned());
    (status, kind, serde_json::from_slice(&to_bytes(answer.into_body(), usize::MAX).await.unwrap()).unwrap())
}

#[tokio::test]
async fn a_request_that_is_refused_before_its_engine_is_known_is_answered_in_the_form_of_the_first() {
    let (status, kind, body) = told(Error::KeyReused.into_response()).await;
    assert_eq!(
        (status, kind.as_str(), &body["error"]["code"]),
        (409, "application/json", &"idempotency_key_reused".into())
    );

    let database = Database::fresh().await.expect("SQLite is everywhere");
    let engine: Idempotency<Db> =
        Idempotency::builder(database.pool(1), Scope::shared()).profile(Profile::Ietf).problem_type("/keys").build();
    engine.migrate().await.unwrap();
    engine.install().unwrap();
    let router = Router::new().route("/", post(create)).route("/elsewhere", post(elsewhere));
    let send = async |path: &str, body: Body| {
        let request = Request::post(path).header("idempotency-key", "\"8e03978e-40d5-43e8\"").body(body).unwrap();
        told(router.clone().oneshot(request).await.unwrap()).await
    };
    let broken = futures_util::stream::iter([Ok("{"), Err(std::io::Error::other("the line went dead"))]);
    for (path, body, status, code) in [
        ("/", Body::from(vec![b'x'; 1024 * 1024 + 1]), 413, "idempotency_body_too_large"),
        ("/", Body::from_stream(broken), 400, "idempotency_body_unreadable"),
        ("/elsewhere", Body::empty(), 500, "idempotency_misconfigured"),
    ] {
        let (answered, kind, body) = send(path, body).await;
        assert_eq!((answered, kind.as_str(), body["code"].as_str()), (status, "application/problem+json", Some(code)));
        assert_eq!((&body["type"], &body["status"]), (&"/keys".into(), &status.into()));
    }
    let (status, kind, body) = told(Error::KeyReused.into_response()).await;
    assert_eq!((status, kind.as_str(), &body["type"]), (422, "application/problem+json", &"/keys".into()));
}

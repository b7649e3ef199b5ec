//! What makes two requests the same request: JSON by what it says, form data by its parts.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use http::{Request, StatusCode};
use idempotent_runtime::idempotent;
use tower::ServiceExt;

use super::app::{Answer, App, Service, insert, key, read};
use super::database::Db;

#[idempotent(key = header, ttl = "1h", fingerprint = json, engine = app.engine)]
async fn by_what_it_says(State(app): State<App>, #[tx] conn: &mut Db, body: Bytes) -> StatusCode {
    insert(conn, &String::from_utf8_lossy(&body)).await;
    StatusCode::CREATED
}

#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn as_sent(State(app): State<App>, body: Bytes) -> (StatusCode, Bytes) {
    (StatusCode::CREATED, body)
}

async fn send(service: &Service, path: &str, key: &str, kind: &str, body: impl Into<Body>) -> Answer {
    let router = Router::new().route("/json", post(by_what_it_says)).route("/bytes", post(as_sent));
    let request = Request::post(path).header("idempotency-key", key).header("content-type", kind);
    let answer = router.with_state(service.app.clone()).oneshot(request.body(body.into()).unwrap()).await;
    read(answer.unwrap()).await
}

const JSON: &str = "application/json";

#[tokio::test(flavor = "multi_thread")]
async fn i34_reordered_members_are_the_same_request_by_what_it_says_and_another_as_sent() {
    let Some(service) = Service::new().await else { return };
    let first = r#"{"item":"book","amount":10}"#;
    let again = "{ \"amount\" : 10,\n  \"item\" : \"\\u0062ook\" }";
    for (path, same) in [("/json", true), ("/bytes", false)] {
        let key = key();
        assert_eq!(send(&service, path, &key, JSON, first).await.status, 201);
        let answer = send(&service, path, &key, JSON, again).await;
        match same {
            true => assert!(answer.replayed(), "{answer:?}"),
            false => drop(answer.expect(409, "idempotency_key_reused")),
        }
    }
    assert_eq!(service.effects().await, [first]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_i37_another_value_or_query_is_another_request_by_what_it_says_too() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    assert_eq!(send(&service, "/json", &key, JSON, r#"{"amount":10,"lines":[1,2]}"#).await.status, 201);
    for other in [
        r#"{"amount":20,"lines":[1,2]}"#,
        r#"{"amount":10.0,"lines":[1,2]}"#,
        r#"{"amount":10,"lines":[2,1]}"#,
        r#"{"amount":10,"lines":[1,2],"amount":10}"#,
        r#"{"amount":10,"lines":[1,2]"#,
    ] {
        send(&service, "/json", &key, JSON, other).await.expect(409, "idempotency_key_reused");
    }
    let query = send(&service, "/json?dry_run=1", &key, JSON, r#"{"amount":10,"lines":[1,2]}"#).await;
    query.expect(409, "idempotency_key_reused");
    assert_eq!(service.effects().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_json_counts_byte_by_byte() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    assert_eq!(send(&service, "/json", &key, "text/plain", "a = 1").await.status, 201);
    assert!(send(&service, "/json", &key, "text/plain", "a = 1").await.replayed());
    send(&service, "/json", &key, "text/plain", "a  = 1").await.expect(409, "idempotency_key_reused");
}

/// As a browser writes it.
fn form(boundary: &str, file: &str) -> (String, String) {
    let part = |head: &str, content: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    };
    let body = part("name=\"amount\"", "10")
        + &part("name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain", file)
        + &format!("--{boundary}--\r\n");
    (format!("multipart/form-data; boundary={boundary}"), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn form_data_in_other_boundaries_is_the_same_request() {
    let Some(service) = Service::new().await else { return };
    for path in ["/json", "/bytes"] {
        let key = key();
        let (kind, body) = form("----drawn-by-lot-8pJq", "content");
        assert_eq!(send(&service, path, &key, &kind, body).await.status, 201);
        let (kind, body) = form("----drawn-again-Xw2f", "content");
        assert!(send(&service, path, &key, &kind, body).await.replayed());
        let (kind, body) = form("----drawn-again-Xw2f", "another content");
        send(&service, path, &key, &kind, body).await.expect(409, "idempotency_key_reused");
        let (_, body) = form("----drawn-by-lot-8pJq", "content");
        let answer = send(&service, path, &key, "application/octet-stream", body).await;
        answer.expect(409, "idempotency_key_reused");
    }
}

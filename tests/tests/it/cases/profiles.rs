//! The profile of the IETF's draft, and what an engine says of its answers.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{any, post};
use futures_util::FutureExt;
use http::{Request, StatusCode};
use idempotent_runtime::{Builder, KeyPolicy, Profile, idempotent};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::app::{Answer, App, Gates, MODES, Service, key, read};

const URL: &str = "https://developer.example.com/idempotency";

async fn service() -> Option<Service> {
    Service::with(8, |builder| builder.profile(Profile::Ietf).problem_type(URL)).await
}

fn quoted(key: &str) -> String {
    format!("\"{key}\"")
}

#[track_caller]
fn problem(answer: &Answer, status: u16, title: &str, code: &str, retryable: bool) {
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    let told = json!({
        "type": URL,
        "title": title,
        "status": status,
        "detail": body["detail"],
        "code": code,
        "retryable": retryable,
    });
    assert_eq!((answer.status, &body), (status, &told));
    assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
    assert_eq!(answer.headers["content-type"], "application/problem+json");
    assert_eq!(answer.headers.contains_key("retry-after"), retryable);
}

#[tokio::test(flavor = "multi_thread")]
async fn i47_a_key_is_one_string_and_a_bare_one_is_refused() {
    let Some(service) = service().await else { return };
    for mode in MODES {
        let key = key();
        let first = service.post(mode, &quoted(&key), "order").await;
        assert_eq!((first.status, first.replayed()), (201, false));
        assert_eq!(first.headers["idempotency-key"], quoted(&key).as_str(), "as it was sent");
        assert!(service.post(mode, &format!("{};v=1", quoted(&key)), "order").await.replayed());
        for sent in [key.clone(), format!("{0}, {0}", quoted(&key)), "\"short\"".into(), "\"open".into()] {
            let refused = service.post(mode, &sent, "order").await;
            problem(&refused, 400, "Idempotency-Key is invalid", "idempotency_key_invalid", false);
        }
        let mut request = super::app::post(mode, &quoted(&key), "order");
        request.headers_mut().append("idempotency-key", quoted(&key).parse().unwrap());
        let refused = service.send(request).await;
        problem(&refused, 400, "Idempotency-Key is invalid", "idempotency_key_invalid", false);
    }
    assert_eq!((service.runs(), service.records().await), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_problems_are_those_of_the_draft() {
    let Some(service) = service().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let service = std::sync::Arc::new(service.on_leased(move |body| {
        let gates = inside.clone();
        async move {
            gates.pass().await;
            (StatusCode::CREATED, body).into_response()
        }
        .boxed()
    }));
    let missing = service.send(Request::post("/leased").body("".into()).unwrap()).await;
    problem(&missing, 400, "Idempotency-Key is missing", "idempotency_key_missing", false);
    let key = quoted(&key());
    let first = tokio::spawn({
        let (service, key) = (service.clone(), key.clone());
        async move { service.post("/leased", &key, "order").await }
    });
    gates.entered().await;
    let in_use = service.post("/leased", &key, "order").await;
    problem(&in_use, 409, "A request is outstanding for this Idempotency-Key", "idempotency_key_in_use", true);
    let reused = service.post("/leased", &key, "another order").await;
    problem(&reused, 422, "Idempotency-Key is already used", "idempotency_key_reused", false);
    gates.let_go();
    assert_eq!(first.await.unwrap().status, 201);
    service.sql("UPDATE idempotency_keys SET body = NULL, status = NULL").await;
    let lost = service.post("/leased", &key, "order").await;
    let title = "The response to the first request with this Idempotency-Key was not stored";
    problem(&lost, 409, title, "idempotency_response_not_stored", false);
    let large = service.post("/leased", &key, vec![b'x'; 1024 * 1024 + 1]).await;
    assert_eq!(large.status, 413);
}

#[idempotent(key = header("X-Request-Id"), ttl = "1h", engine = app.engine)]
async fn by_another_header(State(app): State<App>) -> StatusCode {
    StatusCode::CREATED
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_of_another_name_is_read_as_strictly() {
    let Some(service) = service().await else { return };
    let send = async |key: String| {
        let router = Router::new().route("/", post(by_another_header)).with_state(service.app.clone());
        let request = Request::post("/").header("x-request-id", key).body(axum::body::Body::empty()).unwrap();
        read(router.oneshot(request).await.unwrap()).await
    };
    let key = key();
    let refused = send(key.clone()).await;
    problem(&refused, 400, "Idempotency-Key is invalid", "idempotency_key_invalid", false);
    assert_eq!(send(quoted(&key)).await.status, 201);
    assert_eq!(send(quoted(&key)).await.headers["x-request-id"], quoted(&key).as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_policy_is_asked_for_128_bits() {
    let Some(service) = Service::with(8, |builder| builder.key_policy(KeyPolicy::strict())).await else { return };
    for guessable in ["idem_f47", "00000000-0000-0000-0000-000000000000", "somebody.or.other@example.org"] {
        service.post("/tx", guessable, "").await.expect(400, "idempotency_key_invalid");
    }
    assert_eq!(service.post("/tx", &key(), "").await.status, 201);
    assert_eq!(service.records().await, 1);
}

#[idempotent(name = "tests.kept", key = header, ttl = "forever", engine = app.engine)]
async fn kept_forever(State(app): State<App>) -> StatusCode {
    StatusCode::CREATED
}

fn expiry(answer: &Answer) -> Option<u64> {
    Some(answer.headers.get("idempotency-key-expiry")?.to_str().unwrap().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_says_for_how_long_it_is_kept() {
    let Some(service) = Service::with(8, Builder::expiry_header).await else { return };
    for mode in [MODES[0], MODES[1], "/stepped"] {
        let key = key();
        let first = service.post(mode, &key, "order").await;
        let again = service.post(mode, &key, "order").await;
        let (first, again) = (expiry(&first).unwrap(), expiry(&again).unwrap());
        assert!((3_500..=3_600).contains(&first) && (3_500..=3_600).contains(&again), "{mode}: {first}, {again}");
        assert_eq!(expiry(&service.post(mode, &key, "another order").await), None);
        service.sql("UPDATE idempotency_keys SET expires_at = expires_at - 3000000").await;
        let later = expiry(&service.post(mode, &key, "order").await).unwrap();
        assert!((500..=600).contains(&later), "{mode}: {later}");
        service.sql("DELETE FROM idempotency_keys").await;
    }
    let failing = service.answering(|| StatusCode::BAD_GATEWAY.into_response());
    for mode in MODES {
        assert_eq!(expiry(&failing.post(mode, &key(), "order").await), None, "what is not kept has no expiry");
    }
    let router = Router::new().route("/", any(kept_forever)).with_state(failing.app.clone());
    let key = key();
    for replayed in [false, true] {
        let request = super::app::post("/", &key, "");
        let answer = read(router.clone().oneshot(request).await.unwrap()).await;
        assert_eq!((answer.status, answer.replayed(), expiry(&answer)), (201, replayed, None));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_of_an_expiry_unless_the_service_wants_it() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    assert_eq!(expiry(&service.post("/tx", &key, "").await), None);
    assert_eq!(expiry(&service.post("/tx", &key, "").await), None);
}

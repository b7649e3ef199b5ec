//! The tower layer: whole routers, and any service, under one rule.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::join_all;
use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Full};
use idempotent_runtime::{Caller, Error, Idempotency, IdempotencyLayer, Keep, Scope, idempotent};
use std::sync::atomic::Ordering;
use tokio::sync::Barrier;
use tower::{Layer, ServiceExt, service_fn};

use super::app::{Answer, App, Gates, Service, key, post, read};

/// What stands under the layer.
const UNDER: [Under; 2] = [Under::Router, Under::Bare];

#[derive(Debug, Clone, Copy)]
enum Under {
    /// A router of axum.
    Router,
    /// A service that knows no framework.
    Bare,
}

const DAY: Duration = Duration::from_secs(86_400);

fn layer(service: &Service) -> IdempotencyLayer {
    service.app.engine.layer(DAY).unwrap()
}

async fn run(State(app): State<App>, body: Bytes) -> Response {
    app.runs.fetch_add(1, Ordering::SeqCst);
    (app.leased)(body).await
}

#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn annotated(State(app): State<App>) -> StatusCode {
    app.runs.fetch_add(1, Ordering::SeqCst);
    StatusCode::CREATED
}

fn router(app: &App) -> Router {
    Router::new()
        .route("/", any(run))
        .route("/annotated", any(annotated))
        .nest("/nested", Router::new().route("/", any(run)))
        .with_state(app.clone())
}

/// Sends one request through the layer.
async fn send(under: Under, app: App, layer: IdempotencyLayer, request: Request<Body>) -> Answer {
    let answered = async {
        match under {
            Under::Router => read(router(&app).layer(layer).oneshot(request).await.unwrap()).await,
            Under::Bare => {
                let (head, body) = request.into_parts();
                let request = Request::from_parts(head, Full::new(body.collect().await.unwrap().to_bytes()));
                let bare = service_fn(move |request: Request<Full<Bytes>>| {
                    let app = app.clone();
                    async move {
                        let body = request.into_body().collect().await?.to_bytes();
                        app.runs.fetch_add(1, Ordering::SeqCst);
                        Ok::<_, std::convert::Infallible>((app.leased)(body).await)
                    }
                });
                read(layer.layer(bare).oneshot(request).await.unwrap().map(Body::new)).await
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(90), answered).await.expect("an answer within 90 s")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_same_answer_and_runs_nothing() {
    let Some(service) = Service::new().await else { return };
    let layer = layer(&service);
    for under in UNDER {
        let key = key();
        let sent = |body: &'static str| send(under, service.app.clone(), layer.clone(), post("/", &key, body));
        let before = service.runs();
        let first = sent("one").await;
        assert_eq!((first.status, first.text(), first.replayed()), (201, "one", false));
        assert_eq!(first.headers["idempotency-key"], key.as_str());
        let again = sent("one").await;
        assert_eq!((again.status, again.text(), again.replayed()), (201, "one", true));
        assert_eq!(again.headers["idempotency-key"], key.as_str());
        sent("two").await.expect(409, "idempotency_key_reused");
        assert_eq!(service.runs(), before + 1, "{under:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_at_once_are_one_run() {
    let Some(service) = Service::new().await else { return };
    for under in UNDER {
        let (key, barrier) = (key(), Arc::new(Barrier::new(20)));
        let before = service.runs();
        let tasks = (0..20).map(|_| {
            let (app, layer, barrier) = (service.app.clone(), layer(&service), Arc::clone(&barrier));
            let request = post("/", &key, "order");
            tokio::spawn(async move {
                barrier.wait().await;
                send(under, app, layer, request).await
            })
        });
        let answers: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers.iter().filter(|answer| answer.status == 201 && !answer.replayed()).count(), 1);
        for answer in answers.into_iter().filter(|answer| answer.status != 201) {
            assert!(answer.expect(409, "idempotency_key_in_use").retry_after() >= 1);
        }
        assert_eq!(service.runs(), before + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_needed_where_the_method_needs_one_and_safe_methods_pass() {
    let Some(service) = Service::new().await else { return };
    for under in UNDER {
        let sent = |layer: &IdempotencyLayer, method: &str, name: &str, key: Option<&str>| {
            let request = Request::builder().method(method).uri("/");
            let request = key.into_iter().fold(request, |request, key| request.header(name, key));
            send(under, service.app.clone(), layer.clone(), request.body(Body::empty()).unwrap())
        };
        let (name, key) = ("idempotency-key", key());
        let asks = layer(&service);
        sent(&asks, "POST", name, None).await.expect(400, "idempotency_key_missing");
        sent(&asks, "PATCH", name, None).await.expect(400, "idempotency_key_missing");
        sent(&asks, "POST", name, Some("short")).await.expect(400, "idempotency_key_invalid");
        assert_eq!(service.records().await, 0);
        for method in ["GET", "PUT", "DELETE"] {
            let key = (method == "GET").then_some(key.as_str());
            for _ in 0..2 {
                let passed = sent(&asks, method, name, key).await;
                assert_eq!((passed.status, passed.replayed()), (201, false), "{method}");
            }
        }
        assert_eq!(service.records().await, 0);
        let optional = layer(&service).optional();
        assert_eq!(sent(&optional, "POST", name, None).await.status, 201);
        let other = layer(&service).header("X-Request-Id").unwrap();
        sent(&other, "POST", name, Some(&key)).await.expect(400, "idempotency_key_missing");
        assert!(!sent(&other, "PUT", "x-request-id", Some(&key)).await.replayed());
        let again = sent(&other, "PUT", "x-request-id", Some(&key)).await;
        assert!(again.replayed() && again.headers["x-request-id"] == key.as_str());
        service.sql("DELETE FROM idempotency_keys").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused_or_passed_on_as_in_a_handler() {
    let Some(service) = Service::with(8, |builder| builder.body_limit(1_000).response_limit(500)).await else { return };
    let layer = layer(&service);
    for under in UNDER {
        let before = service.records().await;
        let sent = |key: &str, body: Vec<u8>| send(under, service.app.clone(), layer.clone(), post("/", key, body));
        let key = key();
        let refused = sent(&key, vec![b'x'; 1_001]).await.expect(413, "idempotency_body_too_large");
        assert_eq!(refused.headers["idempotency-key"], key.as_str());
        assert_eq!(service.records().await, before, "nothing was stored");
        let whole = sent(&key, vec![b'x'; 1_000]).await;
        assert_eq!((whole.status, whole.body.len()), (201, 1_000), "passed on whole");
        sent(&key, vec![b'x'; 1_000]).await.expect(409, "idempotency_response_not_stored");
        let small = super::app::key();
        assert_eq!(sent(&small, vec![b'x'; 500]).await.status, 201);
        assert!(sent(&small, vec![b'x'; 500]).await.replayed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_leave_a_tombstone_and_broken_bodies_release() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|body| {
        async move {
            match &body[..] {
                b"events" => ([(CONTENT_TYPE, "text/event-stream")], "data: 1\n\n").into_response(),
                _ => {
                    let broken = [Ok("half"), Err(std::io::Error::other("the source is gone"))];
                    Body::from_stream(futures_util::stream::iter(broken)).into_response()
                }
            }
        }
        .boxed()
    });
    let layer = layer(&service);
    for under in UNDER {
        let sent =
            |key: &str, body: &'static str| send(under, service.app.clone(), layer.clone(), post("/", key, body));
        let (events, broken) = (key(), key());
        assert_eq!(sent(&events, "events").await.text(), "data: 1\n\n");
        sent(&events, "events").await.expect(409, "idempotency_response_not_stored");
        for _ in 0..2 {
            let answer = sent(&broken, "broken").await;
            assert_eq!((answer.status, answer.replayed()), (500, false));
        }
    }
    assert_eq!(service.runs(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn which_answers_are_kept_is_the_layers_to_say() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { StatusCode::UNPROCESSABLE_ENTITY.into_response() }.boxed());
    for under in UNDER {
        for (keep, kept) in [(Keep::Default, true), (Keep::Success, false), (Keep::All, true)] {
            let (layer, key) = (layer(&service).store(keep), key());
            for replayed in [false, kept] {
                let answer = send(under, service.app.clone(), layer.clone(), post("/", &key, "")).await;
                assert_eq!((answer.status, answer.replayed()), (422, replayed), "{keep:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_excepted_passes_untouched() {
    let Some(service) = Service::new().await else { return };
    let layer = layer(&service)
        .except(|parts| parts.uri.path().starts_with("/nested"))
        .except(|parts| parts.headers.contains_key("x-signature"));
    let key = key();
    let sent = |request: Request<Body>| send(Under::Router, service.app.clone(), layer.clone(), request);
    for _ in 0..2 {
        // Also without a key, and with a body beyond the limit.
        let large = Request::post("/nested").body(Body::from(vec![b'x'; 1_500_000])).unwrap();
        assert_eq!(sent(large).await.status, 201);
        let mut signed = post("/", &key, "");
        signed.headers_mut().insert("x-signature", "s".parse().unwrap());
        let passed = sent(signed).await;
        assert_eq!((passed.status, passed.replayed()), (201, false));
    }
    assert_eq!((service.runs(), service.records().await), (4, 0));
    assert!(!sent(post("/", &key, "")).await.replayed());
    assert!(sent(post("/", &key, "")).await.replayed());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_path_is_the_one_the_client_sent_and_not_what_a_nest_leaves_of_it() {
    let Some(service) = Service::new().await else { return };
    let inner = router(&service.app).layer(layer(&service));
    let app = Router::new().nest("/a", inner.clone()).nest("/b", inner);
    let sent = |path: &'static str, key: &str| {
        let (app, request) = (app.clone(), post(path, key, ""));
        async move { read(app.oneshot(request).await.unwrap()).await }
    };
    let key = key();
    assert_eq!(sent("/a", &key).await.status, 201);
    sent("/b", &key).await.expect(409, "idempotency_key_reused");
    assert!(sent("/a", &key).await.replayed());
}

/// Who the caller is, by a header: 401 without one.
async fn authenticate(mut request: axum::extract::Request, next: Next) -> Result<Response, StatusCode> {
    let user = request.headers().get("x-user").ok_or(StatusCode::UNAUTHORIZED)?;
    let caller = Caller::new(user.to_str().map_err(|_| StatusCode::UNAUTHORIZED)?);
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_key_it_is_says_authentication_and_nothing_is_stored_before_it() {
    let Some(mut service) = Service::new().await else { return };
    service.app.engine = Idempotency::builder(service.app.pool.clone(), Scope::caller()).build();
    let key = key();
    let sent = |router: &Router, user: Option<&str>| {
        let (router, mut request) = (router.clone(), post("/", &key, "order"));
        if let Some(user) = user {
            request.headers_mut().insert("x-user", user.parse().unwrap());
        }
        async move { read(router.oneshot(request).await.unwrap()).await }
    };
    let outside = router(&service.app).layer(layer(&service)).layer(from_fn(authenticate));
    assert_eq!(sent(&outside, None).await.status, 401);
    assert_eq!((service.records().await, service.runs()), (0, 0));
    for user in ["alice", "bob"] {
        assert!(!sent(&outside, Some(user)).await.replayed());
        assert!(sent(&outside, Some(user)).await.replayed());
    }
    assert_eq!((service.records().await, service.runs()), (2, 2));
    // The wrong way round, nobody is named yet: nothing is claimed under a key that all would share.
    let inside = router(&service.app).layer(from_fn(authenticate)).layer(layer(&service));
    sent(&inside, Some("alice")).await.expect(400, "idempotency_scope_missing");
    assert_eq!((service.records().await, service.runs()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_is_annotated_itself_is_told_to_be_excepted() {
    let Some(service) = Service::new().await else { return };
    for keep in [Keep::Default, Keep::All] {
        let (layer, key) = (layer(&service).store(keep), key());
        for _ in 0..2 {
            let answer = send(Under::Router, service.app.clone(), layer.clone(), post("/annotated", &key, "")).await;
            assert!(!answer.expect(500, "idempotency_misconfigured").replayed(), "never kept");
        }
        assert_eq!(service.runs(), 0);
    }
    let (layer, key) = (layer(&service).except(|parts| parts.uri.path() == "/annotated"), key());
    for replayed in [false, true] {
        let answer = send(Under::Router, service.app.clone(), layer.clone(), post("/annotated", &key, "")).await;
        assert_eq!((answer.status, answer.replayed()), (201, replayed));
    }
    assert_eq!(service.runs(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_client_that_hangs_up_stops_nothing_and_a_drain_waits() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let service = service.on_leased(move |_| {
        let gates = inside.clone();
        async move {
            gates.pass().await;
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    let layer = layer(&service);
    let keys = [key(), key()];
    for (under, key) in UNDER.into_iter().zip(&keys) {
        let request = tokio::spawn(send(under, service.app.clone(), layer.clone(), post("/", key, "order")));
        gates.entered().await;
        request.abort();
        assert!(request.await.unwrap_err().is_cancelled());
    }
    assert!(!service.app.engine.drain(Duration::from_millis(20)).await);
    gates.let_go();
    gates.let_go();
    assert!(service.app.engine.drain(Duration::from_secs(30)).await);
    for (under, key) in UNDER.into_iter().zip(&keys) {
        assert!(send(under, service.app.clone(), layer.clone(), post("/", key, "order")).await.replayed());
    }
    assert_eq!(service.runs(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_goes_on_to_the_caller_and_gives_the_key_back_or_holds_it() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|body| {
        async move {
            assert_ne!(&body[..], b"panic", "on purpose");
            StatusCode::CREATED.into_response()
        }
        .boxed()
    });
    for under in UNDER {
        for hold in [false, true] {
            let layer = if hold { layer(&service).hold_on_crash() } else { layer(&service) };
            let key = key();
            let sent = || tokio::spawn(send(under, service.app.clone(), layer.clone(), post("/", &key, "panic")));
            assert!(sent().await.unwrap_err().is_panic());
            match hold {
                false => assert!(sent().await.unwrap_err().is_panic(), "it runs again"),
                true => drop(sent().await.unwrap().expect(409, "idempotency_outcome_unknown")),
            }
        }
    }
    assert_eq!(service.runs(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_is_abandoned_as_often_as_is_allowed_is_held() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_leased(|_| async { StatusCode::BAD_GATEWAY.into_response() }.boxed());
    let layer = layer(&service).max_attempts(2).lease(Duration::from_secs(5)).unwrap();
    let key = key();
    let sent = || send(Under::Bare, service.app.clone(), layer.clone(), post("/", &key, ""));
    for _ in 0..2 {
        assert_eq!(sent().await.status, 502);
        // As a crash would leave it.
        service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0").await;
    }
    sent().await.expect(409, "idempotency_outcome_unknown");
    assert_eq!(service.runs(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_service_inside_is_passed_on_and_gives_the_key_back() {
    let Some(service) = Service::new().await else { return };
    let failing = service_fn(|_: Request<Full<Bytes>>| async { Err::<Response, _>("the backend is gone") });
    let under = layer(&service).layer(failing);
    for _ in 0..2 {
        let request = Request::post("/").header("idempotency-key", "the-same-key").body(Full::default()).unwrap();
        assert_eq!(under.clone().oneshot(request).await.unwrap_err(), "the backend is gone");
        assert_eq!(service.state().await, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_refused_when_the_layer_is_made() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    for ttl in [Duration::ZERO, Duration::MAX] {
        assert!(matches!(engine.layer(ttl), Err(Error::Misconfigured(_))));
    }
    let minute = || engine.layer(Duration::from_secs(60)).unwrap();
    for lease in [Duration::ZERO, Duration::from_secs(61), Duration::MAX] {
        assert!(matches!(minute().lease(lease), Err(Error::Misconfigured(_))));
    }
    assert!(minute().lease(Duration::from_secs(60)).is_ok());
    for name in ["", "two words", "naïve"] {
        assert!(matches!(minute().header(name), Err(Error::Misconfigured(_))));
    }
}

//! One-time tokens: issued first, then good for one run.

use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use futures_util::FutureExt;
use futures_util::future::join_all;
use http::{Request, StatusCode};

use super::app::{Answer, Gates, Service, insert};

/// A service for each store of tokens: the records, and Redis.
async fn services() -> Vec<Service> {
    let Some(in_records) = Service::new().await else { return Vec::new() };
    let mut services = vec![in_records];
    if let Some(redis) = super::app::redis_tokens().await {
        services.extend(Service::with(8, |builder| builder.tokens(redis)).await);
    }
    services
}

const FORM: &str = "application/x-www-form-urlencoded";
/// The routes that give answers back, each with the name of its operation.
const ROUTES: [(&str, &str); 2] = [("/token/tx", "tests.tx"), ("/token/leased", "tests.leased")];
const TTL: Duration = Duration::from_secs(600);

async fn issued(service: &Service, user: &str, operation: &str) -> String {
    service.app.engine.issue_token(user, operation, TTL).await.unwrap().as_str().to_owned()
}

async fn submit(service: &Service, path: &str, user: &str, token: &str, body: &str) -> Answer {
    let request = Request::post(path).header("x-user", user).header("idempotency-token", token);
    service.send(request.body(body.to_owned().into()).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_use_runs_and_every_repeat_gets_its_answer() {
    for service in services().await {
        for (path, operation) in ROUTES {
            let token = issued(&service, "ann", operation).await;
            let before = service.runs();
            let first = submit(&service, path, "ann", &token, "order").await;
            assert_eq!((first.status, first.replayed()), (201, false), "{path} {first:?}");
            let again = submit(&service, path, "ann", &token, "order").await;
            assert_eq!((again.status, &again.body, again.replayed()), (201, &first.body, true), "{path}");
            submit(&service, path, "ann", &token, "another order").await.expect(409, "idempotency_key_reused");
            assert_eq!(service.runs(), before + 1, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_carries_its_token_in_a_field() {
    for service in services().await {
        let token = issued(&service, "ann", "tests.tx").await;
        let send = || {
            let request = Request::post("/token/tx").header("x-user", "ann").header("content-type", FORM);
            service.send(request.body(format!("item=book&token={token}").into()).unwrap())
        };
        assert_eq!(send().await.status, 201);
        assert!(send().await.replayed());
        assert_eq!(service.effects().await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_not_issued_here_runs_nothing_and_leaves_nothing() {
    for service in services().await {
        for (path, operation) in ROUTES {
            let token = issued(&service, "ann", operation).await;
            let (records, runs) = (service.records().await, service.runs());
            let mut altered = token.clone().into_bytes();
            altered[7] ^= 1;
            let altered = String::from_utf8_lossy(&altered).into_owned();
            let guessed = "A".repeat(43);
            for (user, sent, what) in [
                ("bob", token.as_str(), "another user's"),
                ("ann", altered.as_str(), "altered by one bit"),
                ("ann", guessed.as_str(), "guessed"),
                ("ann", "x", "no token at all"),
                ("ann", "' OR 1=1 --", "an attempt"),
            ] {
                submit(&service, path, user, sent, "order").await.expect(403, "idempotency_token_invalid");
                assert_eq!((service.records().await, service.runs()), (records, runs), "{path} {what}");
            }
            let other = if path == "/token/tx" { "/token/leased" } else { "/token/tx" };
            submit(&service, other, "ann", &token, "order").await.expect(403, "idempotency_token_invalid");
            // Nobody has used it up.
            assert_eq!(submit(&service, path, "ann", &token, "order").await.status, 201, "{path}");
            // And whoever has it not learns nothing of the answer.
            submit(&service, path, "bob", &token, "order").await.expect(403, "idempotency_token_invalid");
        }
        let missing = Request::post("/token/tx").header("x-user", "ann").body(axum::body::Body::empty()).unwrap();
        service.send(missing).await.expect(400, "idempotency_token_missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_whose_time_is_over_is_none_before_its_use_and_after() {
    let Some(service) = Service::new().await else { return };
    for (path, operation) in ROUTES {
        let (unused, used) = (issued(&service, "ann", operation).await, issued(&service, "ann", operation).await);
        submit(&service, path, "ann", &used, "order").await;
        let runs = service.runs();
        service.sql("UPDATE idempotency_keys SET expires_at = 1").await;
        for token in [&unused, &used] {
            submit(&service, path, "ann", token, "order").await.expect(403, "idempotency_token_invalid");
        }
        service.app.engine.sweep().await.unwrap();
        for token in [&unused, &used] {
            submit(&service, path, "ann", token, "order").await.expect(403, "idempotency_token_invalid");
        }
        assert_eq!((service.records().await, service.runs()), (0, runs), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_double_click_one_runs() {
    for service in services().await {
        for (path, operation) in ROUTES {
            for _ in 0..5 {
                let (token, before) = (issued(&service, "ann", operation).await, service.runs());
                let clicks = join_all((0..8).map(|_| submit(&service, path, "ann", &token, "order"))).await;
                for click in &clicks {
                    match click.status {
                        201 => {}
                        409 => assert_eq!(click.code(), "idempotency_key_in_use"),
                        _ => panic!("{path} {click:?}"),
                    }
                }
                assert_eq!(service.runs(), before + 1, "{path}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_gives_the_token_back_and_a_refusal_is_kept() {
    for service in services().await {
        let service = service
            .on_tx(|conn, body| {
                async move {
                    insert(conn, "effect").await;
                    answer_of(&body)
                }
                .boxed()
            })
            .on_leased(|body| async move { answer_of(&body) }.boxed());
        for (path, operation) in ROUTES {
            let (token, before) = (issued(&service, "ann", operation).await, service.runs());
            for _ in 0..2 {
                assert_eq!(submit(&service, path, "ann", &token, "503").await.status, 503);
            }
            assert_eq!(service.runs(), before + 2, "{path}");
            let refused = issued(&service, "ann", operation).await;
            assert_eq!(submit(&service, path, "ann", &refused, "422").await.status, 422);
            assert!(submit(&service, path, "ann", &refused, "422").await.replayed());
            assert_eq!(service.runs(), before + 3, "{path}");
        }
        assert_eq!(service.effects().await, Vec::<String>::new());
    }
}

fn answer_of(body: &[u8]) -> axum::response::Response {
    StatusCode::from_bytes(body).unwrap().into_response()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_route_that_gives_no_answers_back_says_that_the_token_was_used() {
    for service in services().await {
        let gates = Gates::new();
        let entering = gates.clone();
        let service = Arc::new(service.on_leased(move |_| {
            let gates = entering.clone();
            async move {
                gates.pass().await;
                StatusCode::CREATED.into_response()
            }
            .boxed()
        }));
        let token = issued(&service, "ann", "tests.once").await;
        let send = || {
            let request = Request::post("/token/once").header("x-user", "ann").header("x-csrf-token", &token);
            service.sending(request.body(axum::body::Body::empty()).unwrap())
        };
        let first = tokio::spawn(send());
        gates.entered().await;
        send().await.expect(409, "idempotency_key_in_use");
        gates.let_go();
        assert_eq!(first.await.unwrap().status, 201);
        send().await.expect(409, "idempotency_token_used");
        assert_eq!(service.runs(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_issues_tokens_to_whom_the_engines_rule_names() {
    use idempotent_runtime::{Builder, Idempotency, Scope};
    let Some(mut service) = Service::new().await else { return };
    let by_user = Scope::of(|parts| Some(parts.headers.get("x-user")?.to_str().ok()?.to_owned()));
    let builder: Builder<_> = Idempotency::builder(service.app.pool.clone(), by_user);
    service.app.engine = builder.build();
    let ask = |user: Option<&str>| {
        let mut request = Request::post("/tokens");
        if let Some(user) = user {
            request = request.header("x-user", user);
        }
        service.send(request.body(axum::body::Body::empty()).unwrap())
    };
    let answer = ask(Some("ann")).await;
    assert_eq!((answer.status, &answer.headers["cache-control"]), (201, &"no-store".parse().unwrap()));
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["expires_in"], 600);
    let token = body["token"].as_str().unwrap();
    submit(&service, "/token/tx", "bob", token, "order").await.expect(403, "idempotency_token_invalid");
    assert_eq!(submit(&service, "/token/tx", "ann", token, "order").await.status, 201);
    let nobody = ask(None).await.expect(400, "idempotency_scope_missing");
    assert!(!nobody.text().contains("token\":"));
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_asked_before_anything_runs_and_once() {
    use idempotent_runtime::{Spent, Ticket, TokenStore, TokenStoreError};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A store that can be away.
    #[derive(Clone, Default)]
    struct Shaky {
        is_away: Arc<AtomicBool>,
        /// Each with whether it is spent.
        tickets: Arc<Mutex<Vec<(Ticket, bool)>>>,
    }

    impl TokenStore for Shaky {
        fn issue<'t>(
            &'t self,
            ticket: &'t Ticket,
            _: Duration,
        ) -> futures_util::future::BoxFuture<'t, Result<(), TokenStoreError>> {
            self.tickets.lock().unwrap().push((ticket.clone(), false));
            async { Ok(()) }.boxed()
        }

        fn spend<'t>(
            &'t self,
            ticket: &'t Ticket,
            _: Duration,
        ) -> futures_util::future::BoxFuture<'t, Result<Spent, TokenStoreError>> {
            async move {
                if self.is_away.load(Ordering::SeqCst) {
                    return Err("away".into());
                }
                let mut tickets = self.tickets.lock().unwrap();
                Ok(match tickets.iter_mut().find(|(issued, _)| issued == ticket) {
                    None => Spent::Never,
                    Some((_, true)) => Spent::Before,
                    Some((_, spent)) => {
                        *spent = true;
                        Spent::Now
                    }
                })
            }
            .boxed()
        }
    }

    let store = Shaky::default();
    let Some(service) = Service::with(8, |builder| builder.tokens(store.clone())).await else { return };
    for (path, operation) in ROUTES {
        let (token, before) = (issued(&service, "ann", operation).await, service.runs());
        store.is_away.store(true, Ordering::SeqCst);
        submit(&service, path, "ann", &token, "order").await.expect(503, "idempotency_unavailable");
        assert_eq!(service.runs(), before, "{path}");
        store.is_away.store(false, Ordering::SeqCst);
        // As if its request had died between the two places: it is spent, and nothing has run.
        let spent: Vec<_> =
            store.tickets.lock().unwrap().iter_mut().map(|(_, spent)| std::mem::replace(spent, true)).collect();
        assert!(spent.last().is_some_and(|spent| !spent));
        assert_eq!(submit(&service, path, "ann", &token, "order").await.status, 201, "{path}");
        // From now on the record says all.
        store.is_away.store(true, Ordering::SeqCst);
        assert!(submit(&service, path, "ann", &token, "order").await.replayed(), "{path}");
        store.is_away.store(false, Ordering::SeqCst);
        // Also where the store has lost that the token was spent, or the token itself.
        store.tickets.lock().unwrap().iter_mut().for_each(|(_, spent)| *spent = false);
        assert!(submit(&service, path, "ann", &token, "order").await.replayed(), "{path}");
        store.tickets.lock().unwrap().clear();
        assert!(submit(&service, path, "ann", &token, "order").await.replayed(), "{path}");
        assert_eq!(service.runs(), before + 1, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_stored_as_its_hash_alone() {
    let Some(service) = Service::new().await else { return };
    let token = issued(&service, "ann", "tests.tx").await;
    let count = async |of: &str| {
        service.sql(&format!("UPDATE idempotency_keys SET held = 0 WHERE key = '{of}'")).await;
        service.state_of(of).await
    };
    let hashed = {
        use std::fmt::Write as _;
        let digest = <sha2::Sha256 as sha2::Digest>::digest(token.as_bytes());
        digest.iter().fold(String::from("token:"), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    assert_eq!(count(&hashed).await, 2, "released, and asked nothing under yet");
    // Who reads the table and sends what is there gets nowhere.
    submit(&service, "/token/tx", "ann", &hashed, "order").await.expect(403, "idempotency_token_invalid");
}

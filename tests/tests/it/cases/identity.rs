//! Whose key it is, and which operation.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::post;
use http::{Request, StatusCode};
use idempotent_runtime::{Idempotency, Scope, idempotent};
use tower::ServiceExt;

use super::app::{App, Service, insert, key, read};
use super::database::Db;

#[idempotent(key = header, ttl = "1h", engine = app.engine)]
async fn by_rule(State(app): State<App>, #[tx] conn: &mut Db) -> StatusCode {
    insert(conn, "order").await;
    StatusCode::CREATED
}

async fn service_with(scope: Scope) -> Option<Service> {
    let mut service = Service::new().await?;
    service.app.engine = Idempotency::builder(service.app.pool.clone(), scope).build();
    Some(service)
}

async fn send(service: &Service, request: Request<Body>) -> super::app::Answer {
    let router = Router::new().route("/", post(by_rule)).with_state(service.app.clone());
    read(router.oneshot(request).await.unwrap()).await
}

fn request(key: &str) -> http::request::Builder {
    Request::post("/").header("idempotency-key", key)
}

#[tokio::test(flavor = "multi_thread")]
async fn i63_a_shared_scope_is_one_scope() {
    let Some(service) = service_with(Scope::shared()).await else { return };
    let key = key();
    let first = send(&service, request(&key).body(Body::empty()).unwrap()).await;
    let again = send(&service, request(&key).body(Body::empty()).unwrap()).await;
    assert!(!first.replayed() && again.replayed());
    assert_eq!(service.effects().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_names_nobody_refuses_and_stores_nothing() {
    let rule = Scope::of(|parts| Some(parts.headers.get("x-tenant")?.to_str().ok()?.to_owned()));
    let Some(service) = service_with(rule).await else { return };
    let key = key();
    send(&service, request(&key).body(Body::empty()).unwrap()).await.expect(400, "idempotency_scope_missing");
    let empty = request(&key).header("x-tenant", "").body(Body::empty()).unwrap();
    send(&service, empty).await.expect(400, "idempotency_scope_missing");
    for tenant in ["a", "b"] {
        let answer = send(&service, request(&key).header("x-tenant", tenant).body(Body::empty()).unwrap()).await;
        assert_eq!((answer.status, answer.replayed()), (201, false));
    }
    assert_eq!((service.records().await, service.effects().await.len()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_keeps_services_of_one_database_apart() {
    let Some(service) = Service::new().await else { return };
    let billing = service.another(|builder| builder.namespace("billing")).await;
    let key = key();
    assert!(!service.post("/tx", &key, "one").await.replayed());
    assert!(!billing.post("/tx", &key, "two").await.replayed());
    assert!(billing.post("/tx", &key, "two").await.replayed());
}

#[tokio::test(flavor = "multi_thread")]
async fn i45_keys_that_differ_in_case_or_by_a_hair_are_different_keys() {
    let Some(service) = Service::new().await else { return };
    for key in ["case-sensitive", "CASE-SENSITIVE", "case-sensitive ", "case-sensitive-"] {
        let answer = service.post("/tx", key, key.trim().to_owned()).await;
        assert_eq!(
            answer.replayed(),
            key == "case-sensitive ",
            "{key:?}: blanks around a header value are no part of it"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i47_a_quoted_and_a_bare_key_are_one() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    let quoted = format!("\"{key}\"");
    assert!(!service.post("/tx", &quoted, "").await.replayed());
    let again = service.post("/tx", &key, "").await;
    assert!(again.replayed());
    assert_eq!(again.headers["idempotency-key"], key.as_str(), "as it was sent this time");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_is_installed_once_for_its_connection_type() {
    let Some(service) = Service::new().await else { return };
    service.app.engine.install().unwrap();
    let second = service.app.engine.install().unwrap_err();
    assert_eq!(second.code(), "idempotency_misconfigured");
    assert!(second.to_string().contains("engine = …"), "{second}");
}

mod here {
    use super::super::database::Db;
    use idempotent_runtime::{Error, Idempotency, idempotent};

    #[idempotent(name = "tests.likes", key = post, ttl = "1h", engine = engine)]
    pub(super) async fn like(engine: &Idempotency<Db>, post: i64) -> Result<i64, Error> {
        Ok(post)
    }
}

mod there {
    use super::super::database::Db;
    use idempotent_runtime::{Error, Idempotency, idempotent};

    #[idempotent(name = "tests.likes", key = post, ttl = "1h", engine = engine)]
    pub(super) async fn like_again(engine: &Idempotency<Db>, post: i64) -> Result<i64, Error> {
        panic!("{post} ran under another function's name")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_functions_of_one_operation_name_are_refused_and_both_are_named() {
    let Some(service) = Service::new().await else { return };
    let engine = &service.app.engine;
    here::like(engine, 1).await.unwrap();
    for post in [1, 2] {
        let refused = there::like_again(engine, post).await.unwrap_err();
        assert_eq!(refused.code(), "idempotency_misconfigured");
        let text = refused.to_string();
        for said in ["here::like`", "there::like_again`", "`tests.likes`", "identity.rs:", "name = "] {
            assert!(text.contains(said), "{text}");
        }
    }
    here::like(engine, 2).await.unwrap();
}

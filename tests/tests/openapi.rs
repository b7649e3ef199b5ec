//! The published policy of routes, alone and in a document of utoipa.

#![allow(missing_docs, reason = "a test says in its name what it shows")]

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json, Router};
use http::{Method, Request, StatusCode};
use idempotent_runtime::{Builder, Idempotency, KeyPolicy, Profile, RoutePolicy, Scope, idempotent};
use serde_json::{Value, json};
use tests::sqlite::{Database, Db};
use tower::ServiceExt;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::{OpenApi, ToSchema};

#[derive(Clone)]
struct App {
    engine: Idempotency<Db>,
}

#[derive(ToSchema, serde::Deserialize)]
struct NewOrder {
    item: String,
}

/// Creates an order.
#[utoipa::path(
    post,
    path = "/orders",
    request_body = NewOrder,
    params(("Accept-Language" = Option<String>, Header, description = "Of the answer.")),
    responses((status = 201, description = "Created"), (status = 422, description = "An amount below zero"))
)]
#[idempotent(key = header, ttl = "72h", fingerprint = json, in_flight = wait("2500ms"), engine = app.engine, policy = CREATE_ORDER)]
async fn create_order(State(app): State<App>, Json(new): Json<NewOrder>) -> StatusCode {
    match new.item.is_empty() {
        true => StatusCode::UNPROCESSABLE_ENTITY,
        false => StatusCode::CREATED,
    }
}

#[idempotent(http, name = "likes.add", key = 1, ttl = "forever", fingerprint = none, engine = app.engine, policy = LIKE)]
async fn like(State(app): State<App>) -> StatusCode {
    StatusCode::CREATED
}

#[idempotent(key = header("X-Request-Id", optional), ttl = ttl.0, store = |status| status.is_success(), engine = app.engine, policy = BY_TTL)]
async fn by_ttl(State(app): State<App>, Extension(ttl): Extension<Lifetime>) -> StatusCode {
    StatusCode::CREATED
}

#[derive(Clone)]
struct Lifetime(std::time::Duration);

#[derive(OpenApi)]
#[openapi(paths(create_order))]
struct Document;

async fn engine(set: impl FnOnce(Builder<Db>) -> Builder<Db>) -> (Database, Idempotency<Db>) {
    let database = Database::fresh().await.expect("SQLite is everywhere");
    let engine = set(Idempotency::builder(database.pool(1), Scope::shared())).build();
    (database, engine)
}

async fn described(policy: RoutePolicy, method: Method, set: impl FnOnce(Builder<Db>) -> Builder<Db>) -> Value {
    policy.openapi(&engine(set).await.1, &method)
}

fn codes(response: &Value) -> Value {
    let (_, content) = response["content"].as_object().unwrap().iter().next().unwrap();
    let properties = &content["schema"]["properties"];
    let error = if properties["error"].is_null() { properties } else { &properties["error"]["properties"] };
    error["code"]["enum"].clone()
}

#[tokio::test]
async fn a_route_says_what_its_key_must_be_and_what_it_may_answer() {
    let operation = described(CREATE_ORDER, Method::POST, |builder| builder).await;
    let key = &operation["parameters"][0];
    assert_eq!(
        (&key["name"], &key["in"], &key["required"]),
        (&json!("Idempotency-Key"), &json!("header"), &json!(true))
    );
    assert_eq!(key["schema"]["minLength"], 8);
    assert_eq!(key["schema"]["maxLength"], 255);
    let responses = operation["responses"].as_object().unwrap();
    assert_eq!(responses.keys().collect::<Vec<_>>(), ["400", "409", "413", "503"]);
    let conflicts = codes(&responses["409"]);
    assert_eq!(
        conflicts,
        json!([
            "idempotency_key_reused",
            "idempotency_key_in_use",
            "idempotency_outcome_unknown",
            "idempotency_response_not_stored"
        ])
    );
    assert!(responses["409"]["headers"]["Retry-After"].is_object());
    assert!(responses["400"]["headers"].is_null());
    assert_eq!(
        operation["x-idempotency"],
        json!({
            "ttlSeconds": 259_200,
            "keptForever": false,
            "expiryHeader": null,
            "fingerprint": "json",
            "inFlight": "wait",
            "longestWaitSeconds": 3,
            "stored": "default",
        })
    );
}

#[tokio::test]
async fn the_profile_and_the_policy_of_the_engine_are_published_too() {
    let strict = |builder: Builder<Db>| {
        let url = "https://developer.example.com/idempotency";
        builder.profile(Profile::Ietf).problem_type(url).key_policy(KeyPolicy::strict()).expiry_header()
    };
    let operation = described(CREATE_ORDER, Method::POST, strict).await;
    let schema = &operation["parameters"][0]["schema"];
    assert_eq!((&schema["minLength"], &schema["maxLength"]), (&json!(24), &json!(512)));
    let responses = operation["responses"].as_object().unwrap();
    assert_eq!(responses.keys().collect::<Vec<_>>(), ["400", "409", "413", "422", "503"]);
    assert_eq!(codes(&responses["422"]), json!(["idempotency_key_reused"]));
    let problem = &responses["422"]["content"]["application/problem+json"]["schema"]["properties"];
    assert_eq!(problem["type"]["enum"], json!(["https://developer.example.com/idempotency"]));
    assert_eq!(operation["x-idempotency"]["expiryHeader"], "Idempotency-Key-Expiry");
}

#[tokio::test]
async fn whether_a_key_is_required_is_a_question_of_the_method() {
    let put = described(CREATE_ORDER, Method::PUT, |builder| builder).await;
    assert_eq!(put["parameters"][0]["required"], false);
    assert_eq!(
        codes(&put["responses"]["400"]),
        json!(["idempotency_key_invalid", "idempotency_scope_missing", "idempotency_body_unreadable"])
    );
    assert_eq!(described(CREATE_ORDER, Method::GET, |builder| builder).await, json!({}), "never claimed");
    let optional = described(BY_TTL, Method::POST, |builder| builder).await;
    assert_eq!(optional["parameters"][0]["name"], "X-Request-Id");
    assert_eq!(optional["parameters"][0]["required"], false);
    assert_eq!(optional["x-idempotency"]["ttlSeconds"], Value::Null);
    assert_eq!(optional["x-idempotency"]["stored"], "rule");
}

#[tokio::test]
async fn a_key_that_is_no_header_is_no_parameter() {
    let operation = described(LIKE, Method::POST, |builder| builder).await;
    assert_eq!(operation["parameters"], json!([]));
    assert_eq!(
        codes(&operation["responses"]["400"]),
        json!(["idempotency_scope_missing", "idempotency_body_unreadable"])
    );
    assert_eq!(operation["x-idempotency"]["keptForever"], true);
    assert_eq!(operation["x-idempotency"]["fingerprint"], "none");
}

#[tokio::test]
async fn what_is_published_is_what_is_answered() {
    let (_database, engine) = engine(|builder| builder.profile(Profile::Ietf)).await;
    engine.migrate().await.unwrap();
    let router = Router::new()
        .route("/orders", post(create_order))
        .route("/likes", post(like))
        .route("/by_ttl", post(by_ttl))
        .layer(Extension(Lifetime(std::time::Duration::from_secs(60))))
        .with_state(App { engine: engine.clone() });
    let send = async |path: &str, headers: &[(&str, &str)]| {
        let mut request = Request::post(path).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = router.clone().oneshot(request.body(Body::from("{\"item\":\"book\"}")).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice::<Value>(&body).unwrap_or_default()["code"].take())
    };
    let (bare, quoted) = ("5e1f8a52-7f0b-4a7e-9a4e-1c7a3f0d2b11", "\"5e1f8a52-7f0b-4a7e-9a4e-1c7a3f0d2b11\"");
    for (policy, path, headers, expected) in [
        (CREATE_ORDER, "/orders", vec![], Some("idempotency_key_missing")),
        (CREATE_ORDER, "/orders", vec![("idempotency-key", bare)], Some("idempotency_key_invalid")),
        (CREATE_ORDER, "/orders", vec![("idempotency-key", quoted)], None),
        (BY_TTL, "/by_ttl", vec![("x-request-id", quoted)], Some("idempotency_key_reused")),
        (BY_TTL, "/by_ttl", vec![], None),
        (LIKE, "/likes", vec![], None),
    ] {
        let (status, code) = send(path, &headers).await;
        let Some(expected) = expected else {
            assert_eq!((status, code), (201, Value::Null), "{path}");
            continue;
        };
        assert_eq!(code, expected, "{path}");
        let published = &policy.openapi(&engine, &Method::POST)["responses"][status.to_string()];
        assert!(codes(published).as_array().unwrap().contains(&code), "{path}: {status} {code}");
    }
}

/// Adds what the toolkit does to what utoipa knows of a handler: as an application does it.
fn add(operation: &mut Operation, policy: Value) -> serde_json::Result<()> {
    let Operation { parameters, responses, extensions, .. } = serde_json::from_value(policy)?;
    operation.parameters.get_or_insert_default().extend(parameters.unwrap_or_default());
    for (status, response) in responses.responses {
        operation.responses.responses.entry(status).or_insert(response);
    }
    operation.extensions.get_or_insert_default().merge(extensions.unwrap_or_default());
    Ok(())
}

#[tokio::test]
async fn the_policy_goes_into_a_document_of_utoipa() {
    let mut document = Document::openapi();
    let policy = described(CREATE_ORDER, Method::POST, |builder| builder.profile(Profile::Ietf)).await;
    let route = document.paths.paths.get_mut("/orders").unwrap();
    add(route.post.as_mut().unwrap(), policy).unwrap();

    let written = serde_json::to_value(&document).unwrap();
    let read: utoipa::openapi::OpenApi = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
    let operation = &written["paths"]["/orders"]["post"];
    let names: Vec<_> = operation["parameters"].as_array().unwrap().iter().map(|each| &each["name"]).collect();
    assert_eq!(names, ["Accept-Language", "Idempotency-Key"]);
    let statuses: Vec<_> = operation["responses"].as_object().unwrap().keys().collect();
    assert_eq!(statuses, ["201", "400", "409", "413", "422", "503"]);
    assert_eq!(operation["responses"]["422"]["description"], "An amount below zero", "what is there stays");
    assert_eq!(operation["responses"]["409"]["headers"]["Retry-After"]["schema"]["type"], "integer");
    assert_eq!(operation["x-idempotency"]["ttlSeconds"], 259_200);
}

#[tokio::test]
async fn utoipa_reads_every_part() {
    for profile in [Profile::Stripe, Profile::Ietf] {
        let policy = described(CREATE_ORDER, Method::POST, |builder| builder.profile(profile)).await;
        let key: Parameter = serde_json::from_value(policy["parameters"][0].clone()).unwrap();
        assert_eq!(key.name, "Idempotency-Key");
        assert!(key.parameter_in == ParameterIn::Header && key.required == Required::True && key.schema.is_some());
        let operation: Operation = serde_json::from_value(policy.clone()).unwrap();
        let written = serde_json::to_value(&operation).unwrap();
        for part in ["parameters", "x-idempotency"] {
            assert_eq!(written[part], policy[part], "{part} is neither lost nor changed");
        }
    }
}

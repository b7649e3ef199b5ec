//! What the toolkit does outside the database: a handler over a store that keeps nothing, against the same handler
//! without the attribute.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use axum::{Router, body::Body};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, StatusCode};
use idempotent_runtime::__private::Nowhere;
use idempotent_runtime::{ConnectionPool, Idempotency, PoolError, Pooled, Scope, idempotent};
use serde_json::{Map, Value, json};
use tower::ServiceExt;

use crate::options::Options;
use crate::rounds::{Side, measure, round};

/// Hands out connections to the store that keeps nothing.
struct Anywhere;

impl ConnectionPool<Nowhere> for Anywhere {
    fn get(&self) -> BoxFuture<'_, Result<Pooled<Nowhere>, PoolError>> {
        async { Ok(Pooled::new(Box::new(Nowhere))) }.boxed()
    }
}

async fn bare(body: Bytes) -> (StatusCode, Bytes) {
    (StatusCode::CREATED, body)
}

#[idempotent(name = "bench.in_process.transactional", key = header, ttl = "72h", engine = engine)]
async fn transactional(
    State(engine): State<Idempotency<Nowhere>>,
    #[tx] _conn: &mut Nowhere,
    body: Bytes,
) -> (StatusCode, Bytes) {
    (StatusCode::CREATED, body)
}

#[idempotent(name = "bench.in_process.leased", key = header, ttl = "72h", engine = engine)]
async fn leased(State(engine): State<Idempotency<Nowhere>>, body: Bytes) -> (StatusCode, Bytes) {
    (StatusCode::CREATED, body)
}

/// Microseconds that an annotated handler takes more than the bare one, with bodies of 1 KB and 64 KB both ways.
///
/// On a runtime of one thread: what is measured is the work, and not how a machine wakes its other threads for it.
pub(crate) fn in_process(options: &Options) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(compare(options))
}

async fn compare(options: &Options) -> Value {
    let engine = Idempotency::builder(Anywhere, Scope::shared()).build();
    let router = Router::new()
        .route("/bare", post(bare))
        .route("/transactional", post(transactional))
        .route("/leased", post(leased))
        .with_state(engine);
    let mut figures = Map::new();
    for (size, bytes) in [("1KB", 1_024), ("64KB", 65_536)] {
        let body = Bytes::from(vec![b'x'; bytes]);
        let side = |name, path: &'static str| {
            let (router, body) = (router.clone(), body.clone());
            Side::new(name, move |_| {
                let (router, body) = (router.clone(), body.clone());
                async move {
                    let key = uuid::Uuid::new_v4().to_string();
                    let request = Request::post(path).header("idempotency-key", key).body(Body::from(body));
                    let answer =
                        router.oneshot(request.expect("a request")).await.unwrap_or_else(|never| match never {});
                    let read = axum::body::to_bytes(answer.into_body(), usize::MAX).await.expect("a body");
                    assert!(!read.is_empty());
                }
            })
        };
        let mut sides = vec![side("bare", "/bare"), side("transactional", "/transactional"), side("leased", "/leased")];
        sides.retain(|side| options.side(side.name));
        let timings = measure(&sides, 1, options.rounds(), Duration::from_millis(100)).await;
        let Some([transactional, leased]) = ["transactional", "leased"]
            .map(|name| Some(round(timings.micros(name)?.median - timings.micros("bare")?.median)))
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .and_then(|both| <[f64; 2]>::try_from(both).ok())
        else {
            continue;
        };
        println!(
            "in process, {size:<5}{transactional:>8.2} µs more in a transaction, {leased:.2} µs more under a lease"
        );
        figures.insert(size.to_owned(), json!(transactional.max(leased)));
        figures.insert(format!("{size}_transactional"), json!(transactional));
        figures.insert(format!("{size}_leased"), json!(leased));
    }
    Value::Object(figures)
}

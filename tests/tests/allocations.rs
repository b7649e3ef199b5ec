//! What an annotated handler allocates more than a bare one: a few small things for each call, and no copy of a body.
//!
//! Over a store that keeps nothing, on one thread: what is counted is the toolkit's own work.

use allocation_counter::{AllocationInfo, measure};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::routing::post;
use axum::{Router, body::to_bytes};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, StatusCode};
use idempotent_runtime::__private::Nowhere;
use idempotent_runtime::{ConnectionPool, Idempotency, PoolError, Pooled, Scope, idempotent};
use tower::ServiceExt;

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

#[idempotent(key = header, ttl = "72h", engine = engine)]
async fn transactional(
    State(engine): State<Idempotency<Nowhere>>,
    #[tx] _conn: &mut Nowhere,
    body: Bytes,
) -> (StatusCode, Bytes) {
    (StatusCode::CREATED, body)
}

#[idempotent(key = header, ttl = "72h", engine = engine)]
async fn leased(State(engine): State<Idempotency<Nowhere>>, body: Bytes) -> (StatusCode, Bytes) {
    (StatusCode::CREATED, body)
}

/// What a request with a body of this size allocates, whose answer has the same body: the least of several, since a
/// table of the toolkit or of the runtime grows now and then.
fn allocated(path: &str, bytes: usize) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let engine = runtime.block_on(async { Idempotency::builder(Anywhere, Scope::shared()).build() });
    let router = Router::new()
        .route("/bare", post(bare))
        .route("/transactional", post(transactional))
        .route("/leased", post(leased))
        .with_state(engine);
    let body = Bytes::from(vec![b'x'; bytes]);
    let call = |n: u32| {
        let key = format!("8f14e45f-ceea-467a-9575-{n:012}");
        let request = Request::post(path).header("idempotency-key", key).body(Body::from(body.clone()));
        let (router, request) = (router.clone(), request.expect("a request"));
        let mut answer = Bytes::new();
        let info = measure(|| {
            answer = runtime.block_on(async {
                let answer = router.oneshot(request).await.unwrap_or_else(|never| match never {});
                assert_eq!(answer.status(), StatusCode::CREATED);
                to_bytes(answer.into_body(), usize::MAX).await.expect("a body")
            });
        });
        assert_eq!(answer, body);
        info
    };
    (0..20).map(call).min_by_key(|info| (info.count_total, info.bytes_total)).expect("several calls")
}

#[test]
fn a_call_allocates_little_and_copies_no_body() {
    let (bare, bare_of_64k) = (allocated("/bare", 1_024), allocated("/bare", 65_536));
    for (path, most) in [("/transactional", 45), ("/leased", 56)] {
        let (small, large) = (allocated(path, 1_024), allocated(path, 65_536));
        let more = small.count_total - bare.count_total;
        let (more_bytes, more_of_64k) =
            (small.bytes_total - bare.bytes_total, large.bytes_total - bare_of_64k.bytes_total);
        println!(
            "{path}: {more} allocations more than the bare handler, of {more_bytes} bytes; at 64 KB {more_of_64k}"
        );
        assert!(more <= most, "{path}: {more} allocations a call, and not {most}");
        assert!(
            more_of_64k < more_bytes + 1_024,
            "{path}: a body is copied: {more_of_64k} bytes, and not {more_bytes}"
        );
    }
}

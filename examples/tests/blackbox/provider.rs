//! A payment provider that misbehaves on demand: it stands between `orders` and `charges`.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use reqwest::Client;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::database::Database;
use crate::program::{Program, Setup};

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is passed on, and so is the answer.
    Honest,
    /// It is passed on; the answer waits until the mode changes.
    Holding,
    /// It is passed on, and answered with 503 whatever came of it.
    Losing,
    /// It is answered with 503, and not passed on.
    Down,
}

/// The provider: `charges` on a database of its own, and what stands before it.
pub(crate) struct Provider {
    pub(crate) charges: Program,
    url: String,
    shared: Arc<Shared>,
    _database: Database,
}

struct Shared {
    upstream: String,
    mode: watch::Sender<Mode>,
    /// A permit for each call that was passed on and answered by `charges`.
    charged: Semaphore,
}

impl Provider {
    pub(crate) async fn start(mode: Mode) -> Self {
        let database = Database::new();
        let charges = Setup::charges(&database).start();
        let upstream = format!("{}/v1/charges", charges.url());
        let shared = Arc::new(Shared { upstream, mode: watch::Sender::new(mode), charged: Semaphore::new(0) });
        let router = Router::new().route("/v1/charges", post(forward)).with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { charges, url, shared, _database: database }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.shared.mode.send_replace(mode);
    }

    /// Waits until `charges` has answered one more call.
    pub(crate) async fn charged(&self) {
        self.shared.charged.acquire().await.expect("an open semaphore").forget();
    }
}

async fn forward(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let mode = *shared.mode.borrow();
    if mode == Mode::Down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let mut request = Client::builder().no_proxy().build().expect("a client").post(&shared.upstream).body(body);
    for name in ["authorization", "content-type", "idempotency-key"] {
        request = request.header(name, &headers[name]);
    }
    let answer = request.send().await.expect("an answer of `charges`");
    let (status, kind) = (answer.status(), answer.headers()["content-type"].clone());
    let body = answer.bytes().await.expect("its body");
    shared.charged.add_permits(1);
    match mode {
        Mode::Losing => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Mode::Holding => {
            let _ = shared.mode.subscribe().wait_for(|mode| *mode != Mode::Holding).await;
        }
        Mode::Honest | Mode::Down => {}
    }
    (status, [("content-type", kind)], body).into_response()
}

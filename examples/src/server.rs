//! Serving over HTTP, and stopping without cutting anybody off.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::start::StartError;

/// How long a stop waits for open connections, and then for what they began.
pub const GRACE: Duration = Duration::from_secs(10);

/// Takes the address that `LISTEN` names.
pub async fn bind(address: &str) -> Result<TcpListener, StartError> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| {
        StartError::setting("LISTEN", address, format!("cannot be listened on ({error}); write `HOST:PORT`"))
    })
}

/// Serves until SIGTERM or ctrl-c; then takes no more connections, and waits for those that are open.
pub async fn serve(listener: TcpListener, router: Router) -> Result<(), StartError> {
    // Heard from now on: whoever reads the ready line may send the signal at once.
    let stop = signals()?;
    announce(listener.local_addr()?)?;
    serve_until(listener, router, stop).await?;
    Ok(())
}

/// A service that runs inside another program.
#[derive(Debug)]
pub struct Inner {
    /// Where it listens.
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

impl Inner {
    /// Starts a service on a free port of this machine.
    pub async fn start(router: Router) -> Result<Self, StartError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve_until(listener, router, async {
            // A sender that is gone stops it too.
            let _ = stopped.await;
        }));
        Ok(Self { address, stop, serving })
    }

    /// Stops it, and waits for its open connections.
    pub async fn stop(self) -> Result<(), StartError> {
        // If nobody listens, it has stopped already.
        let _ = self.stop.send(());
        self.serving.await.map_err(io::Error::other)??;
        Ok(())
    }
}

async fn serve_until(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (tell, stopping) = oneshot::channel();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async {
        stop.await;
        let _ = tell.send(());
    });
    // A client that never ends its request must not hold the stop up for ever.
    let patience = async {
        let _ = stopping.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served,
        () = patience => {
            tracing::warn!("stopped with connections still open");
            Ok(())
        }
    }
}

/// Tells whoever started the program where it listens.
fn announce(address: SocketAddr) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "listening on http://{address}")?;
    out.flush()
}

#[cfg(unix)]
fn signals() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signals() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "ctrl-c cannot be heard");
            std::future::pending::<()>().await;
        }
    })
}

/// A layer for plain handlers that use the database: runs each request to its end, even if the client hangs up. Handlers
/// under `#[idempotent]` do so by themselves. A query of `SQLite` cannot be stopped: dropped half-way it blocks a thread
/// of the runtime, or panics on a runtime of one thread.
pub async fn to_the_end(request: Request, next: Next) -> Response {
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(%error, "a handler panicked");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

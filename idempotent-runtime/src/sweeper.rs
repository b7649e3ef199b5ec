//! The sweep in the background.

use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::connection::Connection;
use crate::engine::Idempotency;

/// How long a sweeper rests between two sweeps, unless it is told.
pub(crate) const REST: Duration = Duration::from_secs(60);

/// Sweeps until it is dropped; a sweep that is under way then ends first.
///
/// ```
/// # async fn start(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) {
/// let sweeper: idempotent_runtime::Sweeper = engine.sweeper();
/// # drop(sweeper);
/// # }
/// ```
#[derive(Debug)]
pub struct Sweeper {
    _stop: DropGuard,
}

impl Sweeper {
    pub(crate) fn start<C: Connection>(engine: Idempotency<C>, every: Duration) -> Self {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        C::spawn(async move {
            loop {
                match engine.inner().sweep().await {
                    Ok(0) => {}
                    Ok(deleted) => tracing::debug!(deleted, "swept idempotency records"),
                    Err(error) => tracing::warn!(%error, "idempotency records could not be swept"),
                }
                match engine.inner().expire().await {
                    Ok(0) => {}
                    Ok(expired) => tracing::debug!(expired, "ended rows that were to end by themselves"),
                    Err(error) => tracing::warn!(%error, "rows that are to end by themselves could not be ended"),
                }
                if stopped.run_until_cancelled(tokio::time::sleep(every)).await.is_none() {
                    return;
                }
            }
        });
        Self { _stop: stop.drop_guard() }
    }
}

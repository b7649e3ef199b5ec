//! A run that outlives its caller, and never leaves its thread.

use std::future::Future;

use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Runs claim to completion in a task of its own: a client that hangs up stops nothing, and nothing is dropped in the
/// middle of a statement. A panic goes on to the caller.
///
/// It is boxed here, since tokio moves what it spawns several times, and all of a run is some kilobytes.
pub(super) fn in_own_task<T: 'static, F: Future<Output = T> + 'static>(
    tasks: &TaskTracker,
    run: F,
) -> impl Future<Output = T> + use<T, F> {
    let task = tasks.spawn_local(Box::pin(run.in_current_span()));
    async move {
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

//! A run that outlives its caller.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Runs claim to completion whatever becomes of the caller: a client that hangs up stops nothing, and nothing is dropped in
/// the middle of a statement. The run stays in the caller's task as long as there is one, since a task of its own would
/// cost each request two more turns of the scheduler; left alone, it goes on in a task of its own.
pub(crate) fn to_its_end<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    tasks: &TaskTracker,
    run: F,
) -> impl Future<Output = T> + Send + use<T, F> {
    // Those who shut down wait for it, in whosever task it runs.
    let run = tasks.track_future(run.in_current_span());
    ToItsEnd { run: Some(Box::pin(run)), runtime: Handle::current() }
}

struct ToItsEnd<F: Future<Output: Send> + Send + 'static> {
    /// Until it has ended, or panicked.
    run: Option<Pin<Box<F>>>,
    runtime: Handle,
}

impl<F: Future<Output: Send> + Send + 'static> Future for ToItsEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut run = self.run.take().unwrap_or_else(|| unreachable!("nobody asks again what has ended"));
        let polled = run.as_mut().poll(cx);
        if polled.is_pending() {
            self.run = Some(run);
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for ToItsEnd<F> {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.runtime.spawn(run);
        }
    }
}

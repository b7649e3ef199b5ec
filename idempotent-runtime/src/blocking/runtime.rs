//! The threads on which leases are renewed while blocking functions run, and the way to wait for what is asynchronous.

use std::cell::Cell;
use std::future::Future;

use once_cell::sync::Lazy;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    /// Whether this is a thread of the runtime below.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// One for the program: what it does is to wait.
static RUNTIME: Lazy<Option<Runtime>> = Lazy::new(|| {
    let built = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("idempotent")
        .on_thread_start(|| IS_OURS.set(true))
        .enable_time()
        .build();
    built.inspect_err(|error| tracing::error!(%error, "no thread can be started that renews leases")).ok()
});

/// Whether there are threads that renew leases.
pub(super) fn is_there() -> bool {
    RUNTIME.is_some()
}

/// Waits on this thread, whatever runtime it may belong to. What the work spawns runs on threads of our own.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    let _entered = RUNTIME.as_ref().map(Runtime::enter);
    pollster::block_on(work)
}

/// Runs work on threads of our own.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Some(runtime) = &*RUNTIME {
        runtime.spawn(work);
    }
}

/// Waits for work that needs no runtime.
pub fn wait_here<T>(work: impl Future<Output = T>) -> T {
    pollster::block_on(work)
}

/// Runs a statement on this thread. One of our own gives its other tasks away before it blocks.
pub(crate) fn block<T>(statement: impl FnOnce() -> T) -> T {
    match IS_OURS.get() {
        true => tokio::task::block_in_place(statement),
        false => statement(),
    }
}

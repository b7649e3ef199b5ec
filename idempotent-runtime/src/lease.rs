//! The lease: how long an unfinished claim is believed, and the heartbeat that renews it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::claim::{Claim, Fence};
use crate::engine::Engine;
use crate::failpoint::failpoint;
use crate::store::Change;

tokio::task_local! {
    static CURRENT: Lease;
}

/// How long a renewal rests after the store was not to be reached, at most.
const RETRY: Duration = Duration::from_secs(1);
/// The briefest rest between two renewals, whatever the lease.
const BRIEFEST: Duration = Duration::from_millis(10);

/// The lease under which the current function runs. It is renewed at a third of its length until the function ends.
///
/// A holder that was paused for too long may find that another has taken its claim over. It is told here; its next
/// step fails, and its answer is refused. Nothing is interrupted: what is not idempotent elsewhere should look first.
///
/// ```
/// use idempotent_runtime::Lease;
///
/// # async fn send() {
/// # async fn charge() {}
/// if Lease::current().is_some_and(|lease| lease.is_lost()) {
///     return; // somebody else goes on with this
/// }
/// charge().await;
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Lease {
    lost: CancellationToken,
    /// Held while the record is renewed, so that a heartbeat and a step do not wait for each other.
    pub(crate) pulse: Arc<Mutex<()>>,
}

impl Lease {
    fn new() -> Self {
        Self { lost: CancellationToken::new(), pulse: Arc::default() }
    }

    /// The lease of the leased function that this is called in; `None` elsewhere, also in transactional functions, and
    /// in tasks that the function spawned.
    ///
    /// ```
    /// assert!(idempotent_runtime::Lease::current().is_none(), "no function runs here");
    /// ```
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// Whether another has taken the claim over. A store that cannot be reached is no lost lease.
    ///
    /// ```
    /// # fn look(lease: &idempotent_runtime::Lease) {
    /// if lease.is_lost() { /* stop */ }
    /// # }
    /// ```
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// Waits until another has taken the claim over.
    ///
    /// ```
    /// # async fn work() {}
    /// # async fn run(lease: idempotent_runtime::Lease) {
    /// tokio::select! {
    ///     () = lease.lost() => { /* stop */ }
    ///     () = work() => {}
    /// }
    /// # }
    /// ```
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Notes that another has taken the claim over.
    pub(crate) fn lose(&self) {
        self.lost.cancel();
    }

    /// Runs `work` with this as its current lease.
    pub(crate) async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }

    /// The same for work that is no future.
    #[cfg(feature = "blocking")]
    pub(crate) fn scope_blocking<T>(self, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self, work)
    }
}

/// Renews a lease until it is dropped; a renewal that is under way then ends first.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    _stop: DropGuard,
    lease: Lease,
}

impl Heartbeat {
    pub(crate) fn start(engine: Arc<dyn Engine>, claim: &Claim, fence: Fence) -> Self {
        let (stop, lease) = (CancellationToken::new(), Lease::new());
        let (address, term) = (claim.address.clone(), claim.lease);
        let (stopped, beating) = (stop.clone(), lease.clone());
        tokio::spawn(async move {
            let third = BRIEFEST.max(Duration::from_millis(term.millis().unsigned_abs() / 3));
            let mut rest = third;
            while stopped.run_until_cancelled(tokio::time::sleep(rest)).await.is_some() {
                // A step that holds the record has renewed it.
                let Ok(_pulse) = beating.pulse.try_lock() else { continue };
                failpoint!("renew.before");
                rest = match engine.change(&address, fence, Change::Renew(term)).await {
                    Ok(true) => third,
                    Ok(false) => {
                        if !stopped.is_cancelled() {
                            tracing::warn!(operation = address.operation, "a lease was lost");
                            beating.lose();
                        }
                        return;
                    }
                    // No lost lease: nobody else reaches the store either, or the pool is busy.
                    Err(error) => {
                        tracing::warn!(%error, "a lease could not be renewed yet");
                        third.min(RETRY)
                    }
                };
                failpoint!("renew.after");
            }
        });
        Self { _stop: stop.drop_guard(), lease }
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }
}

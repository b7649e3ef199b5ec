//! Leased runs: the claim commits before the body runs, and its completion must match the fence.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::{Outcome, Patience, Ran, Turn};
use crate::claim::{Claim, Claimed, Fence, Kept, UNSEEN};
use crate::engine::Engine;
use crate::error::Error;
use crate::failpoint::failpoint;
use crate::lease::{Heartbeat, Lease};
use crate::reconcile::resolve;
use crate::record::Refusal;
use crate::steps::KeepsClaim;
use crate::store::{Change, End, Stored};

/// How long a completion rests after the store was not to be reached, at first and at most.
const RESTS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// How long a completion is tried after the store was not to be reached, whatever the lease.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// A claim that was won, with the heartbeat that keeps it.
pub(crate) struct Grant {
    pub(crate) claim: Claim,
    pub(crate) fence: Fence,
    heartbeat: Heartbeat,
    /// Set by steps that do not fit what is recorded.
    pub(crate) keeps_claim: KeepsClaim,
    /// Over with the grant: those who wait are woken.
    _turn: Turn,
}

impl Grant {
    pub(crate) fn lease(&self) -> &Lease {
        self.heartbeat.lease()
    }
}

/// Runs `body` under a lease.
pub(crate) async fn leased<R, Fut: Future<Output = Ran<R>>>(
    engine: &Arc<dyn Engine>,
    claim: Claim,
    patience: Patience,
    body: impl FnOnce(&Grant) -> Fut,
) -> Result<Outcome<R>, Error> {
    let grant = match open(engine, claim, patience).await? {
        Opened::Granted(grant) => grant,
        Opened::Replayed(kept) => return Ok(Outcome::Replayed(kept)),
    };
    let running = body(&grant);
    match AssertUnwindSafe(grant.lease().clone().scope(running)).catch_unwind().await {
        Ok(Ran { value, end }) => match close(engine, grant, end).await? {
            None => Ok(Outcome::Ran(value)),
            Some(kept) => Ok(Outcome::Replayed(kept)),
        },
        Err(panic) => {
            abandon(engine, &grant).await;
            resume_unwind(panic);
        }
    }
}

/// What came of a claim.
pub(super) enum Opened {
    Granted(Grant),
    Replayed(Kept),
}

/// Claims, once nobody else does or the patience is over.
pub(super) async fn open(engine: &Arc<dyn Engine>, mut claim: Claim, patience: Patience) -> Result<Opened, Error> {
    let mut turn = engine.waiting_room().enter(&claim, patience).await?;
    loop {
        claim.known = engine.recent().has(&claim.address);
        let claimed = ask(engine, &claim).await?;
        // Won or not, the record is there now.
        engine.recent().note(&claim.address);
        match claimed {
            Claimed::Won(fence) => {
                turn.won();
                let heartbeat = Heartbeat::start(Arc::clone(engine), &claim, fence);
                return Ok(Opened::Granted(Grant {
                    claim,
                    fence,
                    heartbeat,
                    keeps_claim: KeepsClaim::default(),
                    _turn: turn,
                }));
            }
            Claimed::Replay(kept) => return Ok(Opened::Replayed(kept)),
            Claimed::Withheld(error) => return Err(error),
            Claimed::Refused(refusal) => turn.rest(refusal).await?,
        }
    }
}

/// Claims, and asks the reconcile hook about an outcome that is unknown.
async fn ask(engine: &Arc<dyn Engine>, claim: &Claim) -> Result<Claimed, Error> {
    failpoint!("claim.before");
    let mut claimed = engine.claim(claim).await?;
    if let (Claimed::Refused(Refusal::OutcomeUnknown), Some(hook)) = (&claimed, &engine.settings().reconcile)
        && let Some(record) = engine.held_at(&claim.address).await?
    {
        let resolution = hook(record.clone()).await;
        resolve(&**engine, &record, resolution).await?;
        claimed = engine.claim(claim).await?;
    }
    failpoint!("claim.after");
    Ok(claimed)
}

/// Completes or releases. `Some` is what a successor stored, if the lease was lost to one.
pub(super) async fn close(engine: &Arc<dyn Engine>, grant: Grant, end: End) -> Result<Option<Kept>, Error> {
    let Grant { claim, fence, .. } = &grant;
    let (End::Commit(stored) | End::Undo(stored)) = end else {
        if grant.keeps_claim.load(Ordering::Acquire) {
            return Ok(None);
        }
        return match release(engine, claim, *fence).await {
            Given::Back => Ok(None),
            Given::Lost => superseded(engine, claim).await.map(Some),
        };
    };
    failpoint!("complete.before");
    let completed = engine.change(&claim.address, *fence, Change::Complete(&stored)).await;
    failpoint!("complete.after");
    match completed {
        Ok(true) => Ok(None),
        Ok(false) => superseded(engine, claim).await.map(Some),
        Err(error) => {
            // The caller gets the answer now. Until it is stored the heartbeat keeps others out.
            tracing::warn!(%error, "an answer could not be stored yet");
            engine.tasks().spawn(complete_later(Arc::clone(engine), grant, stored));
            Ok(None)
        }
    }
}

/// Ends a claim whose body came to no end: gives it back, or holds it where that was asked for.
pub(super) async fn abandon(engine: &Arc<dyn Engine>, grant: &Grant) {
    let Grant { claim, fence, .. } = grant;
    if !claim.hold {
        release(engine, claim, *fence).await;
        return;
    }
    if let Err(error) = engine.change(&claim.address, *fence, Change::Hold).await {
        tracing::warn!(%error, "a claim could not be marked; it is held after its lease");
    }
}

/// The answer of a holder that lost its lease: what its successor stored, or a conflict.
async fn superseded(engine: &Arc<dyn Engine>, claim: &Claim) -> Result<Kept, Error> {
    tracing::warn!(operation = claim.address.operation, "a run lost its lease before it was completed");
    let row = engine.look(&claim.address).await?;
    match claim.settle(row) {
        Some(Claimed::Replay(kept)) => Ok(kept),
        Some(Claimed::Withheld(error)) => Err(error),
        Some(Claimed::Refused(refusal)) => Err(refusal.into()),
        Some(Claimed::Won(_)) | None => Err(UNSEEN.into()),
    }
}

/// What came of giving a key back.
enum Given {
    Back,
    /// The claim was another's already.
    Lost,
}

/// Gives the key back, so that a retry runs at once; failing that, after the lease.
async fn release(engine: &Arc<dyn Engine>, claim: &Claim, fence: Fence) -> Given {
    failpoint!("release.before");
    let released = engine.change(&claim.address, fence, Change::Release).await;
    failpoint!("release.after");
    match released {
        Ok(true) => Given::Back,
        Ok(false) => Given::Lost,
        Err(error) => {
            tracing::warn!(%error, "a claim could not be released; it lapses with its lease");
            Given::Back
        }
    }
}

/// Completes once the store is back. The heartbeat, which lives as long as the grant, goes on meanwhile.
async fn complete_later(engine: Arc<dyn Engine>, grant: Grant, stored: Stored) {
    let until = Instant::now() + PATIENCE;
    let mut rest = RESTS.0;
    while Instant::now() < until {
        tokio::time::sleep(rest).await;
        rest = RESTS.1.min(rest * 2);
        match engine.change(&grant.claim.address, grant.fence, Change::Complete(&stored)).await {
            Ok(true) => return,
            // Its own completion, whose answer was lost, or a successor's: then that is what every repeat gets.
            Ok(false) if superseded(&engine, &grant.claim).await.is_ok() => return,
            Ok(false) => break,
            Err(error) => tracing::warn!(%error, "an answer could not be stored yet"),
        }
    }
    tracing::error!(operation = grant.claim.address.operation, "an answer was lost: its claim is another's by now");
}

//! Leased runs: the claim commits before the body runs, and its completion must match the fence.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::{Outcome, Ran};
use crate::answer::Answer;
use crate::claim::{Claim, Claimed, Fence, UNSEEN};
use crate::engine::Engine;
use crate::error::Error;
use crate::store::{End, Stored};

/// How long a completion rests after the store was not to be reached.
const RETRY: Duration = Duration::from_millis(200);

/// Runs `body` under a lease.
pub(crate) async fn leased<R>(
    engine: &Arc<dyn Engine>,
    claim: &Claim,
    body: impl Future<Output = Ran<R>>,
) -> Result<Outcome<R>, Error> {
    let fence = match engine.claim(claim).await? {
        Claimed::Won(fence) => fence,
        Claimed::Replay(answer) => return Ok(Outcome::Replayed(answer)),
        Claimed::Refused(refusal) => return Err(refusal.into()),
    };
    let Ran { value, end } = match AssertUnwindSafe(body).catch_unwind().await {
        Ok(ran) => ran,
        Err(panic) => {
            release(engine, claim, fence).await;
            resume_unwind(panic);
        }
    };
    match finish(engine, claim, fence, end).await? {
        None => Ok(Outcome::Ran(value)),
        Some(answer) => Ok(Outcome::Replayed(answer)),
    }
}

/// Completes or releases. `Some` is what a successor stored, if the lease was lost to one.
pub(super) async fn finish(
    engine: &Arc<dyn Engine>,
    claim: &Claim,
    fence: Fence,
    end: End,
) -> Result<Option<Answer>, Error> {
    let (End::Commit(stored) | End::Undo(stored)) = end else {
        release(engine, claim, fence).await;
        return Ok(None);
    };
    match engine.complete(&claim.address, fence, &stored).await {
        Ok(true) => Ok(None),
        Ok(false) => superseded(engine, claim).await.map(Some),
        Err(error) => {
            // The caller gets the answer now. Until it is stored the lease keeps others out.
            tracing::warn!(%error, "an answer could not be stored yet");
            let until = Instant::now() + Duration::from_millis(claim.lease.millis().unsigned_abs());
            engine.tasks().spawn(complete_later(Arc::clone(engine), claim.clone(), fence, stored, until));
            Ok(None)
        }
    }
}

/// The answer of a holder that lost its lease: what its successor stored, or a conflict.
async fn superseded(engine: &Arc<dyn Engine>, claim: &Claim) -> Result<Answer, Error> {
    tracing::warn!(operation = claim.address.operation, "a run lost its lease before it was completed");
    let row = engine.look(&claim.address).await?;
    match row.and_then(|row| row.settle(claim.fingerprint)) {
        Some(Claimed::Replay(answer)) => Ok(answer),
        Some(Claimed::Refused(refusal)) => Err(refusal.into()),
        Some(Claimed::Won(_)) | None => Err(UNSEEN.into()),
    }
}

/// Gives the key back, so that a retry runs at once; failing that, after the lease.
async fn release(engine: &Arc<dyn Engine>, claim: &Claim, fence: Fence) {
    if let Err(error) = engine.release(&claim.address, fence).await {
        tracing::warn!(%error, "a claim could not be released; it lapses with its lease");
    }
}

async fn complete_later(engine: Arc<dyn Engine>, claim: Claim, fence: Fence, stored: Stored, until: Instant) {
    while Instant::now() < until {
        tokio::time::sleep(RETRY).await;
        match engine.complete(&claim.address, fence, &stored).await {
            Ok(true) => return,
            Ok(false) => break,
            Err(error) => tracing::warn!(%error, "an answer could not be stored yet"),
        }
    }
    tracing::error!(operation = claim.address.operation, "an answer was lost: its lease ended before it was stored");
}

//! Transactional runs: claim, writes and answer commit together.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;

use super::backoff::Backoff;
use super::{Body, Outcome, Patience, Ran};
use crate::claim::{Claim, Claimed, UNSEEN};
use crate::effects::Frame;
use crate::engine::Inner;
use crate::error::Error;
use crate::failpoint::failpoint;
use crate::store::fault::{Fault, classify};
use crate::store::{Access, End, Ended, Level};

/// Runs `body` in a transaction that also holds the record. `body` runs again, with a fresh connection, after a
/// serialization failure, a deadlock, or a COMMIT whose answer was lost; one run commits.
pub(crate) async fn transactional<C: Send + 'static, B: Body<C>>(
    engine: &Inner<C>,
    mut claim: Claim,
    patience: Patience,
    mut body: B,
) -> Result<Outcome<B::Value>, Error> {
    let mut turn = engine.waiting_room.enter(&claim, patience).await?;
    let driver = engine.driver;
    let mut backoff = Backoff::default();
    let mut uncommittable = 0;
    // A COMMIT whose answer was lost: its session may hold the lock for a while yet, and then the record decides.
    let mut commit_unanswered = false;
    loop {
        claim.known = engine.recent.has(&claim.address);
        let mut conn = engine.connection().await?;
        let level = Level::Own(engine.settings.own(driver.depth(&mut conn).map_err(Error::unavailable)?));
        failpoint!("transaction.before");
        let fence = match driver.open(&mut conn, &claim, level).await {
            Ok(Claimed::Won(fence)) => fence,
            Ok(Claimed::Replay(kept)) => {
                engine.recent.note(&claim.address);
                return Ok(Outcome::Replayed(kept));
            }
            Ok(Claimed::Withheld(error)) => return Err(error),
            Ok(Claimed::Refused(refusal)) => {
                engine.recent.note(&claim.address);
                drop(conn);
                match commit_unanswered && refusal == UNSEEN {
                    true => again(&mut backoff, diesel::result::Error::RollbackTransaction).await?,
                    false => turn.rest(refusal).await?,
                }
                continue;
            }
            Err(error) if classify(&error) == Fault::Contention => {
                drop(conn);
                again(&mut backoff, error).await?;
                continue;
            }
            Err(error) => return Err(Error::unavailable(error)),
        };
        turn.won();
        failpoint!("transaction.opened");
        let frame = Frame::open(&*conn, level.base(), level.depth_inside());
        let Ran { value, end } = match AssertUnwindSafe(body.run(&mut conn)).catch_unwind().await {
            Ok(ran) => ran,
            Err(panic) => {
                drop(frame);
                if let Err(error) = driver.close(&mut conn, &claim, fence, level, End::RollBack).await {
                    tracing::warn!(%error, "a transaction could not be rolled back after a panic");
                }
                drop(conn);
                resume_unwind(panic);
            }
        };
        let keeps_writes = matches!(end, End::Commit(_) | End::Forget);
        let met_another = match keeps_writes {
            true => driver.saw_contention(&mut conn),
            false => backoff.blames_another(driver, &mut conn, engine.settings.isolation).await,
        };
        let end = if met_another && !keeps_writes { End::RollBack } else { end };
        failpoint!("transaction.executed");
        let closed = driver.close(&mut conn, &claim, fence, level, end).await;
        failpoint!("transaction.closed");
        // Before the connection goes back to its pool, where somebody else finds it.
        let effects = frame.ended(keeps_writes && matches!(closed, Ok(Ended::Done)));
        let error = match closed {
            Ok(Ended::Done) if met_another && !keeps_writes => diesel::result::Error::RollbackTransaction,
            Ok(Ended::Done) => {
                engine.recent.note(&claim.address);
                drop(conn);
                drop(turn);
                effects.run().await;
                return Ok(Outcome::Ran(value));
            }
            Ok(Ended::RolledBack(error)) => {
                // A lost race shows at the next look. What is neither that nor contention, the body has caused.
                if !met_another && classify(&error) == Fault::Other {
                    uncommittable += 1;
                    if uncommittable == 3 {
                        return Err(Error::NotCommitted(error.into()));
                    }
                }
                error
            }
            Err(error) => {
                commit_unanswered = true;
                error
            }
        };
        drop(conn);
        again(&mut backoff, error).await?;
    }
}

/// Runs `body` in a transaction without a record: a safe method, or no key where none is needed.
pub(crate) async fn unclaimed<C: Send + 'static, B: Body<C>>(
    engine: &Inner<C>,
    access: Access,
    mut body: B,
) -> Result<B::Value, Error> {
    let driver = engine.driver;
    let mut backoff = Backoff::default();
    loop {
        let mut conn = engine.connection().await?;
        driver.begin(&mut conn, access, Some(engine.settings.isolation)).await.map_err(Error::unavailable)?;
        let frame = Frame::open(&*conn, 0, 1);
        let Ran { value, end } = match AssertUnwindSafe(body.run(&mut conn)).catch_unwind().await {
            Ok(ran) => ran,
            Err(panic) => {
                drop(frame);
                if let Err(error) = driver.roll_back(&mut conn).await {
                    tracing::warn!(%error, "a transaction could not be rolled back after a panic");
                }
                drop(conn);
                resume_unwind(panic);
            }
        };
        let keeps_writes = matches!(end, End::Commit(_) | End::Forget);
        let error = if keeps_writes {
            let committed = driver.commit(&mut conn).await;
            let effects = frame.ended(committed.is_ok());
            match committed {
                Ok(()) => {
                    drop(conn);
                    effects.run().await;
                    return Ok(value);
                }
                Err(error) => match classify(&error) {
                    Fault::Contention => error,
                    Fault::Unavailable => return Err(Error::unavailable(error)),
                    Fault::Other => return Err(Error::NotCommitted(error.into())),
                },
            }
        } else {
            drop(frame);
            let met_another = backoff.blames_another(driver, &mut conn, engine.settings.isolation).await;
            driver.roll_back(&mut conn).await.map_err(Error::unavailable)?;
            if !met_another {
                return Ok(value);
            }
            diesel::result::Error::RollbackTransaction
        };
        drop(conn);
        again(&mut backoff, error).await?;
    }
}

/// Waits before the next run, or gives up with what stopped the last.
async fn again(backoff: &mut Backoff, error: diesel::result::Error) -> Result<(), Error> {
    if backoff.wait().await {
        return Ok(());
    }
    Err(Error::unavailable(error))
}

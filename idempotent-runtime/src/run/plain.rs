//! Plain functions: consumers and jobs. A result is stored with serde; an error releases.
//!
//! An expansion calls `open`, runs the body where it stands, so that it may borrow, and then calls `close`.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use futures_util::FutureExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Grant, Outcome, Patience, leased};
use crate::answer::Answer;
use crate::claim::{Claim, Claimed, Fence};
use crate::effects::Frame;
use crate::engine::{Engine, Idempotency};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::global::{AnyEngine, EngineFor};
use crate::settings::Settings;
use crate::steps::Steps;
use crate::store::{End, Ended, Level, Stored};
use crate::terms::{Policy, Terms};

/// What a panic carries.
pub type Panic = Box<dyn Any + Send>;

/// A serialised value, or why it could not be serialised.
pub type Encoded = Result<Vec<u8>, serde_json::Error>;

/// What an annotated plain function returns: `Result<T, E>`, where `T` is stored and `E` can say why it did not run.
#[diagnostic::on_unimplemented(
    message = "an idempotent function must return `Result<T, E>` with `T: Serialize + DeserializeOwned` and `E: From<idempotent_runtime::Error>`",
    label = "this cannot be stored and given back",
    note = "derive `Serialize` and `Deserialize` for the value, and implement `From<idempotent_runtime::Error>` for the error"
)]
pub trait Storable: Sized {
    #[doc(hidden)]
    fn encode(&self) -> Option<Encoded>;
    #[doc(hidden)]
    fn decode(stored: &[u8]) -> Self;
    #[doc(hidden)]
    fn refuse(error: Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned, E: From<Error>> Storable for Result<T, E> {
    fn encode(&self) -> Option<Encoded> {
        self.as_ref().ok().map(serde_json::to_vec)
    }

    fn decode(stored: &[u8]) -> Self {
        serde_json::from_slice(stored).map_err(|error| Error::Undecodable(error).into())
    }

    fn refuse(error: Error) -> Self {
        Err(error.into())
    }
}

/// How the result `R` of a function is stored: the one place where its bounds are asked for.
pub struct Codec<R> {
    encode: fn(&R) -> Option<Encoded>,
    decode: fn(&[u8]) -> R,
    refuse: fn(Error) -> R,
}

impl<R> Clone for Codec<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Codec<R> {}

impl<R> std::fmt::Debug for Codec<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Codec")
    }
}

/// The codec of a result type.
#[must_use]
pub const fn codec<R: Storable>() -> Codec<R> {
    Codec { encode: R::encode, decode: R::decode, refuse: R::refuse }
}

impl<R> Codec<R> {
    /// The result of a call that did not run.
    #[cfg(feature = "blocking")]
    pub(crate) fn refuse(self, error: Error) -> R {
        (self.refuse)(error)
    }

    /// What is to be kept of a result that fits.
    fn end(self, result: &R, settings: &Settings) -> Result<End, Error> {
        let Some(encoded) = (self.encode)(result) else { return Ok(End::RollBack) };
        let body = encoded.map_err(Error::Unserializable)?;
        if body.len() > settings.response_limit {
            tracing::warn!(bytes = body.len(), "a result is larger than the response limit and is not stored");
            return Ok(End::Commit(Stored::Tombstone));
        }
        Ok(End::Commit(Stored::Answer(Answer::of_value(body))))
    }
}

/// What a body does with a call.
#[derive(Debug)]
pub enum Opened<S, R> {
    /// Run, and close the span with what came of it.
    Run(S),
    /// Return this.
    Done(R),
}

/// Runs a body to its end or its panic.
pub async fn catch<R>(body: impl Future<Output = R>) -> Result<R, Panic> {
    AssertUnwindSafe(body).catch_unwind().await
}

fn claim(settings: &Settings, policy: &Policy, terms: Terms<()>) -> Result<Claim, Error> {
    // A plain function has no request that the engine's rule could read: its key says it all.
    let caller = || Some(String::new());
    let fingerprint = |value: Option<Vec<u8>>| value.map_or(Fingerprint::NONE, |value| Fingerprint::of_value(&value));
    terms.into_claim(settings, policy, None, caller, fingerprint)
}

/// A claim in a transaction on the caller's connection.
pub struct Span<C: 'static> {
    engine: Idempotency<C>,
    claim: Claim,
    fence: Fence,
    level: Level,
    frame: Frame,
}

impl<C> std::fmt::Debug for Span<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Span").field("claim", &self.claim).finish_non_exhaustive()
    }
}

/// Begins a transaction on the caller's connection (a savepoint inside an open one) and claims in it.
pub async fn open<C: Send + 'static, R>(
    codec: Codec<R>,
    policy: &'static Policy,
    terms: Terms<impl EngineFor<C>>,
    conn: &mut C,
) -> Opened<Span<C>, R> {
    let (engine, terms) = terms.split();
    let claimed = async {
        let engine = engine.find()?;
        let claim = claim(&engine.inner().settings, policy, terms)?;
        let driver = engine.inner().driver;
        let level = Level::Nested { base: driver.depth(conn).map_err(from_database)? };
        match driver.open(conn, &claim, level).await.map_err(from_database)? {
            Claimed::Won(fence) => {
                let frame = Frame::open(&*conn, level.base(), level.depth_inside());
                Ok(Outcome::Ran(Span { engine, claim, fence, level, frame }))
            }
            Claimed::Replay(kept) => Ok(Outcome::Replayed(kept)),
            Claimed::Withheld(error) => Err(error),
            Claimed::Refused(refusal) => Err(refusal.into()),
        }
    };
    settled(codec, claimed.await)
}

/// Completes and commits, or rolls back. Inside the caller's own transaction the record commits with that.
pub async fn close<C: Send + 'static, R>(codec: Codec<R>, span: Span<C>, conn: &mut C, ran: Result<R, Panic>) -> R {
    let Span { engine, claim, fence, level, frame } = span;
    let driver = engine.inner().driver;
    let result = match ran {
        Ok(result) => result,
        Err(panic) => {
            drop(frame);
            if let Err(error) = driver.close(conn, &claim, fence, level, End::RollBack).await {
                tracing::warn!(%error, "a transaction could not be rolled back after a panic");
            }
            resume_unwind(panic);
        }
    };
    // What cannot be kept is undone; the function's own error is more telling than that of its rollback.
    let (end, result) = match codec.end(&result, &engine.inner().settings) {
        Ok(end) => (end, result),
        Err(error) => (End::RollBack, (codec.refuse)(error)),
    };
    let undoes = matches!(end, End::RollBack);
    match driver.close(conn, &claim, fence, level, end).await {
        Ok(Ended::Done) => {
            if !undoes {
                frame.committed().run().await;
            }
            result
        }
        Ok(Ended::RolledBack(_)) | Err(_) if undoes => result,
        Ok(Ended::RolledBack(error)) => overtaken(codec, &engine, &claim, level, conn, error).await,
        Err(error) => (codec.refuse)(from_database(error)),
    }
}

/// After a completion that could not commit: what another stored meanwhile, or an error to run the whole again on.
async fn overtaken<C: Send + 'static, R>(
    codec: Codec<R>,
    engine: &Idempotency<C>,
    claim: &Claim,
    level: Level,
    conn: &mut C,
    error: diesel::result::Error,
) -> R {
    let driver = engine.inner().driver;
    let retryable = Error::Retryable(error.into());
    match driver.open(conn, claim, level).await {
        Ok(Claimed::Replay(kept)) => (codec.decode)(&kept.answer.body),
        Ok(Claimed::Withheld(error)) => (codec.refuse)(error),
        Ok(Claimed::Refused(refusal)) => (codec.refuse)(refusal.into()),
        Ok(Claimed::Won(fence)) => match driver.close(conn, claim, fence, level, End::RollBack).await {
            Ok(_) => (codec.refuse)(retryable),
            Err(error) => (codec.refuse)(from_database(error)),
        },
        Err(_) => (codec.refuse)(retryable),
    }
}

fn from_database(error: diesel::result::Error) -> Error {
    use crate::store::fault::{Fault, classify};
    match classify(&error) {
        Fault::Contention => Error::Retryable(error.into()),
        Fault::Unavailable | Fault::Other => Error::unavailable(error),
    }
}

/// A claim under a lease, ended if the call is dropped before it ends.
pub struct LeasedSpan {
    engine: Arc<dyn Engine>,
    grant: Option<Grant>,
}

impl std::fmt::Debug for LeasedSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeasedSpan").finish_non_exhaustive()
    }
}

impl Drop for LeasedSpan {
    fn drop(&mut self) {
        if let (Some(grant), Ok(runtime)) = (self.grant.take(), tokio::runtime::Handle::try_current()) {
            let engine = Arc::clone(&self.engine);
            let tasks = engine.tasks().clone();
            tasks.spawn_on(async move { leased::abandon(&engine, &grant).await }, &runtime);
        }
    }
}

impl LeasedSpan {
    /// Runs a body to its end or its panic, under the lease.
    pub async fn catch<R>(&self, body: impl Future<Output = R>) -> Result<R, Panic> {
        match &self.grant {
            Some(grant) => grant.lease().clone().scope(catch(body)).await,
            None => catch(body).await,
        }
    }

    /// The same for a body that is no future.
    #[cfg(feature = "blocking")]
    pub fn catch_blocking<R>(&self, body: impl FnOnce() -> R) -> Result<R, Panic> {
        match &self.grant {
            Some(grant) => grant.lease().clone().scope_blocking(|| crate::blocking::catch(body)),
            None => crate::blocking::catch(body),
        }
    }
}

/// Claims through the engine's pool, under a lease.
pub async fn open_leased<R>(
    codec: Codec<R>,
    policy: &'static Policy,
    terms: Terms<impl AnyEngine>,
) -> Opened<LeasedSpan, R> {
    let (engine, terms) = terms.split();
    let engine = engine.find_any().map(|engine| engine.0);
    let opened = async { claim_leased(engine?, policy, terms).await };
    settled(codec, opened.await)
}

async fn claim_leased(
    engine: Arc<dyn Engine>,
    policy: &'static Policy,
    terms: Terms<()>,
) -> Result<Outcome<LeasedSpan>, Error> {
    let claim = claim(engine.settings(), policy, terms)?;
    let claimant = Arc::clone(&engine);
    let (patience, _caller) = Patience::of(policy.in_flight);
    // In a task of its own: a caller that goes away drops no statement half way.
    let opened = shielded(&engine, async move {
        let opened = leased::open(&claimant, claim, patience).await?;
        Ok::<_, Error>(match opened {
            leased::Opened::Granted(grant) => Outcome::Ran(LeasedSpan { engine: claimant, grant: Some(grant) }),
            leased::Opened::Replayed(kept) => Outcome::Replayed(kept),
        })
    });
    opened.await
}

fn settled<S, R>(codec: Codec<R>, opened: Result<Outcome<S>, Error>) -> Opened<S, R> {
    match opened {
        Ok(Outcome::Ran(span)) => Opened::Run(span),
        Ok(Outcome::Replayed(kept)) => Opened::Done((codec.decode)(&kept.answer.body)),
        Err(error) => Opened::Done((codec.refuse)(error)),
    }
}

/// Completes or releases a leased claim.
pub async fn close_leased<R>(codec: Codec<R>, mut span: LeasedSpan, ran: Result<R, Panic>) -> R {
    let Some(grant) = span.grant.take() else { return (codec.refuse)(Error::OutcomeUnknown) };
    let engine = Arc::clone(&span.engine);
    let finishing = Arc::clone(&engine);
    let result = match ran {
        Ok(result) => result,
        Err(panic) => {
            shielded(&engine, async move { leased::abandon(&finishing, &grant).await }).await;
            resume_unwind(panic);
        }
    };
    let end = codec.end(&result, engine.settings());
    let ended = shielded(&engine, async move {
        match end {
            Ok(end) => leased::close(&finishing, grant, end).await,
            Err(error) => {
                leased::close(&finishing, grant, End::RollBack).await?;
                Err(error)
            }
        }
    });
    match ended.await {
        Ok(None) => result,
        Ok(Some(kept)) => (codec.decode)(&kept.answer.body),
        Err(error) => (codec.refuse)(error),
    }
}

/// A leased claim with recovery points.
pub struct SteppedSpan<C: 'static> {
    leased: LeasedSpan,
    steps: Steps<C>,
}

impl<C> std::fmt::Debug for SteppedSpan<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SteppedSpan").finish_non_exhaustive()
    }
}

impl<C: Send + 'static> SteppedSpan<C> {
    /// The leased claim, and its steps.
    pub fn split(self) -> (LeasedSpan, Steps<C>) {
        (self.leased, self.steps)
    }
}

/// Claims through the engine's pool, under a lease, and loads what earlier attempts recorded.
pub async fn open_stepped<C: Send + 'static, R>(
    codec: Codec<R>,
    policy: &'static Policy,
    terms: Terms<impl EngineFor<C>>,
) -> Opened<SteppedSpan<C>, R> {
    let (engine, terms) = terms.split();
    let engine = engine.find();
    let opened = async {
        let engine = engine?;
        let span = match claim_leased(engine.erased(), policy, terms).await? {
            Outcome::Ran(span) => span,
            Outcome::Replayed(kept) => return Ok(Outcome::Replayed(kept)),
        };
        let Some(grant) = &span.grant else { return Err(Error::OutcomeUnknown) };
        let inner = Arc::clone(engine.inner());
        let (claim, lease) = (grant.claim.clone(), grant.lease().clone());
        let steps = Steps::load(inner, claim, grant.fence, lease, Arc::clone(&grant.keeps_claim)).await?;
        Ok(Outcome::Ran(SteppedSpan { leased: span, steps }))
    };
    settled(codec, opened.await)
}

/// Runs store work to its end, whatever becomes of the caller.
async fn shielded<T: Send + 'static>(engine: &Arc<dyn Engine>, work: impl Future<Output = T> + Send + 'static) -> T {
    match engine.tasks().spawn(work).await {
        Ok(done) => done,
        Err(error) => resume_unwind(error.into_panic()),
    }
}

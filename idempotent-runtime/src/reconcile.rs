//! Records whose outcome is unknown, and who decides about them: a hook, or an operator.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::answer::Answer;
use crate::claim::Unresolved;
use crate::connection::Connection;
use crate::engine::Idempotency;
use crate::error::Error;
use crate::store::{Change, Stored, Which};

/// A claim that was abandoned and is held: it may have done everything, something, or nothing.
///
/// ```
/// # async fn list(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
/// for record in engine.held(100).await? {
///     println!("{} of {:?}: {} attempts", record.key(), record.scope(), record.attempts());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct HeldRecord(pub(crate) Unresolved);

impl HeldRecord {
    /// The function of a natural key; `""` for a key that a client sent.
    ///
    /// ```
    /// # fn show(record: idempotent_runtime::HeldRecord) {
    /// println!("{}", record.operation());
    /// # }
    /// ```
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.0.address.operation
    }

    /// Whose key it is; `""` if it is shared.
    ///
    /// ```
    /// # fn show(record: idempotent_runtime::HeldRecord) {
    /// println!("{}", record.scope());
    /// # }
    /// ```
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.0.address.scope
    }

    /// The key.
    ///
    /// ```
    /// # fn show(record: idempotent_runtime::HeldRecord) {
    /// println!("{}", record.key());
    /// # }
    /// ```
    #[must_use]
    pub fn key(&self) -> &str {
        self.0.address.key.as_str()
    }

    /// How often it was tried.
    ///
    /// ```
    /// # fn show(record: idempotent_runtime::HeldRecord) {
    /// println!("{}", record.attempts());
    /// # }
    /// ```
    #[must_use]
    pub fn attempts(&self) -> i64 {
        self.0.fence.attempt
    }

    /// When the last attempt began, in milliseconds since the epoch by the database's clock.
    ///
    /// ```
    /// # fn show(record: idempotent_runtime::HeldRecord) {
    /// println!("{}", record.claimed_at());
    /// # }
    /// ```
    #[must_use]
    pub fn claimed_at(&self) -> crate::Millis {
        self.0.created_at
    }

    /// The key that a step of this operation sent, or would have sent, to another system: ask that system by it.
    ///
    /// ```
    /// # fn show(record: idempotent_runtime::HeldRecord) {
    /// println!("{}", record.downstream_key("charge"));
    /// # }
    /// ```
    #[must_use]
    pub fn downstream_key(&self, step: &str) -> String {
        self.0.address.downstream_key(step)
    }
}

/// What is decided about a held record.
///
/// ```
/// use idempotent_runtime::{Answer, Resolution};
///
/// let found_at_the_provider = Resolution::Completed(Answer::of(&"charged").unwrap());
/// # let _ = found_at_the_provider;
/// ```
#[derive(Debug, Clone)]
pub enum Resolution {
    /// It was done: this is the answer, now and for every repeat.
    Completed(Answer),
    /// It was not done: the next repeat runs it, with all its attempts anew.
    Release,
    /// Nobody knows yet.
    KeepHolding,
}

/// The hook of an engine.
pub(crate) type Reconcile = Arc<dyn Fn(HeldRecord) -> BoxFuture<'static, Resolution> + Send + Sync>;

/// Boxes a hook.
pub(crate) fn hook<F, Fut>(hook: F) -> Reconcile
where
    F: Fn(HeldRecord) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Resolution> + Send + 'static,
{
    Arc::new(move |record| hook(record).boxed())
}

impl<C: Connection> Idempotency<C> {
    /// Up to `most` records of this engine's namespace whose outcome is unknown, oldest first.
    ///
    /// ```
    /// # async fn list(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// let held = engine.held(100).await?;
    /// # let _ = held; Ok(())
    /// # }
    /// ```
    #[must_use = "it says whether it went well"]
    pub fn held(&self, most: u32) -> C::Returns<'_, Result<Vec<HeldRecord>, Error>> {
        C::returns(async move {
            let which = Which::Held { namespace: &self.inner().settings.namespace };
            Ok(self.inner().unresolved(which, most).await?.into_iter().map(HeldRecord).collect())
        })
    }

    /// Decides about a held record. False if it is not held any more: somebody has decided, or its holder, which was
    /// only paused, has come back. An answer is kept until the record's first expiry, which may be over.
    ///
    /// ```
    /// use idempotent_runtime::Resolution;
    ///
    /// # async fn decide(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// for record in engine.held(100).await? {
    ///     engine.resolve(&record, Resolution::Release).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolve<'c>(
        &'c self,
        record: &'c HeldRecord,
        resolution: Resolution,
    ) -> C::Returns<'c, Result<bool, Error>> {
        C::returns(async move { resolve(&*self.erased(), record, resolution).await })
    }
}

/// Applies a decision under the fence of the attempt that it is about.
pub(crate) async fn resolve(
    engine: &dyn crate::engine::Engine,
    record: &HeldRecord,
    resolution: Resolution,
) -> Result<bool, Error> {
    let Unresolved { address, fence, .. } = &record.0;
    match resolution {
        Resolution::Completed(answer) => {
            engine.change(address, *fence, Change::Decide(Some(&Stored::Answer(answer)))).await
        }
        Resolution::Release => engine.change(address, *fence, Change::Decide(None)).await,
        Resolution::KeepHolding => Ok(true),
    }
}

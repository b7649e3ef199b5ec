//! Steps: the recovery points of a function that calls other systems.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::claim::{Claim, Fence, StepRow};
use crate::effects::{Effects, Frame};
use crate::engine::Inner;
use crate::error::Error;
use crate::failpoint::failpoint;
use crate::in_transaction::InTransaction;
use crate::lease::Lease;
use crate::run::Backoff;
use crate::store::Ended;
use crate::store::fault::{Fault, classify};
use crate::vault::{Part, Unreadable};

/// The recovery points of one run: what is recorded is not done again, by a retry or by whoever takes the run over.
///
/// A parameter marked `#[steps]` receives them; it is no extractor and no argument. Steps run in the order in which
/// they are called, which must be the same in every run; each has a name of its own.
///
/// ```
/// # #[cfg(all(feature = "axum", feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::{doc::Sqlite as Db, Error, Steps, idempotent};
/// # async fn charge_at_provider(key: &str) -> Result<String, Error> { Ok(key.to_owned()) }
/// # #[derive(Debug)] struct ApiError;
/// # impl From<Error> for ApiError { fn from(_: Error) -> Self { Self } }
/// # impl axum::response::IntoResponse for ApiError {
/// #     fn into_response(self) -> axum::response::Response { http::StatusCode::INTERNAL_SERVER_ERROR.into_response() }
/// # }
/// #[idempotent(key = header, ttl = "72h", lease = "30s")]
/// async fn pay(#[steps] steps: &mut Steps<Db>) -> Result<String, ApiError> {
///     // Writes and recovery point commit together.
///     let order: i64 = steps.tx("start", async |_conn| Ok::<_, ApiError>(42)).await?;
///     // Not repeated once it is recorded; until then with the same key for the other system.
///     let charge: String = steps.run("charge", async |key| Ok::<_, ApiError>(charge_at_provider(&key).await?)).await?;
///     Ok(format!("{order}: {charge}"))
/// }
/// # }
/// ```
pub struct Steps<C: 'static> {
    engine: Arc<Inner<C>>,
    claim: Claim,
    fence: Fence,
    lease: Lease,
    recorded: VecDeque<StepRow>,
    position: i64,
    names: HashSet<String>,
    keeps_claim: KeepsClaim,
}

/// Whether an error was met after which the key must not be given back.
pub(crate) type KeepsClaim = Arc<AtomicBool>;

impl<C> std::fmt::Debug for Steps<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").field("claim", &self.claim).field("position", &self.position).finish_non_exhaustive()
    }
}

impl<C: Send + 'static> Steps<C> {
    /// The steps of a claim that was won, with those that earlier attempts recorded.
    pub(crate) async fn load(
        engine: Arc<Inner<C>>,
        claim: Claim,
        fence: Fence,
        lease: Lease,
        keeps_claim: KeepsClaim,
    ) -> Result<Self, Error> {
        failpoint!("steps.load");
        // The first claim of a key has none. (Attempts do not tell: an operator gives a held key back with all of them.)
        let recorded = if fence.token > 1 {
            let mut conn = engine.connection().await?;
            engine.driver.steps(&mut conn, &claim.address, fence).await.map_err(Error::unavailable)?.into()
        } else {
            VecDeque::new()
        };
        Ok(Self { engine, claim, fence, lease, recorded, position: 0, names: HashSet::new(), keeps_claim })
    }

    /// The lease of this run.
    ///
    /// ```
    /// # fn look(steps: &idempotent_runtime::Steps<idempotent_runtime::doc::Sqlite>) {
    /// if steps.lease().is_lost() { /* stop */ }
    /// # }
    /// ```
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// How often this operation was begun, this run included.
    ///
    /// ```
    /// # fn look(steps: &idempotent_runtime::Steps<idempotent_runtime::doc::Sqlite>) {
    /// println!("attempt {}", steps.attempt());
    /// # }
    /// ```
    #[must_use]
    pub fn attempt(&self) -> i64 {
        self.fence.attempt
    }

    /// The key that the step of this name sends to another system: 256 bits, derived from namespace, operation, scope,
    /// key and the step's name, the same in every attempt.
    ///
    /// ```
    /// # fn look(steps: &idempotent_runtime::Steps<idempotent_runtime::doc::Sqlite>) {
    /// let key = steps.downstream_key("charge");
    /// # }
    /// ```
    #[must_use]
    pub fn downstream_key(&self, step: &str) -> String {
        self.claim.address.downstream_key(step)
    }

    /// Runs a step outside the database and records its value; one that is recorded is handed back instead.
    ///
    /// The step is given its downstream key. `Err` records nothing: the next attempt runs the step again, with the same
    /// key. So does one that crashed before its value was recorded.
    ///
    /// ```
    /// # use idempotent_runtime::{doc::Sqlite as Db, Error, Steps};
    /// # async fn charge_at_provider(key: &str) -> Result<String, Error> { Ok(key.to_owned()) }
    /// # async fn pay(steps: &mut Steps<Db>) -> Result<(), Error> {
    /// let charge = steps.run("charge", async |key| charge_at_provider(&key).await).await?;
    /// # let _ = charge; Ok(())
    /// # }
    /// ```
    pub async fn run<T, E, F>(&mut self, name: &str, step: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
        F: AsyncFnOnce(String) -> Result<T, E>,
    {
        if let Some(value) = self.recorded(name)? {
            return Ok(value);
        }
        failpoint!("step.run.before");
        let value = step(self.downstream_key(name)).await?;
        failpoint!("step.run.executed");
        let row = self.encode(name, &value)?;
        self.record(&row).await?;
        failpoint!("step.run.recorded");
        self.position += 1;
        Ok(value)
    }

    /// Runs a step in a transaction that also holds its recovery point: the writes and the record of them commit
    /// together. The transaction begins by locking and renewing the claim, so that a holder that lost its lease writes
    /// nothing. A clone of the step runs again after a serialization failure or a deadlock.
    ///
    /// ```
    /// # use idempotent_runtime::{doc::Sqlite as Db, Error, Steps};
    /// # async fn insert(conn: &mut Db) -> Result<i64, Error> { let _ = conn; Ok(1) }
    /// # async fn pay(steps: &mut Steps<Db>) -> Result<(), Error> {
    /// let order = steps.tx("start", async |conn| insert(conn).await).await?;
    /// # let _ = order; Ok(())
    /// # }
    /// ```
    pub async fn tx<T, E, F>(&mut self, name: &str, step: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
        F: AsyncFnOnce(&mut C) -> Result<T, E> + Clone,
    {
        if let Some(value) = self.recorded(name)? {
            return Ok(value);
        }
        // The heartbeat rests: a transaction keeps the record locked, and renews the lease as it begins and as it ends.
        let pulse = Arc::clone(&self.lease.pulse);
        let pulse = pulse.lock().await;
        let mut backoff = Backoff::default();
        loop {
            failpoint!("step.tx.before");
            let cause = match self.attempt_tx(name, &mut backoff, step.clone()).await? {
                Attempt::Committed(value, effects) => {
                    drop(pulse);
                    effects.run().await;
                    failpoint!("step.tx.committed");
                    self.position += 1;
                    return Ok(value);
                }
                Attempt::MetAnother(cause) => cause,
            };
            if !backoff.wait().await {
                return Err(Error::unavailable(cause).into());
            }
            // A COMMIT whose answer was lost may have committed after all.
            if let Some(row) = self.look_again().await? {
                let value = self.decode(&row)?;
                self.position += 1;
                return Ok(value);
            }
        }
    }

    /// One transaction of a step.
    async fn attempt_tx<T, E, F>(&mut self, name: &str, backoff: &mut Backoff, step: F) -> Result<Attempt<T>, E>
    where
        T: Serialize,
        E: From<Error>,
        F: AsyncFnOnce(&mut C) -> Result<T, E>,
    {
        let Inner { driver, settings, .. } = &*self.engine;
        let mut conn = self.engine.connection().await?;
        let own = settings.own(driver.depth(&mut conn).map_err(Error::unavailable)?);
        let mut conn = InTransaction::new(conn, own.base, *driver);
        match driver.begin_step(&mut conn, &self.claim, self.fence, own).await {
            Ok(true) => {}
            Ok(false) => {
                conn.ended();
                self.lease.lose();
                return Err(Error::LeaseLost.into());
            }
            Err(error) if classify(&error) == Fault::Contention => {
                conn.ended();
                return Ok(Attempt::MetAnother(error));
            }
            Err(error) => return Err(Error::unavailable(error).into()),
        }
        failpoint!("step.tx.begun");
        let frame = Frame::open(&*conn, own.base, own.base + 1);
        let ran = match AssertUnwindSafe(step(&mut conn)).catch_unwind().await {
            Ok(ran) => ran,
            Err(panic) => {
                drop(frame);
                let _ = driver.roll_back(&mut conn).await;
                conn.ended();
                resume_unwind(panic);
            }
        };
        failpoint!("step.tx.executed");
        let encoded = ran.and_then(|value| Ok((self.encode(name, &value)?, value)));
        let (row, value) = match encoded {
            Ok(encoded) => encoded,
            Err(error) => {
                drop(frame);
                let met_another = backoff.blames_another(*driver, &mut *conn, settings.isolation).await;
                driver.roll_back(&mut conn).await.map_err(Error::unavailable)?;
                conn.ended();
                return match met_another {
                    true => Ok(Attempt::MetAnother(diesel::result::Error::RollbackTransaction)),
                    false => Err(error),
                };
            }
        };
        let ended = driver.end_step(&mut conn, &self.claim, self.fence, self.position, &row, own).await;
        let met_another = driver.saw_contention(&mut conn);
        // Before the connection goes back to its pool, where somebody else finds it.
        let effects = frame.ended(matches!(ended, Ok(Ended::Done)));
        conn.ended();
        match ended {
            Ok(Ended::Done) => Ok(Attempt::Committed(value, effects)),
            Ok(Ended::RolledBack(error)) if classify(&error) == Fault::Other && !met_another => {
                Err(Error::NotCommitted(error.into()).into())
            }
            Ok(Ended::RolledBack(error)) | Err(error) => Ok(Attempt::MetAnother(error)),
        }
    }

    /// The recorded value of the step that comes now, or `None` if it has to run.
    fn recorded<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Error> {
        if !self.names.insert(name.to_owned()) {
            return Err(self.keep_claim(Error::StepRepeated { name: name.to_owned() }));
        }
        if let Some(row) = self.recorded.front() {
            if row.name != name {
                let error = Error::StepOutOfOrder { recorded: row.name.clone(), called: name.to_owned() };
                return Err(self.keep_claim(error));
            }
            let value = self.decode(row).map_err(|error| self.keep_claim(error))?;
            self.recorded.pop_front();
            self.position += 1;
            return Ok(Some(value));
        }
        if self.lease.is_lost() {
            return Err(Error::LeaseLost);
        }
        Ok(None)
    }

    /// Records a step, also while the store is away for a moment: what was done should not be done again.
    async fn record(&self, row: &StepRow) -> Result<(), Error> {
        let _pulse = self.lease.pulse.lock().await;
        let mut backoff = Backoff::default();
        loop {
            let recorded = async {
                let mut conn = self.engine.connection().await?;
                let recorded = self.engine.driver.record_step(&mut conn, &self.claim, self.fence, self.position, row);
                recorded.await.map_err(Error::unavailable)
            };
            let error = match recorded.await {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    self.lease.lose();
                    return Err(Error::LeaseLost);
                }
                Err(error) => error,
            };
            if !backoff.wait().await {
                return Err(error);
            }
            // An answer of the store that was lost may have been a yes.
            if let Ok(Some(_)) = self.look_again().await {
                return Ok(());
            }
        }
    }

    /// The record of the step that comes now, if it is there.
    async fn look_again(&self) -> Result<Option<StepRow>, Error> {
        let mut conn = self.engine.connection().await?;
        let steps = self.engine.driver.steps(&mut conn, &self.claim.address, self.fence).await;
        let position = usize::try_from(self.position).unwrap_or(usize::MAX);
        Ok(steps.map_err(Error::unavailable)?.into_iter().nth(position))
    }

    /// A value, as it is recorded.
    fn encode(&self, name: &str, value: &impl Serialize) -> Result<StepRow, Error> {
        let (address, plain) = (&self.claim.address, serde_json::to_vec(value).map_err(Error::Unserializable)?);
        let value = address.vault.seal(address, Part::Step(name), plain.into()).map_err(Error::unavailable)?;
        Ok(StepRow { name: name.to_owned(), value })
    }

    /// A value that was recorded.
    fn decode<T: DeserializeOwned>(&self, row: &StepRow) -> Result<T, Error> {
        let (address, StepRow { name, value }) = (&self.claim.address, row);
        let plain = address.vault.open(address, Part::Step(name), value.clone());
        let plain = plain.map_err(|Unreadable| Error::StepUnreadable { name: name.clone() })?;
        serde_json::from_slice(&plain).map_err(|cause| Error::StepUndecodable { name: name.clone(), cause })
    }

    /// Marks the claim as not to be given back: what runs now does not fit what is recorded.
    fn keep_claim(&self, error: Error) -> Error {
        tracing::error!(%error, operation = self.claim.address.operation, "the steps of a run do not fit its record");
        self.keeps_claim.store(true, Ordering::Release);
        error
    }
}

/// What came of one transaction of a step.
enum Attempt<T> {
    /// With what is to be done now.
    Committed(T, Effects),
    /// It was rolled back, or its COMMIT had no answer: run it again.
    MetAnother(diesel::result::Error),
}

//! What can go wrong between a request and its run, each with its code, its status and its fix.

use std::time::Duration;

use http::StatusCode;

use crate::key::KeyError;
use crate::record::Refusal;

/// The cause below an error of this crate.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a function did not run, or why its outcome could not be kept.
///
/// An annotated plain function returns `Result<T, E>` with `E: From<Error>`; an HTTP handler answers with
/// [`status`](Error::status) and [`code`](Error::code).
///
/// ```
/// use idempotent_runtime::Error;
///
/// #[derive(Debug)]
/// enum ConsumeError { Idempotency(Error) }
/// impl From<Error> for ConsumeError {
///     fn from(error: Error) -> Self { Self::Idempotency(error) }
/// }
/// assert_eq!(Error::KeyMissing.code(), "idempotency_key_missing");
/// assert!(!Error::KeyMissing.is_retryable());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request has no key and needs one.
    #[error("This request needs an idempotency key; send a fresh UUID in the header and repeat it in every retry.")]
    KeyMissing,
    /// The key cannot be read, or the policy refuses it. Nothing was stored.
    #[error("Invalid idempotency key: {0}.")]
    KeyInvalid(#[from] KeyError),
    /// Nobody could be named whose key this is.
    #[error("Whose idempotency key this is cannot be told; authenticate the request.")]
    ScopeMissing,
    /// The key was used for another request.
    #[error("Idempotency key already used with different request parameters.")]
    KeyReused,
    /// The first request under this key still runs.
    #[error("A request with this idempotency key is still running; repeat it in {} s.", seconds(*.retry_after))]
    KeyInUse {
        /// How long its claim is believed yet; at least a second in `Retry-After`.
        retry_after: Duration,
    },
    /// The first request died, and may not run again until somebody decides.
    #[error("The outcome of the first request with this idempotency key is unknown; ask the operator of this service.")]
    OutcomeUnknown,
    /// It ran, but its answer was too large or a stream; it will not run again under this key.
    #[error(
        "The request was carried out, but its answer could not be stored; ask for the current state instead of repeating it."
    )]
    ResponseNotStored,
    /// The body is larger than the engine's limit. Nothing was stored.
    #[error("The request body is larger than {limit} bytes.")]
    BodyTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The body could not be read to its end. Nothing was stored.
    #[error("The request body could not be read to its end.")]
    BodyUnreadable,
    /// The store cannot be reached, or is busy beyond its timeout. The function did not run, or its writes were
    /// rolled back.
    #[error("The idempotency store is not available; repeat the request.")]
    Unavailable(#[source] Cause),
    /// A serialization failure, a deadlock, or a lost race: the same call succeeds when its transaction is run again.
    #[error("The transaction met another one; run it again.")]
    Retryable(#[source] Cause),
    /// The stored result is not what the function returns today: a deploy changed the type.
    #[error("The stored result cannot be read as what the function returns now: {0}.")]
    Undecodable(#[source] serde_json::Error),
    /// The function returned a value that cannot be serialised.
    #[error("The result cannot be serialised: {0}.")]
    Unserializable(#[source] serde_json::Error),
    /// The function answered, but its transaction could not be committed, time and again: it swallowed an error of the
    /// database, or ended a transaction that it was given. Its writes were rolled back.
    #[error("The transaction could not be committed: {0}.")]
    NotCommitted(#[source] Cause),
    /// Another has taken this claim over: what this run does from now on is not stored.
    #[error("Another request has taken this one over; repeat it to get its answer.")]
    LeaseLost,
    /// Two steps of one run have the same name. Nothing was released.
    #[error("the step `{name}` is run twice; give each step a name of its own")]
    StepRepeated {
        /// The name.
        name: String,
    },
    /// The steps come in another order than an earlier attempt recorded them. Nothing was released.
    #[error(
        "the step `{called}` is called where `{recorded}` is recorded; keep the order of steps while runs are unfinished"
    )]
    StepOutOfOrder {
        /// What an earlier attempt recorded here.
        recorded: String,
        /// What is called now.
        called: String,
    },
    /// A recorded value is not what the step returns today: a deploy changed the type. Nothing was released.
    #[error("the recorded value of the step `{name}` cannot be read as what it returns now; keep reading the old form")]
    StepUndecodable {
        /// The name of the step.
        name: String,
        /// What serde says.
        #[source]
        cause: serde_json::Error,
    },
    /// The program is wired wrongly; the text says what to write.
    #[error("{0}.")]
    Misconfigured(String),
}

impl Error {
    /// The status of the answer (Stripe profile).
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Error::KeyReused.status(), 409);
    /// ```
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::KeyMissing | Self::KeyInvalid(_) | Self::ScopeMissing | Self::BodyUnreadable => {
                StatusCode::BAD_REQUEST
            }
            Self::KeyReused
            | Self::KeyInUse { .. }
            | Self::OutcomeUnknown
            | Self::ResponseNotStored
            | Self::LeaseLost => StatusCode::CONFLICT,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unavailable(_) | Self::Retryable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Undecodable(_)
            | Self::Unserializable(_)
            | Self::NotCommitted(_)
            | Self::StepRepeated { .. }
            | Self::StepOutOfOrder { .. }
            | Self::StepUndecodable { .. }
            | Self::Misconfigured(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A word for programs to switch on.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Error::KeyReused.code(), "idempotency_key_reused");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::KeyMissing => "idempotency_key_missing",
            Self::KeyInvalid(_) => "idempotency_key_invalid",
            Self::ScopeMissing => "idempotency_scope_missing",
            Self::KeyReused => "idempotency_key_reused",
            Self::KeyInUse { .. } | Self::LeaseLost => "idempotency_key_in_use",
            Self::OutcomeUnknown => "idempotency_outcome_unknown",
            Self::ResponseNotStored => "idempotency_response_not_stored",
            Self::BodyTooLarge { .. } => "idempotency_body_too_large",
            Self::BodyUnreadable => "idempotency_body_unreadable",
            Self::Unavailable(_) | Self::Retryable(_) => "idempotency_unavailable",
            Self::Undecodable(_) => "idempotency_result_undecodable",
            Self::Unserializable(_) => "idempotency_result_unserializable",
            Self::StepRepeated { .. } => "idempotency_step_repeated",
            Self::StepOutOfOrder { .. } => "idempotency_step_out_of_order",
            Self::StepUndecodable { .. } => "idempotency_step_undecodable",
            Self::NotCommitted(_) => "idempotency_not_committed",
            Self::Misconfigured(_) => "idempotency_misconfigured",
        }
    }

    /// How long to wait before repeating the same request; `None` if repeating does not help.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Error::KeyReused.retry_after(), None);
    /// ```
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::KeyInUse { retry_after } => Some(*retry_after),
            Self::Unavailable(_) | Self::Retryable(_) | Self::LeaseLost => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    /// Whether the same call may succeed later.
    ///
    /// ```
    /// use idempotent_runtime::Error;
    /// let busy = Error::KeyInUse { retry_after: std::time::Duration::from_secs(2) };
    /// assert!(busy.is_retryable());
    /// ```
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retry_after().is_some()
    }

    pub(crate) fn misconfigured(text: impl Into<String>) -> Self {
        Self::Misconfigured(text.into())
    }

    pub(crate) fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Reused => Self::KeyReused,
            Refusal::InUse { retry_after_ms } => {
                Self::KeyInUse { retry_after: Duration::from_millis(retry_after_ms.max(0).unsigned_abs()) }
            }
            Refusal::OutcomeUnknown => Self::OutcomeUnknown,
            Refusal::NotStored => Self::ResponseNotStored,
        }
    }
}

/// Whole seconds for `Retry-After` (RFC 9110, section 10.2.3): rounded up, at least 1.
pub(crate) fn seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1_000).max(1).try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_rounded_up_and_never_zero() {
        for (millis, expected) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2), (29_999, 30)] {
            assert_eq!(seconds(Duration::from_millis(millis)), expected);
        }
    }
}

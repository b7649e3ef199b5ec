//! What can go wrong between a request and its run, each with its code, its status and its fix.

use std::time::Duration;

use http::StatusCode;

use crate::key::KeyError;
use crate::record::Refusal;
use crate::settings::Profile;

/// The cause below an error of this crate.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a function did not run, or why its outcome could not be kept.
///
/// An annotated plain function returns `Result<T, E>` with `E: From<Error>`; an HTTP handler answers with
/// [`status`](Error::status) and [`code`](Error::code), in the form of its engine's [`Profile`].
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
    /// The request has no token and needs one.
    #[error("This request needs a one-time token; ask for one, and send it once.")]
    TokenMissing,
    /// The token is none that was issued to this caller for this operation, or its time is over. Nothing was stored.
    #[error("This one-time token is not valid here, or has expired; ask for a new one.")]
    TokenInvalid,
    /// The token was used before, and the route gives no answers back.
    #[error("This one-time token was used before.")]
    TokenUsed,
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
    /// It ran, but its answer is encrypted with a key that this engine does not have, or was altered; it will not run
    /// again under this key.
    #[error("The request was carried out, but its stored answer cannot be read now; repeat it later.")]
    ResponseUnreadable,
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
    /// A recorded value is encrypted with a key that this engine does not have, or was altered. Nothing was released.
    #[error("the recorded value of the step `{name}` cannot be decrypted; give the engine the key it was written with")]
    StepUnreadable {
        /// The name of the step.
        name: String,
    },
    /// The program is wired wrongly; the text says what to write.
    #[error("{0}.")]
    Misconfigured(String),
}

impl Error {
    /// The status of the answer under the Stripe profile.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Error::KeyReused.status(), 409);
    /// ```
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.told().0
    }

    /// The status of the answer under a profile: that of the IETF tells a key that was reused (422) from one in use.
    ///
    /// ```
    /// use idempotent_runtime::{Error, Profile};
    /// assert_eq!(Error::KeyReused.status_under(Profile::Ietf), 422);
    /// ```
    #[must_use]
    pub fn status_under(&self, profile: Profile) -> StatusCode {
        match (profile, self) {
            (Profile::Ietf, Self::KeyReused) => StatusCode::UNPROCESSABLE_ENTITY,
            (Profile::Stripe | Profile::Ietf, _) => self.status(),
        }
    }

    /// A word for programs to switch on.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Error::KeyReused.code(), "idempotency_key_reused");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.told().1
    }

    /// A summary that is the same for every occurrence: the `title` under the IETF profile. The first three are those of
    /// draft-ietf-httpapi-idempotency-key-header-07, section 2.7.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Error::KeyMissing.title(), "Idempotency-Key is missing");
    /// ```
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.told().2
    }

    /// What a client is told of each kind: status, code and title.
    fn told(&self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        const OUTSTANDING: &str = "A request is outstanding for this Idempotency-Key";
        const UNAVAILABLE: &str = "Idempotency cannot be assured at the moment";
        const BROKEN: &str = "The request could not be carried out";
        match self {
            Self::KeyMissing => (S::BAD_REQUEST, "idempotency_key_missing", "Idempotency-Key is missing"),
            Self::KeyReused => (S::CONFLICT, "idempotency_key_reused", "Idempotency-Key is already used"),
            Self::KeyInUse { .. } | Self::LeaseLost => (S::CONFLICT, "idempotency_key_in_use", OUTSTANDING),
            Self::KeyInvalid(_) => (S::BAD_REQUEST, "idempotency_key_invalid", "Idempotency-Key is invalid"),
            Self::TokenMissing => (S::BAD_REQUEST, "idempotency_token_missing", "The one-time token is missing"),
            Self::TokenInvalid => (S::FORBIDDEN, "idempotency_token_invalid", "The one-time token is not valid"),
            Self::TokenUsed => (S::CONFLICT, "idempotency_token_used", "The one-time token was used before"),
            Self::ScopeMissing => {
                (S::BAD_REQUEST, "idempotency_scope_missing", "The owner of this Idempotency-Key is unknown")
            }
            Self::OutcomeUnknown => (
                S::CONFLICT,
                "idempotency_outcome_unknown",
                "The outcome of the first request with this Idempotency-Key is unknown",
            ),
            Self::ResponseNotStored => (
                S::CONFLICT,
                "idempotency_response_not_stored",
                "The response to the first request with this Idempotency-Key was not stored",
            ),
            Self::ResponseUnreadable => (
                S::SERVICE_UNAVAILABLE,
                "idempotency_response_unreadable",
                "The response to the first request with this Idempotency-Key cannot be read",
            ),
            Self::BodyTooLarge { .. } => {
                (S::PAYLOAD_TOO_LARGE, "idempotency_body_too_large", "The request body is too large")
            }
            Self::BodyUnreadable => (S::BAD_REQUEST, "idempotency_body_unreadable", "The request body is incomplete"),
            Self::Unavailable(_) | Self::Retryable(_) => {
                (S::SERVICE_UNAVAILABLE, "idempotency_unavailable", UNAVAILABLE)
            }
            Self::Undecodable(_) => (S::INTERNAL_SERVER_ERROR, "idempotency_result_undecodable", BROKEN),
            Self::Unserializable(_) => (S::INTERNAL_SERVER_ERROR, "idempotency_result_unserializable", BROKEN),
            Self::StepRepeated { .. } => (S::INTERNAL_SERVER_ERROR, "idempotency_step_repeated", BROKEN),
            Self::StepOutOfOrder { .. } => (S::INTERNAL_SERVER_ERROR, "idempotency_step_out_of_order", BROKEN),
            Self::StepUndecodable { .. } => (S::INTERNAL_SERVER_ERROR, "idempotency_step_undecodable", BROKEN),
            Self::StepUnreadable { .. } => (S::SERVICE_UNAVAILABLE, "idempotency_step_unreadable", BROKEN),
            Self::NotCommitted(_) => (S::INTERNAL_SERVER_ERROR, "idempotency_not_committed", BROKEN),
            Self::Misconfigured(_) => (S::INTERNAL_SERVER_ERROR, "idempotency_misconfigured", BROKEN),
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
            // Until somebody has given the engine its key.
            Self::ResponseUnreadable | Self::StepUnreadable { .. } => Some(Duration::from_secs(60)),
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
            Refusal::TokenInvalid => Self::TokenInvalid,
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
    fn the_profiles_differ_in_the_status_of_a_reused_key_and_in_nothing_else() {
        let in_use = Error::KeyInUse { retry_after: Duration::ZERO };
        for (error, stripe, ietf) in [
            (Error::KeyMissing, 400, 400),
            (Error::KeyReused, 409, 422),
            (in_use, 409, 409),
            (Error::LeaseLost, 409, 409),
        ] {
            assert_eq!((error.status_under(Profile::Stripe), error.status_under(Profile::Ietf)), {
                let status = |code| StatusCode::from_u16(code).unwrap();
                (status(stripe), status(ietf))
            });
        }
    }

    #[test]
    fn retry_after_is_rounded_up_and_never_zero() {
        for (millis, expected) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2), (29_999, 30)] {
            assert_eq!(seconds(Duration::from_millis(millis)), expected);
        }
    }
}

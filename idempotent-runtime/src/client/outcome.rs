//! What a call came to.

use std::fmt;

use reqwest::Response;

/// What a call came to, as far as a client can know.
///
/// ```
/// # use idempotent_runtime::client::{CallError, IdempotentClient, Outcome};
/// # async fn order(client: IdempotentClient) -> Result<(), CallError> {
/// match client.post("https://shop.example/orders").body("book").send().await? {
///     Outcome::New(response) => println!("answered: {}", response.status()),
///     Outcome::Replayed(response) => println!("answered before: {}", response.status()),
///     Outcome::Unknown(unknown) => println!("{unknown}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "an unknown outcome has to be dealt with"]
pub enum Outcome {
    /// The server's answer, of whatever status, and it does not come from its store.
    New(Response),
    /// The stored answer of an earlier attempt or call under the same key: the server said `Idempotent-Replayed: true`.
    Replayed(Response),
    /// No answer that settles it. The server may have carried the call out, or may yet.
    Unknown(Unknown),
}

impl Outcome {
    /// The answer, new or replayed.
    ///
    /// ```
    /// # async fn order(client: idempotent_runtime::client::IdempotentClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let response = client.post("https://shop.example/orders").body("book").send().await?.answer()?;
    /// # let _ = response;
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer(self) -> Result<Response, Unknown> {
        match self {
            Self::New(response) | Self::Replayed(response) => Ok(response),
            Self::Unknown(unknown) => Err(unknown),
        }
    }
}

/// A call whose outcome is not known. It can be made again under the same key, with [`Call::key`](super::Call::key) or,
/// where there is a [`Journal`](super::Journal), under the same id; never under a new one.
///
/// ```
/// # use idempotent_runtime::client::{Doubt, Unknown};
/// fn look_into(unknown: &Unknown) {
///     match unknown.doubt {
///         Doubt::NoAnswer => println!("try {} again later", unknown.key),
///         Doubt::Held => println!("ask the operator about {}", unknown.key),
///         Doubt::CarriedOut => println!("done; ask for the current state"),
///         _ => println!("{unknown}"),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Unknown {
    /// The key of every attempt.
    pub key: String,
    /// How many attempts were made.
    pub attempts: u32,
    /// What is known all the same.
    pub doubt: Doubt,
    /// How the last attempt ended.
    pub last: LastAttempt,
}

/// What is known of a call that has no answer.
///
/// ```
/// # use idempotent_runtime::client::Doubt;
/// assert_ne!(Doubt::Held, Doubt::CarriedOut);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// Nothing: attempts or time are used up.
    NoAnswer,
    /// The server does not know either, and will not repeat it until its operator has decided
    /// (`idempotency_outcome_unknown`).
    Held,
    /// It was carried out, but the server cannot give its answer back (`idempotency_response_not_stored`,
    /// `idempotency_response_unreadable`).
    CarriedOut,
}

/// How the last attempt of a call ended.
///
/// ```
/// # use idempotent_runtime::client::LastAttempt;
/// fn status(last: &LastAttempt) -> Option<u16> {
///     match last {
///         LastAttempt::Answered(response) => Some(response.status().as_u16()),
///         _ => None,
///     }
/// }
/// # assert_eq!(status(&LastAttempt::TimedOut), None);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LastAttempt {
    /// With this answer, which settles nothing.
    Answered(Box<Response>),
    /// Without a whole answer.
    Failed(reqwest_middleware::Error),
    /// Its time was over.
    TimedOut,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, attempts, doubt, last } = self;
        let (known, fix) = match doubt {
            Doubt::NoAnswer => ("no answer came that settles it", "repeat it later, under the same key"),
            Doubt::Held => ("the server does not know either", "ask its operator"),
            Doubt::CarriedOut => ("it was carried out, and its answer is gone", "ask for the current state"),
        };
        write!(
            f,
            "the call under the key `{key}` ended without an answer in attempt {attempts} ({last}): {known}; {fix}"
        )
    }
}

impl fmt::Display for LastAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(response) => write!(f, "status {}", response.status()),
            Self::Failed(error) => error.fmt(f),
            Self::TimedOut => f.write_str("timed out"),
        }
    }
}

impl std::error::Error for Unknown {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.last {
            LastAttempt::Failed(error) => Some(error),
            LastAttempt::Answered(_) | LastAttempt::TimedOut => None,
        }
    }
}

//! Why a row was not moved.

use http::StatusCode;

use crate::store::fault::{Fault, classify};

/// Why a row was not moved. Nothing of the transition was written, but for what [`Retryable`](Self::Retryable) says.
///
/// A function of `#[state_transition]` returns `Result<Transition<T>, E>` with `E: From<TransitionError>`.
///
/// ```
/// use idempotent_runtime::TransitionError;
///
/// #[derive(Debug)]
/// enum OrderError { Transition(TransitionError) }
/// impl From<TransitionError> for OrderError {
///     fn from(error: TransitionError) -> Self { Self::Transition(error) }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransitionError {
    /// The event is not possible where the row is.
    #[error("{row} is `{actual}`; `{event}` {}; possible now: {}", reason(.needs, *.guard), possible(.allowed))]
    #[non_exhaustive]
    Conflict {
        /// The row, as in "order 42".
        row: Box<str>,
        /// The event that was fired.
        event: &'static str,
        /// The state that the row is in.
        actual: String,
        /// The states that the event leaves.
        needs: Box<[&'static str]>,
        /// The events that are possible now.
        allowed: Box<[&'static str]>,
        /// Whether the row has been in the event's target before, and has moved on. Known where the machine has a
        /// history; otherwise false.
        passed: bool,
        /// The guard that refused, if the state would have permitted it.
        guard: Option<&'static str>,
    },
    /// There is no such row.
    #[error("there is no {row}")]
    #[non_exhaustive]
    NotFound {
        /// The row, as in "order 42".
        row: Box<str>,
    },
    /// The row has no state at all.
    #[error("{row} has no state: the column is NULL; repair the row, and declare the column NOT NULL")]
    #[non_exhaustive]
    NullState {
        /// The row, as in "order 42".
        row: Box<str>,
    },
    /// The row is in a state that the graph does not have.
    #[error(
        "{row} is in the unknown state `{value}`; add it to the machine, as an `alias` if it was renamed, or repair the row"
    )]
    #[non_exhaustive]
    UnknownState {
        /// The row, as in "order 42".
        row: Box<str>,
        /// What is stored.
        value: String,
    },
    /// The row has moved since the caller read its version.
    #[error("{row} has moved on: its version is {actual}, and not {expected}; read it again and decide anew")]
    #[non_exhaustive]
    Stale {
        /// The row, as in "order 42".
        row: Box<str>,
        /// The version that the caller gave.
        expected: i64,
        /// The version of the row.
        actual: i64,
    },
    /// The transition must commit before it calls another system, and the connection is in a transaction already.
    #[error(
        "`{event}` must commit `{via}` before it calls another system, and the connection is in a transaction, where nobody would see it; call it outside of one"
    )]
    #[non_exhaustive]
    InTransaction {
        /// The event that claims.
        event: &'static str,
        /// The state in between.
        via: &'static str,
    },
    /// The outcome chooses between several states, and nothing was chosen; or what was chosen is no target of the event
    /// from where the row was.
    #[error("`{event}` leads from `{actual}` to {}; {}", listed(.targets, " or "), undecided(.chosen.as_ref()))]
    #[non_exhaustive]
    Undecided {
        /// The event that was fired.
        event: &'static str,
        /// The state that the row was in.
        actual: String,
        /// The states that may be chosen.
        targets: Vec<&'static str>,
        /// What was chosen.
        chosen: Option<String>,
    },
    /// The call says what the machine has no column for.
    #[error("`{what}` needs `{argument} = …` in `#[state_machine]` of `{machine}`")]
    #[non_exhaustive]
    Undeclared {
        /// What was said.
        what: &'static str,
        /// The argument that is missing.
        argument: &'static str,
        /// The name of the enum.
        machine: &'static str,
    },
    /// Another transaction was met, or the connection was lost: run the whole transaction again. If it was lost during
    /// the COMMIT, the transition may have been written all the same, and then the next run finds it applied.
    #[error("the transaction met another one, or lost its connection; run it again: {0}")]
    Retryable(#[source] diesel::result::Error),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[source] diesel::result::Error),
}

impl TransitionError {
    /// Whether the same call may succeed when its whole transaction is run again.
    ///
    /// ```
    /// use idempotent_runtime::TransitionError;
    /// let lost = TransitionError::Retryable(diesel::result::Error::RollbackTransaction);
    /// assert!(lost.is_retryable());
    /// ```
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Retryable(_))
    }

    /// The status of an answer that says this.
    ///
    /// ```
    /// use idempotent_runtime::TransitionError;
    /// let lost = TransitionError::Retryable(diesel::result::Error::RollbackTransaction);
    /// assert_eq!(lost.status(), 503);
    /// ```
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Conflict { .. } | Self::Stale { .. } => StatusCode::CONFLICT,
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::Retryable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NullState { .. }
            | Self::UnknownState { .. }
            | Self::InTransaction { .. }
            | Self::Undecided { .. }
            | Self::Undeclared { .. }
            | Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A word for programs to switch on.
    ///
    /// ```
    /// use idempotent_runtime::TransitionError;
    /// let lost = TransitionError::Retryable(diesel::result::Error::RollbackTransaction);
    /// assert_eq!(lost.code(), "state_unavailable");
    /// ```
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "state_conflict",
            Self::NotFound { .. } => "state_not_found",
            Self::Stale { .. } => "state_stale",
            Self::Retryable(_) => "state_unavailable",
            Self::NullState { .. } => "state_missing",
            Self::UnknownState { .. } => "state_unknown",
            Self::InTransaction { .. } => "state_in_transaction",
            Self::Undecided { .. } => "state_undecided",
            Self::Undeclared { .. } => "state_undeclared",
            Self::Database(_) => "state_failed",
        }
    }
}

impl From<diesel::result::Error> for TransitionError {
    fn from(error: diesel::result::Error) -> Self {
        match classify(&error) {
            Fault::Contention | Fault::Unavailable => Self::Retryable(error),
            Fault::Other => Self::Database(error),
        }
    }
}

fn reason(needs: &[&str], guard: Option<&str>) -> String {
    match guard {
        Some(guard) => format!("is refused by `{guard}`"),
        None => format!("needs {}", listed(needs, " or ")),
    }
}

fn undecided(chosen: Option<&String>) -> String {
    match chosen {
        Some(chosen) => format!("`{chosen}` is none of them"),
        None => "choose one with `.to(…)`".to_owned(),
    }
}

fn possible(events: &[&str]) -> String {
    if events.is_empty() { "none".to_owned() } else { events.join(", ") }
}

fn listed(names: &[&str], between: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_small_enough_to_be_handed_around() {
        assert!(size_of::<TransitionError>() < 128);
    }

    #[test]
    fn a_conflict_says_where_the_row_is_what_is_needed_and_what_is_possible() {
        let conflict = TransitionError::Conflict {
            row: "order 42".into(),
            event: "pay",
            actual: "cancelled".into(),
            needs: Box::new(["created"]),
            allowed: Box::new([]),
            passed: false,
            guard: None,
        };
        assert_eq!(conflict.to_string(), "order 42 is `cancelled`; `pay` needs `created`; possible now: none");
    }
}

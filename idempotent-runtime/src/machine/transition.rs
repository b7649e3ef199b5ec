//! What came of a transition.

use serde::{Deserialize, Serialize};

/// What came of a transition that was permitted.
///
/// A function of `#[state_transition]` returns `Ok(value.into())`, and its caller learns whether it ran. A function may
/// return `AlreadyApplied` itself, if it finds that there is nothing to do: then everything is rolled back, and the row
/// stays where it was.
///
/// ```
/// use idempotent_runtime::Transition;
///
/// let paid: Transition<&str> = "receipt".into();
/// assert_eq!(paid.applied(), Some("receipt"));
/// assert_eq!(Transition::<&str>::AlreadyApplied.applied(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[must_use]
pub enum Transition<T> {
    /// The row was moved by this call.
    Applied(T),
    /// The row is in the target state, by another call or by an earlier one. Before an effect outside of the database
    /// treat it as a conflict: it does not say who put it there, nor how far that one has come.
    AlreadyApplied,
}

impl<T> From<T> for Transition<T> {
    fn from(value: T) -> Self {
        Self::Applied(value)
    }
}

impl<T> Transition<T> {
    /// Whether this call moved the row.
    ///
    /// ```
    /// assert!(idempotent_runtime::Transition::Applied(1).is_applied());
    /// ```
    pub const fn is_applied(&self) -> bool {
        matches!(self, Self::Applied(_))
    }

    /// What the call that moved the row gave.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Transition::Applied(1).applied(), Some(1));
    /// ```
    pub fn applied(self) -> Option<T> {
        match self {
            Self::Applied(value) => Some(value),
            Self::AlreadyApplied => None,
        }
    }

    /// The same outcome with another value.
    ///
    /// ```
    /// # use idempotent_runtime::Transition;
    /// assert_eq!(Transition::Applied(1).map(|n| n + 1), Transition::Applied(2));
    /// ```
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Transition<U> {
        match self {
            Self::Applied(value) => Transition::Applied(f(value)),
            Self::AlreadyApplied => Transition::AlreadyApplied,
        }
    }
}

/// The way that a row went.
///
/// ```
/// # use idempotent_runtime::doc::OrderStatus;
/// let moved = idempotent_runtime::Moved { from: OrderStatus::Created, to: OrderStatus::Paid };
/// assert_ne!(moved.from, moved.to);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Moved<M> {
    /// The state that was left.
    pub from: M,
    /// The state that was entered.
    pub to: M,
}

//! What a function of a transition returns, and the closures of its attribute: each bound is asked for here alone.

use super::StateMachine;
use super::error::TransitionError;
use super::transition::Transition;

/// What a function of `#[state_transition]` returns.
#[diagnostic::on_unimplemented(
    message = "a transition must return `Result<Transition<T>, E>` with `E: From<idempotent_runtime::TransitionError>`",
    label = "this cannot say what came of a transition",
    note = "wrap the value in `idempotent_runtime::Transition`, and implement `From<TransitionError>` for the error"
)]
pub trait TransitionResult: Sized {
    #[doc(hidden)]
    type Value;
    #[doc(hidden)]
    type Error;
    #[doc(hidden)]
    fn already() -> Self;
    #[doc(hidden)]
    fn refuse(error: TransitionError) -> Self;
    #[doc(hidden)]
    fn ran(&self) -> Ran<'_, Self::Value, Self::Error>;
}

/// What a body said.
#[derive(Debug)]
pub enum Ran<'r, T, E> {
    Applied(&'r T),
    Stays,
    Failed(&'r E),
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TransitionError>> TransitionResult for Result<Transition<T>, E> {
    type Value = T;
    type Error = E;

    fn already() -> Self {
        Ok(Transition::AlreadyApplied)
    }

    fn refuse(error: TransitionError) -> Self {
        Err(error.into())
    }

    fn ran(&self) -> Ran<'_, T, E> {
        match self {
            Ok(Transition::Applied(value)) => Ran::Applied(value),
            Ok(Transition::AlreadyApplied) => Ran::Stays,
            Err(error) => Ran::Failed(error),
        }
    }
}

/// How the result `R` of a function says what came of a transition, with the value `T` and the error `E`: the one place
/// where its bounds are asked for.
pub struct Returns<R, T, E> {
    pub(super) already: fn() -> R,
    pub(super) refuse: fn(TransitionError) -> R,
    pub(super) ran: for<'r> fn(&'r R) -> Ran<'r, T, E>,
}

impl<R, T, E> Clone for Returns<R, T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, T, E> Copy for Returns<R, T, E> {}

impl<R, T, E> std::fmt::Debug for Returns<R, T, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Returns")
    }
}

/// Asks, on the user's own type, that it be a result of a transition.
#[must_use]
pub const fn returns<R: TransitionResult>() -> Returns<R, R::Value, R::Error> {
    Returns { already: R::already, refuse: R::refuse, ran: R::ran }
}

/// A guard over the arguments and the locked row, at its own place in the user's code.
pub const fn guard<M: StateMachine, F: Fn(&M::Row) -> bool + Send + Sync>(guard: F) -> F {
    guard
}

/// What an outcome chooses, at its own place in the user's code.
pub const fn outcome<R: TransitionResult, M: StateMachine, F: Fn(&R::Value) -> M + Send + Sync>(outcome: F) -> F {
    outcome
}

/// Which errors are final, at its own place in the user's code.
pub const fn failed<R: TransitionResult, F: Fn(&R::Error) -> bool + Send + Sync>(failed: F) -> F {
    failed
}

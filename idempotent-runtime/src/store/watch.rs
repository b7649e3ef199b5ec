//! Sees the serialization failures and deadlocks that a handler swallows or maps to an answer of its own.

use diesel::connection::{Instrumentation, InstrumentationEvent, get_default_instrumentation};

use super::fault::{Fault, classify};

/// An instrumentation that remembers contention, and passes every event on to the program's default one.
///
/// A connection with an instrumentation of its own keeps that: it cannot be taken out to be wrapped.
pub(crate) struct Watch {
    contention: bool,
    next: Option<Box<dyn Instrumentation>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { contention: false, next: get_default_instrumentation() }
    }

    /// Whether this may take the place of `current` without losing anything.
    pub(crate) fn may_replace(&self, current: &dyn Instrumentation) -> bool {
        match &self.next {
            Some(next) => (**next).as_any().type_id() == current.as_any().type_id(),
            None => size_of_val(current) == 0,
        }
    }

    /// Forgets what earlier users of the connection met.
    pub(crate) fn reset(&mut self) {
        self.contention = false;
    }

    pub(crate) fn saw_contention(&self) -> bool {
        self.contention
    }
}

impl Instrumentation for Watch {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = &event {
            self.contention |= classify(error) == Fault::Contention;
        }
        if let Some(next) = &mut self.next {
            next.on_connection_event(event);
        }
    }
}

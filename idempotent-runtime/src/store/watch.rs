//! Sees the serialization failures and deadlocks that a handler swallows or maps to an answer of its own.

use diesel::connection::{Instrumentation, InstrumentationEvent, get_default_instrumentation};

use super::fault::{Fault, classify};
use super::wire::Wire;

/// An instrumentation that remembers contention, and passes every event on to the program's default one.
///
/// A connection with an instrumentation of its own keeps that: it cannot be taken out to be wrapped.
pub(crate) struct Watch {
    contention: bool,
    error: bool,
    next: Option<Box<dyn Instrumentation>>,
}

impl Watch {
    fn new() -> Self {
        Self { contention: false, error: false, next: get_default_instrumentation() }
    }

    /// Puts a watch on a connection, where it takes nothing away, and makes it forget what was met before.
    pub(crate) fn put_on(conn: &mut impl Wire) {
        if let Some(watch) = conn.watcher().downcast_mut::<Self>() {
            watch.reset();
            return;
        }
        let watch = Self::new();
        if watch.may_replace(conn.watcher()) {
            conn.set_watcher(watch);
        }
    }

    /// Whether a connection that is watched has met contention.
    pub(crate) fn has_seen(conn: &mut impl Wire) -> bool {
        conn.watcher().downcast_ref::<Self>().is_some_and(Self::saw_contention)
    }

    /// Whether a connection has met any error; whoever is not watched may have.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "used there"))]
    pub(crate) fn has_seen_error(conn: &mut impl Wire) -> bool {
        conn.watcher().downcast_ref::<Self>().is_none_or(|watch| watch.error)
    }

    /// Whether this may take the place of `current` without losing anything.
    fn may_replace(&self, current: &dyn Instrumentation) -> bool {
        match &self.next {
            Some(next) => (**next).as_any().type_id() == current.as_any().type_id(),
            None => size_of_val(current) == 0,
        }
    }

    /// Forgets what earlier users of the connection met.
    fn reset(&mut self) {
        self.contention = false;
        self.error = false;
    }

    fn saw_contention(&self) -> bool {
        self.contention
    }
}

impl Instrumentation for Watch {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = &event {
            self.error = true;
            self.contention |= classify(error) == Fault::Contention;
        }
        if let Some(next) = &mut self.next {
            next.on_connection_event(event);
        }
    }
}

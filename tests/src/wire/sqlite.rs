//! The statements of `SQLite`, which has no wire: as diesel tells them.

use diesel::connection::{Instrumentation, InstrumentationEvent};

use super::Wire;

/// Counts what its connection does.
#[derive(Debug)]
pub(crate) struct Statements(pub(crate) Wire);

impl Instrumentation for Statements {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match event {
            InstrumentationEvent::StartQuery { .. } => self.0.lock().statements += 1,
            InstrumentationEvent::CacheQuery { .. } => self.0.lock().prepared += 1,
            _ => {}
        }
    }
}

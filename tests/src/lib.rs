//! What the tests share: throw-away databases, and a service whose handlers do as each test says.

pub mod mysql;
pub mod postgres;
pub mod proxy;
pub(crate) mod server;
pub mod sqlite;
pub mod wire;

use std::io::Write;
use std::sync::Once;

/// Says that a database was left out, past the test runner's capture; fails where every database must be tested.
///
/// # Panics
///
/// If `TEST_REQUIRE_ALL` is set.
pub fn leave_out(database: &str, variable: &str) {
    static SAID: Once = Once::new();
    assert!(std::env::var_os("TEST_REQUIRE_ALL").is_none(), "skipped: {database}, because {variable} is not set");
    SAID.call_once(|| {
        let _ = writeln!(
            std::io::stderr(),
            "\nskipped: {database}, because {variable} is not set; `scripts/test` runs the tests on every database\n"
        );
    });
}

/// Stops a connection where a test wants it: before it sends a statement that contains `text`.
pub struct Pause {
    text: &'static str,
    wait: Box<dyn FnMut() + Send>,
}

impl Pause {
    /// Calls `wait` before each such statement.
    pub fn before(text: &'static str, wait: impl FnMut() + Send + 'static) -> Self {
        Self { text, wait: Box::new(wait) }
    }
}

impl diesel::connection::Instrumentation for Pause {
    fn on_connection_event(&mut self, event: diesel::connection::InstrumentationEvent<'_>) {
        if let diesel::connection::InstrumentationEvent::StartQuery { query, .. } = event
            && query.to_string().contains(self.text)
        {
            // Hands the other tasks of this thread to another one.
            tokio::task::block_in_place(|| (self.wait)());
        }
    }
}

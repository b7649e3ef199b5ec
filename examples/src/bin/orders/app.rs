//! The state of the handlers.

use std::time::Duration;

use examples::db::Pool;

use crate::provider::Provider;

/// What every handler may use.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) pool: Pool,
    pub(crate) provider: Provider,
    /// How long an unfinished payment is believed.
    pub(crate) lease: Duration,
}

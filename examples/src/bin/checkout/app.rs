//! The state of the handlers.

use std::time::Duration;

use examples::db::{Db, Pool};
use examples::problem::Problem;
use idempotent_runtime::{Idempotency, Token};

/// How long a token may be used, and how long its answer is kept.
pub(crate) const TTL: Duration = Duration::from_secs(3600);

/// What every handler may use.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) pool: Pool,
    pub(crate) idempotency: Idempotency<Db>,
}

impl App {
    /// A token for one run of an operation by this visitor.
    pub(crate) async fn issue(&self, visitor: &str, operation: &str) -> Result<Token, Problem> {
        Ok(self.idempotency.issue_token(visitor, operation, TTL).await?)
    }
}

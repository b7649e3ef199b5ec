//! The first line of a row's history.

use super::StateMachine;
use super::ask::{Ask, Sources};
use super::decide::Found;
use super::error::TransitionError;
use super::firing::{Firing, Session, check_declared, driver};
use super::row_id::RowId;
use super::sql::Sql;
use crate::connection::Connection;
use crate::transaction::begin;

/// The birth of a row, for its history.
///
/// ```
/// # use idempotent_runtime::{TransitionError, doc::{OrderStatus, Sqlite as Db}, StateMachine};
/// # async fn create(conn: &mut Db) -> Result<(), TransitionError> {
/// OrderStatus::Created.born(42).execute(conn).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing happens before `execute`"]
pub struct Birth<M> {
    firing: Firing,
    state: M,
}

impl<M: StateMachine> Birth<M> {
    pub(crate) fn new(state: M, id: &impl RowId<M::IdType>) -> Self {
        let ask = Ask { event: None, from: Sources::Any, to: &[] };
        Self { firing: Firing::new::<M>(ask, id.row_name()), state }
    }

    /// Who did it, for the history.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.firing.notes.actor = Some(actor.into());
        self
    }

    /// Appends to the history that the row began in this state, with the event `create`: in the transaction that
    /// inserts the row. The row must be there, and in this state, which must be an initial one.
    pub fn execute<C: Connection>(self, conn: &mut C) -> C::Returns<'_, Result<(), TransitionError>> {
        C::returns(self.run(conn))
    }

    async fn run<C: Connection>(self, conn: &mut C) -> Result<(), TransitionError> {
        let Self { firing, state } = self;
        check_declared::<M>(firing.version, &firing.notes)?;
        let sql = Sql::of::<M>(driver::<C>().database());
        let name = state.name();
        let initial = M::GRAPH.states.iter().any(|state| state.initial && state.name == name);
        let open = begin(conn).await?;
        let mut session = Session { conn: &mut *conn, sql: &sql };
        let appended = async {
            let found = session.lock(&firing.row).await?;
            let Some(Found { state: stored, .. }) = found else {
                return Err(TransitionError::NotFound { row: firing.label.into() });
            };
            if !initial || stored.as_deref() != Some(name) {
                let initial = M::GRAPH.states.iter().filter(|state| state.initial).map(|state| state.name).collect();
                return Err(TransitionError::Conflict {
                    row: firing.label.into(),
                    event: "create",
                    actual: stored.unwrap_or_default(),
                    needs: initial,
                    allowed: Box::default(),
                    passed: false,
                    guard: None,
                });
            }
            let rows = [(firing.row.bind.clone(), None)];
            if let Some(append) = sql.append("create", &rows, name, &firing.notes) {
                session.execute(append).await?;
            }
            Ok(())
        };
        let appended = appended.await;
        open.end(conn, appended).await
    }
}

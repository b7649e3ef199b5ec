//! The whole of a row, for guards.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::deserialize::QueryableByName;
use diesel::row::NamedRow;
use diesel::sql_types::Untyped;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::columns::NoRow;
use crate::store::statement::Statement;
use crate::store::wire::Rows;

/// What a guard can be shown: a struct that derives `QueryableByName` for the machine's table, or nothing.
#[diagnostic::on_unimplemented(
    message = "guards cannot look at `{Self}` on this connection",
    label = "derive `diesel::QueryableByName` for it, with `#[diesel(table_name = …)]`"
)]
pub trait LoadRow<C>: Sized + Send {
    #[doc(hidden)]
    fn load(conn: &mut C, statement: Statement<Untyped>) -> BoxFuture<'_, QueryResult<Option<Self>>>;
}

impl<DB: Backend> QueryableByName<DB> for NoRow {
    fn build<'a>(_: &impl NamedRow<'a, DB>) -> diesel::deserialize::Result<Self> {
        Ok(Self)
    }
}

#[diagnostic::do_not_recommend]
impl<C: Rows<Untyped, R>, R: Send + 'static> LoadRow<C> for R {
    fn load(conn: &mut C, statement: Statement<Untyped>) -> BoxFuture<'_, QueryResult<Option<Self>>> {
        async move { Ok(conn.rows(statement).await?.into_iter().next()) }.boxed()
    }
}

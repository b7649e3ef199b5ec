//! What the drivers of servers share.

use super::row::{FoundRow, FoundSql, LookRow, LookSql, RecordedRow, StepSql, UnresolvedRow, UnresolvedSql};
use super::wire::{Rows, Wire};

/// A connection that runs every statement that the drivers of servers have in common.
pub(super) trait Direct:
    Wire
    + Rows<LookSql, LookRow>
    + Rows<UnresolvedSql, UnresolvedRow>
    + Rows<StepSql, RecordedRow>
    + Rows<FoundSql, FoundRow>
{
}

impl<C> Direct for C where
    C: Wire
        + Rows<LookSql, LookRow>
        + Rows<UnresolvedSql, UnresolvedRow>
        + Rows<StepSql, RecordedRow>
        + Rows<FoundSql, FoundRow>
{
}

/// The verbs of a backend that are one statement, on a connection that runs it by itself.
macro_rules! direct_verbs {
    ($connection:ty) => {
        fn issue<'c>(
            &self,
            conn: &'c mut $connection,
            address: &'c $crate::claim::Address,
            ttl: $crate::lifetime::Ttl,
        ) -> BoxFuture<'c, QueryResult<()>> {
            let issue = Statement::new(TEXTS.issue, $crate::store::issue_binds(address, ttl));
            async move { conn.execute(issue).await.map(drop) }.boxed()
        }

        fn look<'c>(
            &self,
            conn: &'c mut $connection,
            address: &'c $crate::claim::Address,
        ) -> BoxFuture<'c, QueryResult<Option<$crate::claim::Row>>> {
            look(conn, address).boxed()
        }

        fn change<'c>(
            &self,
            conn: &'c mut $connection,
            address: &'c $crate::claim::Address,
            fence: $crate::claim::Fence,
            change: $crate::store::Change<'c>,
        ) -> BoxFuture<'c, QueryResult<bool>> {
            fenced(conn, change.text(&TEXTS), $crate::store::change_binds(address, fence, change)).boxed()
        }

        fn unresolved<'c>(
            &self,
            conn: &'c mut $connection,
            which: $crate::store::Which<'c>,
            most: i64,
        ) -> BoxFuture<'c, QueryResult<Vec<$crate::claim::Unresolved>>> {
            use $crate::store::row::{UnresolvedRow, UnresolvedSql, read_unresolved};
            async move {
                let claims = Statement::<UnresolvedSql>::new(which.text(&TEXTS), which.binds(most));
                let rows: Vec<UnresolvedRow> = conn.rows(claims).await?;
                Ok(rows.into_iter().filter_map(|row| read_unresolved(which.namespace(), row)).collect())
            }
            .boxed()
        }

        fn steps<'c>(
            &self,
            conn: &'c mut $connection,
            address: &'c $crate::claim::Address,
            fence: $crate::claim::Fence,
        ) -> BoxFuture<'c, QueryResult<Vec<$crate::claim::StepRow>>> {
            use $crate::store::row::{RecordedRow, StepSql, read_step};
            async move {
                let mut binds = $crate::store::address_binds(address);
                binds.push(Bind::Int(fence.generation));
                let steps = Statement::<StepSql>::new($crate::store::sql::STEPS, binds);
                let rows: Vec<RecordedRow> = conn.rows(steps).await?;
                Ok(rows.into_iter().map(read_step).collect())
            }
            .boxed()
        }

        fn execute<'c>(&self, conn: &'c mut $connection, statement: Statement) -> BoxFuture<'c, QueryResult<usize>> {
            conn.execute(statement).boxed()
        }

        fn found<'c>(
            &self,
            conn: &'c mut $connection,
            statement: Statement<$crate::store::FoundSql>,
        ) -> BoxFuture<'c, QueryResult<Vec<$crate::store::FoundRow>>> {
            conn.rows(statement).boxed()
        }

        fn without_statement_cache(&self, conn: &mut $connection) {
            conn.without_statement_cache();
        }
    };
}
pub(super) use direct_verbs;

//! What the drivers of servers share.

/// The verbs of a backend that are one statement, on a connection that runs it by itself. Not to be said generically:
/// what diesel asks of a connection cannot be proven for a type parameter.
macro_rules! direct_verbs {
    ($connection:ty) => {
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
                let rows = Statement::<UnresolvedSql>::new(which.text(&TEXTS), which.binds(most))
                    .load::<UnresolvedRow>(conn)
                    .await?;
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
            use $crate::store::row::{StepSql, read_step};
            async move {
                let mut binds = $crate::store::address_binds(address);
                binds.push(Bind::Int(fence.generation));
                let steps = Statement::<StepSql>::new($crate::store::sql::STEPS, binds);
                Ok(steps.load::<(String, Vec<u8>)>(conn).await?.into_iter().map(read_step).collect())
            }
            .boxed()
        }

        fn execute<'c>(&self, conn: &'c mut $connection, statement: Statement) -> BoxFuture<'c, QueryResult<usize>> {
            async move { statement.execute(conn).await }.boxed()
        }

        fn found<'c>(
            &self,
            conn: &'c mut $connection,
            statement: Statement<$crate::store::FoundSql>,
        ) -> BoxFuture<'c, QueryResult<Vec<$crate::store::FoundRow>>> {
            async move { statement.load(conn).await }.boxed()
        }

        fn without_statement_cache(&self, conn: &mut $connection) {
            conn.set_prepared_statement_cache_size(diesel::connection::CacheSize::Disabled);
        }
    };
}
pub(super) use direct_verbs;

//! A store that keeps nothing and grants every claim, for the benchmark of what is done outside a database.

use diesel::QueryResult;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use super::statement::Statement;
use super::{Access, Change, Driver, End, Ended, FoundRow, FoundSql, Isolation, Level, Own, Which};
use super::{address_binds, change_binds, claim_binds, stored_binds};
use crate::claim::{Address, Claim, Claimed, Fence, Row, StepRow, Unresolved};
use crate::connection::async_connection;
use crate::database::Database;
use crate::lifetime::Ttl;
use crate::owner::owner;
use crate::pool::Pooled;

/// A connection to it.
#[derive(Debug)]
pub struct Nowhere;

async_connection!(Nowhere, Keeper);

impl crate::AsyncConnection for Nowhere {}

struct Keeper;

/// At once.
fn done<'c, T: Send + 'c>(value: T) -> BoxFuture<'c, QueryResult<T>> {
    ready(Ok(value)).boxed()
}

/// Puts the values of a statement together, as for a database.
fn said(binds: impl IntoIterator<Item = super::Bind>) {
    std::hint::black_box(Statement::<()>::new("", binds.into_iter().collect()));
}

fn won(claim: &Claim) -> Claimed {
    said(address_binds(&claim.address));
    let owner = owner();
    said(claim_binds(claim, owner));
    Claimed::Won(Fence { owner, token: 1, generation: 1, attempt: 1 })
}

impl Driver<Nowhere> for Keeper {
    fn claim<'c>(&self, _: &'c mut Nowhere, claim: &'c Claim) -> BoxFuture<'c, QueryResult<Claimed>> {
        done(won(claim))
    }

    fn issue<'c>(&self, _: &'c mut Nowhere, _: &'c Address, _: Ttl) -> BoxFuture<'c, QueryResult<()>> {
        done(())
    }

    fn look<'c>(&self, _: &'c mut Nowhere, _: &'c Address) -> BoxFuture<'c, QueryResult<Option<Row>>> {
        done(None)
    }

    fn change<'c>(
        &self,
        _: &'c mut Nowhere,
        address: &'c Address,
        fence: Fence,
        change: Change<'c>,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        said(change_binds(address, fence, change));
        done(true)
    }

    fn unresolved<'c>(&self, _: &'c mut Nowhere, _: Which<'c>, _: i64) -> BoxFuture<'c, QueryResult<Vec<Unresolved>>> {
        done(Vec::new())
    }

    fn steps<'c>(&self, _: &'c mut Nowhere, _: &'c Address, _: Fence) -> BoxFuture<'c, QueryResult<Vec<StepRow>>> {
        done(Vec::new())
    }

    fn record_step<'c>(
        &self,
        _: &'c mut Nowhere,
        _: &'c Claim,
        _: Fence,
        _: i64,
        _: &'c StepRow,
    ) -> BoxFuture<'c, QueryResult<bool>> {
        done(true)
    }

    fn begin_step<'c>(&self, _: &'c mut Nowhere, _: &'c Claim, _: Fence, _: Own) -> BoxFuture<'c, QueryResult<bool>> {
        done(true)
    }

    fn end_step<'c>(
        &self,
        _: &'c mut Nowhere,
        _: &'c Claim,
        _: Fence,
        _: i64,
        _: &'c StepRow,
        _: Own,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        done(Ended::Done)
    }

    fn sweep<'c>(&self, _: &'c mut Nowhere, _: i64) -> BoxFuture<'c, QueryResult<usize>> {
        done(0)
    }

    fn open<'c>(&self, _: &'c mut Nowhere, claim: &'c Claim, _: Level) -> BoxFuture<'c, QueryResult<Claimed>> {
        done(won(claim))
    }

    fn close<'c>(
        &self,
        _: &'c mut Nowhere,
        claim: &'c Claim,
        _: Fence,
        _: Level,
        end: End,
    ) -> BoxFuture<'c, QueryResult<Ended>> {
        if let End::Commit(stored) | End::Undo(stored) = end {
            said(stored_binds(&claim.address, &stored));
        }
        done(Ended::Done)
    }

    fn begin<'c>(&self, _: &'c mut Nowhere, _: Access, _: Option<Isolation>) -> BoxFuture<'c, QueryResult<()>> {
        done(())
    }

    fn commit<'c>(&self, _: &'c mut Nowhere) -> BoxFuture<'c, QueryResult<()>> {
        done(())
    }

    fn seal<'c>(&self, _: &'c mut Nowhere) -> BoxFuture<'c, QueryResult<()>> {
        done(())
    }

    fn roll_back<'c>(&self, _: &'c mut Nowhere) -> BoxFuture<'c, QueryResult<()>> {
        done(())
    }

    fn execute<'c>(&self, _: &'c mut Nowhere, _: Statement) -> BoxFuture<'c, QueryResult<usize>> {
        done(1)
    }

    fn found<'c>(&self, _: &'c mut Nowhere, _: Statement<FoundSql>) -> BoxFuture<'c, QueryResult<Vec<FoundRow>>> {
        done(Vec::new())
    }

    fn database(&self) -> Database {
        Database::Sqlite
    }

    fn depth(&self, _: &mut Nowhere) -> QueryResult<u32> {
        Ok(0)
    }

    fn saw_contention(&self, _: &mut Nowhere) -> bool {
        false
    }

    fn without_statement_cache(&self, _: &mut Nowhere) {}

    fn migrate(&self, _: Pooled<Nowhere>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

//! A state that can be read and not written.

use std::fmt;
use std::ops::Deref;

use diesel::backend::Backend;
use diesel::deserialize::{FromSql, Queryable};
use diesel::sql_types::SingleValue;
use serde::{Deserialize, Serialize};

/// The state of a loaded row. A struct that has it cannot write the column: it is no value for an INSERT or an UPDATE,
/// so that saving a row that was loaded before a transition does not undo it. Only transitions move a row.
///
/// ```
/// # use idempotent_runtime::doc::OrderStatus;
/// use idempotent_runtime::Current;
///
/// #[derive(Debug, serde::Serialize)]
/// struct Order { id: i64, status: Current<OrderStatus> }
///
/// let order = Order { id: 1, status: Current::new(OrderStatus::Paid) };
/// assert!(*order.status == OrderStatus::Paid);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Current<M>(M);

impl<M> Current<M> {
    /// A state as if it was loaded, for tests and for rows that are built by hand.
    pub const fn new(state: M) -> Self {
        Self(state)
    }

    /// The state.
    pub fn into_inner(self) -> M {
        self.0
    }
}

impl<M> Deref for Current<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}

impl<M: fmt::Display> fmt::Display for Current<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<M: PartialEq> PartialEq<M> for Current<M> {
    fn eq(&self, other: &M) -> bool {
        self.0 == *other
    }
}

impl<ST, DB: Backend, M: FromSql<ST, DB>> FromSql<ST, DB> for Current<M> {
    fn from_sql(bytes: DB::RawValue<'_>) -> diesel::deserialize::Result<Self> {
        M::from_sql(bytes).map(Self)
    }
}

impl<ST: SingleValue, DB: Backend, M> Queryable<ST, DB> for Current<M>
where
    Self: FromSql<ST, DB>,
{
    type Row = Self;

    fn build(row: Self) -> diesel::deserialize::Result<Self> {
        Ok(row)
    }
}

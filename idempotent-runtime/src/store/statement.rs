//! One owned query node for every statement: its text is the key of the driver's statement cache, so each is prepared
//! once per connection. (`sql_query` and the update DSL are prepared anew at each call.)

use std::borrow::Cow;
use std::marker::PhantomData;

use bytes::Bytes;
use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};

/// A statement over a list of values has a text for every length of the list: those of more values than any other
/// statement are prepared anew each time, and not kept for ever.
const MOST_CACHED_BINDS: usize = 24;

/// A value to bind.
#[derive(Debug, Clone)]
pub(crate) enum Bind {
    Text(String),
    Bytes(Bytes),
    Int(i64),
    /// NULL in a column of bytes.
    NoBytes,
    /// NULL in a column of integers.
    NoInt,
    /// NULL in a column of text.
    NoText,
    /// A UUID of `PostgreSQL`, in its text form.
    Uuid(String),
}

/// A statement with its values. The text names them `?1`, `?2`, …, each as often as it likes.
#[derive(Debug, Clone)]
pub struct Statement<Row = ()> {
    text: Cow<'static, str>,
    binds: Vec<Bind>,
    row: PhantomData<fn() -> Row>,
}

impl<Row> Statement<Row> {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>, binds: Vec<Bind>) -> Self {
        Self { text: text.into(), binds, row: PhantomData }
    }
}

/// What a backend adds to the statements: how it takes a value.
pub(crate) trait Dialect: Backend {
    /// Pushes a value with the backend's own type for it.
    fn push_bind<'b>(pass: &mut AstPass<'_, 'b, Self>, bind: &'b Bind) -> QueryResult<()>;
}

/// Implements [`Dialect`] for a backend; the same for each, and not to be said generically, since diesel's `ToSql` is
/// implemented for each backend apart.
macro_rules! dialect {
    ($backend:ty) => {
        impl $crate::store::statement::Dialect for $backend {
            fn push_bind<'b>(
                pass: &mut diesel::query_builder::AstPass<'_, 'b, Self>,
                bind: &'b $crate::store::statement::Bind,
            ) -> diesel::QueryResult<()> {
                use diesel::sql_types::{BigInt, Binary, Nullable, Text};
                use $crate::store::statement::Bind;
                static NO_BYTES: Option<Vec<u8>> = None;
                static NO_INT: Option<i64> = None;
                static NO_TEXT: Option<String> = None;
                match bind {
                    Bind::Text(value) => pass.push_bind_param::<Text, str>(value),
                    Bind::Bytes(value) => pass.push_bind_param::<Binary, [u8]>(value),
                    Bind::Int(value) => pass.push_bind_param::<BigInt, i64>(value),
                    Bind::NoBytes => pass.push_bind_param::<Nullable<Binary>, _>(&NO_BYTES),
                    Bind::NoInt => pass.push_bind_param::<Nullable<BigInt>, _>(&NO_INT),
                    Bind::NoText => pass.push_bind_param::<Nullable<Text>, _>(&NO_TEXT),
                    Bind::Uuid(value) => {
                        pass.push_bind_param::<Text, str>(value)?;
                        pass.push_sql("::uuid");
                        Ok(())
                    }
                }
            }
        }
    };
}

pub(crate) use dialect;

impl<DB: Dialect, Row> QueryFragment<DB> for Statement<Row> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        if self.binds.len() > MOST_CACHED_BINDS {
            pass.unsafe_to_cache_prepared();
        }
        let mut pieces = self.text.split('?');
        pass.push_sql(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            let bind = piece[..digits].parse::<usize>().ok().and_then(|n| self.binds.get(n.wrapping_sub(1)));
            let bind = bind.ok_or_else(|| diesel::result::Error::QueryBuilderError(self.text.clone().into()))?;
            DB::push_bind(&mut pass, bind)?;
            pass.push_sql(&piece[digits..]);
        }
        Ok(())
    }
}

impl<Row> QueryId for Statement<Row> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Row> Query for Statement<Row> {
    type SqlType = Row;
}

/// Blocking execution.
impl<Row, Conn> diesel::query_dsl::RunQueryDsl<Conn> for Statement<Row> {}

//! Where a machine is kept: its table, its columns, and the history.

use diesel::query_builder::QueryFragment;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, SmallInt, Text};

use super::row_id::{RowId, RowName};

/// The columns of a machine, by their names in SQL.
#[derive(Debug, PartialEq, Eq)]
pub struct Columns {
    /// Holds the state.
    pub state: &'static str,
    /// Names the row.
    pub id: &'static str,
    /// Counts the transitions of a row.
    pub version: Option<&'static str>,
    /// When the state was entered, in milliseconds since the epoch.
    pub entered: Option<&'static str>,
    /// The key that the work of a `via` state sends to another system.
    pub key: Option<&'static str>,
    /// Whether there is a history.
    pub history: bool,
    /// The column of the history that names the row.
    pub history_id: &'static str,
}

/// The tables of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// That of the rows.
    pub table: TableName,
    /// That of their histories.
    pub history: Option<TableName>,
}

/// The name of a table in SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The schema, if it is named.
    pub schema: Option<String>,
    /// The table itself.
    pub name: String,
}

impl TableName {
    /// The name that diesel writes for a table, whatever its backend quotes with. `fallback` is for a program without
    /// any backend.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    #[allow(private_bounds, reason = "it is an alias of diesel's own")]
    pub fn of<T: QueryFragment<AnyBackend>>(table: &T, _fallback: &str) -> Self {
        let mut sql = <AnyBackend as diesel::backend::Backend>::QueryBuilder::default();
        let written = table.to_sql(&mut sql, &AnyBackend::default());
        let written = written.map(|()| diesel::query_builder::QueryBuilder::<AnyBackend>::finish(sql));
        let mut names = unquoted(&written.unwrap_or_default());
        let name = names.pop().unwrap_or_default();
        Self { schema: names.pop(), name }
    }

    /// The name of a table, in a program without any backend.
    #[cfg(not(any(feature = "sqlite", feature = "postgres")))]
    pub fn of<T>(_table: &T, fallback: &str) -> Self {
        Self { schema: None, name: fallback.to_owned() }
    }
}

/// Whatever backend there is: names are the same on each.
#[cfg(feature = "sqlite")]
pub(crate) type AnyBackend = diesel::sqlite::Sqlite;
#[cfg(all(feature = "postgres", not(feature = "sqlite")))]
pub(crate) type AnyBackend = diesel::pg::Pg;

/// The identifiers of `"a"."b"`, which may be quoted by backticks instead.
fn unquoted(sql: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = sql.chars().peekable();
    while let Some(quote) = rest.find(|c| matches!(c, '"' | '`')) {
        let mut name = String::new();
        while let Some(c) = rest.next() {
            if c != quote {
                name.push(c);
            } else if rest.next_if_eq(&quote).is_some() {
                name.push(quote);
            } else {
                break;
            }
        }
        names.push(name);
    }
    names
}

/// A SQL type by which rows can be named: integers, text, bytes, and UUIDs of `PostgreSQL`.
#[diagnostic::on_unimplemented(
    message = "the id column of a state machine cannot be `{Self}`",
    label = "expected an integer, `Text`, `Binary` or `Uuid` column"
)]
pub trait IdType: 'static {
    #[doc(hidden)]
    const SQLITE: &'static str;
    #[doc(hidden)]
    const POSTGRES: &'static str;
    #[doc(hidden)]
    const MYSQL: &'static str;
    #[doc(hidden)]
    const BYTES: bool = false;
    /// The name of a row that was read as text.
    #[doc(hidden)]
    fn named(text: &str) -> Option<RowName>;
}

macro_rules! id_types {
    ($($ty:ty: $sqlite:literal, $postgres:literal, $mysql:literal $(, $bytes:literal)? => $named:expr;)*) => {$(
        impl IdType for $ty {
            const SQLITE: &'static str = $sqlite;
            const POSTGRES: &'static str = $postgres;
            const MYSQL: &'static str = $mysql;
            $(const BYTES: bool = $bytes;)?
            fn named(text: &str) -> Option<RowName> {
                ($named)(text)
            }
        }
    )*};
}

id_types! {
    SmallInt: "INTEGER", "SMALLINT", "SMALLINT" => number;
    Integer: "INTEGER", "INTEGER", "INTEGER" => number;
    BigInt: "BIGINT", "BIGINT", "BIGINT" => number;
    Text: "TEXT", "TEXT", "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" => |text: &str| Some(text.row_name());
    Binary: "BLOB", "BYTEA", "VARBINARY(255)", true => bytes;
}
#[cfg(feature = "postgres")]
id_types! {
    diesel::sql_types::Uuid: "BLOB", "UUID", "BINARY(16)" =>
        |text: &str| uuid::Uuid::parse_str(text).ok().map(|id| RowId::<diesel::sql_types::Uuid>::row_name(&id));
}

fn number(text: &str) -> Option<RowName> {
    text.parse::<i64>().ok().map(|id| RowId::<BigInt>::row_name(&id))
}

/// Bytes that were written as hexadecimal digits.
fn bytes(text: &str) -> Option<RowName> {
    let byte = |n: usize| text.get(n..n + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    bytes.map(|bytes| bytes.row_name())
}

/// The row of a machine that declares none: there are no guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRow;

/// The name in SQL of a column that can hold a state.
#[must_use]
pub const fn state_column<C: diesel::Column<SqlType: StateType>>(_: &C) -> &'static str {
    C::NAME
}

/// The name in SQL of a column that counts.
#[must_use]
pub const fn number_column<C: diesel::Column<SqlType: NumberType>>(_: &C) -> &'static str {
    C::NAME
}

/// A SQL type that states can be kept in.
#[diagnostic::on_unimplemented(
    message = "a state machine cannot be kept in a column of type `{Self}`",
    label = "expected a `Text` column"
)]
pub trait StateType {}
impl StateType for Text {}
impl StateType for Nullable<Text> {}

/// A SQL type of versions and times.
#[diagnostic::on_unimplemented(
    message = "a version or a time of entry cannot be kept in a column of type `{Self}`",
    label = "expected a `BigInt` column"
)]
pub trait NumberType {}
impl NumberType for BigInt {}
impl NumberType for Nullable<BigInt> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_are_read() {
        assert_eq!(unquoted("\"billing\".\"orders\""), ["billing", "orders"]);
        assert_eq!(unquoted("`a``b`"), ["a`b"]);
    }
}

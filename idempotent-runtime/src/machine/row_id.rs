//! What names a row.

use diesel::sql_types::{BigInt, Binary, Integer, SmallInt, Text};
use uuid::Uuid;

use crate::hex::hex;
use crate::store::statement::Bind;

/// A value by which a row can be named whose id column has the SQL type `ST`. Implement it for ids of your own:
///
/// ```
/// use diesel::sql_types::BigInt;
/// use idempotent_runtime::{RowId, RowName};
///
/// struct OrderId(i64);
/// impl RowId<BigInt> for OrderId {
///     fn row_name(&self) -> RowName { RowId::<BigInt>::row_name(&self.0) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot name a row whose id column is `{ST}`",
    label = "expected the type of the id column",
    note = "implement `idempotent_runtime::RowId` for an id type of your own"
)]
pub trait RowId<ST> {
    /// The name of the row.
    fn row_name(&self) -> RowName;
}

/// The name of a row, ready to be bound.
///
/// ```
/// # use idempotent_runtime::RowId;
/// let name = RowId::<diesel::sql_types::BigInt>::row_name(&42_i64);
/// assert_eq!(name.to_string(), "42");
/// ```
#[derive(Debug, Clone)]
pub struct RowName {
    pub(crate) bind: Bind,
    pub(crate) text: String,
}

impl PartialEq for RowName {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RowName {}

impl std::fmt::Display for RowName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

macro_rules! integers {
    ($($ty:ty: $($sql:ty),*;)*) => {$($(
        impl RowId<$sql> for $ty {
            fn row_name(&self) -> RowName {
                RowName { bind: Bind::Int(i64::from(*self)), text: self.to_string() }
            }
        }
    )*)*};
}

integers! {
    i16: SmallInt, Integer, BigInt;
    i32: Integer, BigInt;
    i64: BigInt;
    u32: BigInt;
}

impl RowId<Text> for str {
    fn row_name(&self) -> RowName {
        RowName { bind: Bind::Text(self.to_owned()), text: self.to_owned() }
    }
}

impl RowId<Text> for String {
    fn row_name(&self) -> RowName {
        self.as_str().row_name()
    }
}

impl RowId<Text> for Uuid {
    fn row_name(&self) -> RowName {
        self.to_string().row_name()
    }
}

impl RowId<Binary> for [u8] {
    fn row_name(&self) -> RowName {
        RowName { bind: Bind::Bytes(bytes::Bytes::copy_from_slice(self)), text: hex(self) }
    }
}

impl RowId<Binary> for Vec<u8> {
    fn row_name(&self) -> RowName {
        self.as_slice().row_name()
    }
}

impl RowId<Binary> for Uuid {
    fn row_name(&self) -> RowName {
        self.as_bytes().as_slice().row_name()
    }
}

#[cfg(feature = "postgres")]
impl RowId<diesel::sql_types::Uuid> for Uuid {
    fn row_name(&self) -> RowName {
        RowName { bind: Bind::Uuid(self.to_string()), text: self.to_string() }
    }
}

impl<ST, T: RowId<ST> + ?Sized> RowId<ST> for &T {
    fn row_name(&self) -> RowName {
        T::row_name(self)
    }
}

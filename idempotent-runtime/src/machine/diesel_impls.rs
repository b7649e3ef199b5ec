//! What every machine can do besides: be stored and read by diesel, shown, parsed, and carried by serde. A macro by
//! example, so that the derive writes no more than what differs.

/// Implements diesel's, serde's and the standard library's traits for a machine.
#[doc(hidden)]
#[macro_export]
macro_rules! __state_machine_impls {
    ($machine:ty) => {
        $crate::__state_machine_impls!(@expression [] $machine, $machine);
        $crate::__state_machine_impls!(@expression ['__e] &'__e $machine, $machine);
        $crate::__state_machine_impls!(@expression ['__e, '__f] &'__f &'__e $machine, $machine);

        impl<__DB> $crate::__private::diesel::serialize::ToSql<$crate::__private::diesel::sql_types::Text, __DB>
            for $machine
        where
            __DB: $crate::__private::diesel::backend::Backend,
            ::core::primitive::str:
                $crate::__private::diesel::serialize::ToSql<$crate::__private::diesel::sql_types::Text, __DB>,
        {
            fn to_sql<'__b>(
                &'__b self,
                out: &mut $crate::__private::diesel::serialize::Output<'__b, '_, __DB>,
            ) -> $crate::__private::diesel::serialize::Result {
                <::core::primitive::str as $crate::__private::diesel::serialize::ToSql<
                    $crate::__private::diesel::sql_types::Text,
                    __DB,
                >>::to_sql(<$machine as $crate::StateMachine>::name(self), out)
            }
        }

        impl<__DB>
            $crate::__private::diesel::serialize::ToSql<
                $crate::__private::diesel::sql_types::Nullable<$crate::__private::diesel::sql_types::Text>,
                __DB,
            > for $machine
        where
            __DB: $crate::__private::diesel::backend::Backend,
            ::core::primitive::str:
                $crate::__private::diesel::serialize::ToSql<$crate::__private::diesel::sql_types::Text, __DB>,
        {
            fn to_sql<'__b>(
                &'__b self,
                out: &mut $crate::__private::diesel::serialize::Output<'__b, '_, __DB>,
            ) -> $crate::__private::diesel::serialize::Result {
                <Self as $crate::__private::diesel::serialize::ToSql<
                    $crate::__private::diesel::sql_types::Text,
                    __DB,
                >>::to_sql(self, out)
            }
        }

        impl<__DB> $crate::__private::diesel::deserialize::FromSql<$crate::__private::diesel::sql_types::Text, __DB>
            for $machine
        where
            __DB: $crate::__private::diesel::backend::Backend,
            $crate::__private::String:
                $crate::__private::diesel::deserialize::FromSql<$crate::__private::diesel::sql_types::Text, __DB>,
        {
            fn from_sql(
                bytes: <__DB as $crate::__private::diesel::backend::Backend>::RawValue<'_>,
            ) -> $crate::__private::diesel::deserialize::Result<Self> {
                let stored = <$crate::__private::String as $crate::__private::diesel::deserialize::FromSql<
                    $crate::__private::diesel::sql_types::Text,
                    __DB,
                >>::from_sql(bytes)?;
                ::core::result::Result::Ok($crate::__private::parse_state::<Self>(&stored)?)
            }
        }

        impl<__DB, __ST> $crate::__private::diesel::deserialize::Queryable<__ST, __DB> for $machine
        where
            __DB: $crate::__private::diesel::backend::Backend,
            __ST: $crate::__private::diesel::sql_types::SingleValue,
            Self: $crate::__private::diesel::deserialize::FromSql<__ST, __DB>,
        {
            type Row = Self;
            fn build(row: Self) -> $crate::__private::diesel::deserialize::Result<Self> {
                ::core::result::Result::Ok(row)
            }
        }

        impl ::core::fmt::Display for $machine {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(<$machine as $crate::StateMachine>::name(self))
            }
        }

        impl ::core::str::FromStr for $machine {
            type Err = $crate::UnknownState;
            fn from_str(name: &::core::primitive::str) -> ::core::result::Result<Self, $crate::UnknownState> {
                $crate::__private::parse_state::<Self>(name)
            }
        }

        impl $crate::__private::serde::Serialize for $machine {
            fn serialize<__S: $crate::__private::serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                serializer.serialize_str(<$machine as $crate::StateMachine>::name(self))
            }
        }

        impl<'__de> $crate::__private::serde::Deserialize<'__de> for $machine {
            fn deserialize<__D: $crate::__private::serde::Deserializer<'__de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                let name =
                    <$crate::__private::String as $crate::__private::serde::Deserialize<'__de>>::deserialize(deserializer)?;
                $crate::__private::parse_state::<Self>(&name)
                    .map_err(<__D::Error as $crate::__private::serde::de::Error>::custom)
            }
        }
    };
    (@expression [$($lifetime:lifetime),*] $from:ty, $machine:ty) => {
        $crate::__state_machine_impls!(@expression_of [$($lifetime),*] $from,
            $crate::__private::diesel::sql_types::Text);
        $crate::__state_machine_impls!(@expression_of [$($lifetime),*] $from,
            $crate::__private::diesel::sql_types::Nullable<$crate::__private::diesel::sql_types::Text>);
    };
    (@expression_of [$($lifetime:lifetime),*] $from:ty, $sql:ty) => {
        impl<$($lifetime),*> $crate::__private::diesel::expression::AsExpression<$sql> for $from {
            type Expression = $crate::__private::diesel::internal::derives::as_expression::Bound<$sql, Self>;
            fn as_expression(self) -> Self::Expression {
                $crate::__private::diesel::internal::derives::as_expression::Bound::new(self)
            }
        }
    };
}

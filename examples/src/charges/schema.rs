//! The tables, as diesel sees them.

diesel::table! {
    charges (number) {
        number -> BigInt,
        id -> Text,
        account -> Text,
        amount -> BigInt,
        currency -> Text,
    }
}

diesel::table! {
    flaky_orders (account, reference) {
        account -> Text,
        reference -> Text,
    }
}

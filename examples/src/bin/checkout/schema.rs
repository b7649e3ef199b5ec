//! The tables, as diesel sees them.

diesel::table! {
    checkout_orders (id) {
        id -> BigInt,
        owner -> Text,
        item -> Text,
        amount -> BigInt,
        currency -> Text,
        status -> Text,
    }
}

diesel::table! {
    checkout_history (id) {
        id -> BigInt,
        order_id -> BigInt,
        event -> Text,
        source -> Nullable<Text>,
        target -> Text,
        actor -> Nullable<Text>,
        reason -> Nullable<Text>,
        metadata -> Nullable<Text>,
        at -> BigInt,
    }
}

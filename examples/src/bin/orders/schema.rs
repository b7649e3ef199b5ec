//! The tables, as diesel sees them.

diesel::table! {
    orders (id) {
        id -> BigInt,
        owner -> Text,
        item -> Text,
        amount -> BigInt,
        currency -> Text,
        status -> Text,
        charge -> Nullable<Text>,
    }
}

diesel::table! {
    payment_attempts (order_id) {
        order_id -> BigInt,
        downstream_key -> Text,
        caller_key -> Text,
        card -> Text,
        started_at -> BigInt,
    }
}

diesel::table! {
    order_history (id) {
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

diesel::table! {
    ledger (order_id) {
        order_id -> BigInt,
        account -> Text,
        amount -> BigInt,
    }
}

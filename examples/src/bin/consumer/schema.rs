//! The tables, as diesel sees them.

diesel::table! {
    inbox_orders (id) {
        id -> BigInt,
        amount -> BigInt,
        status -> Text,
    }
}

diesel::table! {
    inbox_order_history (id) {
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
    inbox_ledger (id) {
        id -> BigInt,
        order_id -> BigInt,
        event_id -> Text,
        amount -> BigInt,
    }
}

diesel::table! {
    inbox_failures (event) {
        event -> Text,
        deliveries -> BigInt,
    }
}

diesel::table! {
    inbox_dead_letters (event) {
        event -> Text,
        text -> Text,
        reason -> Text,
    }
}

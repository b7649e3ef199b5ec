//! The tables, as diesel sees them.

diesel::table! {
    payouts (id) {
        id -> BigInt,
        account -> Text,
        amount -> BigInt,
        status -> Text,
        transfer -> Nullable<Text>,
    }
}

diesel::table! {
    payout_history (id) {
        id -> BigInt,
        payout_id -> BigInt,
        event -> Text,
        source -> Nullable<Text>,
        target -> Text,
        actor -> Nullable<Text>,
        reason -> Nullable<Text>,
        metadata -> Nullable<Text>,
        at -> BigInt,
    }
}

//! The tables, as diesel sees them.

diesel::table! {
    authors (name) {
        name -> Text,
        points -> BigInt,
    }
}

diesel::table! {
    posts (id) {
        id -> BigInt,
        author -> Text,
    }
}

diesel::table! {
    likes (post_id, user) {
        post_id -> BigInt,
        user -> Text,
    }
}

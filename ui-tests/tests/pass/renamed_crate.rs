//! The runtime under another name, and behind a re-export.

extern crate idempotent_runtime as renamed_runtime;

use ui_tests::{Db, Event, StatusCode, User};

mod reexports {
    pub mod runtime {
        pub use renamed_runtime::*;
    }
}

#[renamed_runtime::idempotent(key = header, ttl = "72h", scope = user.id, crate = renamed_runtime)]
async fn renamed(user: User, #[tx] _conn: &mut Db) -> StatusCode {
    StatusCode::OK
}

#[renamed_runtime::idempotent(key = event.id, ttl = "7d", crate = crate::reexports::runtime)]
async fn reexported(event: &Event) -> Result<(), renamed_runtime::Error> {
    Ok(())
}

fn main() {
    let _: axum::Router = axum::Router::new().route("/", axum::routing::post(renamed));
    let _ = reexported;
}

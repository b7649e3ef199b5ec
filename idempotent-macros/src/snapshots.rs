//! Expansions, kept as files to be read in review: `UPDATE_EXPECT=1 cargo test -p idempotent-macros` rewrites them.

use expect_test::expect_file;

use crate::idempotent::attribute;
use crate::state_machine::derive;

/// Expands what stands in `src/snapshots/NAME.in.rs` and compares with `NAME.out.rs`.
macro_rules! snapshots {
    ($($name:ident: $arguments:literal;)*) => {$(
        #[test]
        fn $name() {
            let item = include_str!(concat!("snapshots/", stringify!($name), ".in.rs"));
            let expanded = attribute($arguments.parse().unwrap(), &item.parse().unwrap());
            let file = syn::parse2(expanded).expect("an expansion is a list of items");
            expect_file![concat!("snapshots/", stringify!($name), ".out.rs")].assert_eq(&prettyplease::unparse(&file));
        }
    )*};
}

snapshots! {
    transactional_handler: "key = header, ttl = \"72h\", scope = user.id";
    actix_handler: "actix, key = header, ttl = \"72h\", scope = user.id";
    leased_handler: "key = header(\"X-Request-Id\", optional), ttl = app.ttl, lease = app.lease, store = success, engine = app.engine";
    waiting_handler: "key = header, ttl = \"72h\", fingerprint = json, in_flight = wait(\"5s\"), policy = CREATE_ORDER";
    natural_key_handler: "http, name = \"likes.add\", key = (user.id, post.id), ttl = \"forever\"";
    transactional_consumer: "key = event.id, ttl = \"7d\", fingerprint = event";
    leased_job: "key = job.id, ttl = \"7d\", lease = \"5m\", crate = ::reexported::runtime";
    stepped_handler: "key = header, ttl = \"72h\", scope = user.id, lease = app.lease, on_crash = hold, max_attempts = 3";
    stepped_job: "name = \"jobs.run\", key = job.id, ttl = \"7d\", arguments = job";
    blocking_consumer: "key = event.id, ttl = \"7d\"";
    blocking_job: "key = job.id, ttl = \"7d\", lease = \"30s\"";
    associated_function: "key = header, ttl = \"1h\", name = \"Api::create\", store = |status| status.is_success()";
}

/// The same of an enum that derives a state machine.
macro_rules! machine_snapshots {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let item = include_str!(concat!("snapshots/", stringify!($name), ".in.rs"));
            let file = syn::parse2(derive(item.parse().unwrap())).expect("an expansion is a list of items");
            expect_file![concat!("snapshots/", stringify!($name), ".out.rs")].assert_eq(&prettyplease::unparse(&file));
        }
    )*};
}

machine_snapshots! {
    machine_orders
    machine_guards
}

#[test]
fn a_half_typed_body_does_not_stop_the_expansion() {
    let expanded = attribute(
        "key = header, ttl = \"1h\"".parse().unwrap(),
        &"async fn create(user: User) -> Answer { user. ; let = }".parse().unwrap(),
    );
    let expanded = expanded.to_string();
    assert!(expanded.contains("user . ; let =") && !expanded.contains("compile_error"), "{expanded}");
}

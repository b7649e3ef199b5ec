//! `fail`: one mistake a file, named for it; the `.stderr` beside it is what its author reads.
//! `pass`: what must compile without a word. `TRYBUILD=overwrite cargo test -p ui-tests` rewrites the messages.

// Once more here, where clippy reads them.
#[path = "pass/actix.rs"]
#[allow(dead_code, missing_docs, reason = "it is a program of its own")]
mod actix;
#[path = "pass/machine_pedantic.rs"]
#[allow(dead_code, missing_docs, reason = "it is a program of its own")]
mod machine_pedantic;
#[path = "pass/pedantic.rs"]
#[allow(dead_code, missing_docs, reason = "it is a program of its own")]
mod pedantic;

#[test]
fn every_mistake_names_its_fix() {
    trybuild::TestCases::new().compile_fail("tests/fail/*.rs");
}

#[test]
fn what_is_right_compiles_in_silence() {
    trybuild::TestCases::new().pass("tests/pass/*.rs");
}

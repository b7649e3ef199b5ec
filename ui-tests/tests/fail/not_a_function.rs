use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
struct Handler;

fn main() {}

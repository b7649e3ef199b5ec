use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d")]
async fn job(event: &Event) -> impl Sized {}

fn main() {}

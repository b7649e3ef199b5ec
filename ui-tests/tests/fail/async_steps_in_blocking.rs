use idempotent_runtime::Steps;
use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d")]
fn run(#[steps] steps: &mut Steps<diesel::SqliteConnection>, event: &Event) -> Result<Order, Error> {
    let _ = steps;
    Ok(Order { id: 1 })
}

fn main() {}

use ui_tests::*;

#[idempotent(key = event.id, ttl = "7d")]
async fn job(event: &Event) -> Result<User, Error> {
    Ok(User { id: 1 })
}

fn main() {}

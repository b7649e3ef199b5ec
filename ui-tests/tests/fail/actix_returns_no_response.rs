use ui_tests::*;

#[idempotent(actix, key = header, ttl = "7d")]
async fn handler(user: User) -> Order {
    Order { id: user.id }
}

fn main() {}

use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async fn handler(user: User) -> Order {
    Order { id: user.id }
}

fn main() {}

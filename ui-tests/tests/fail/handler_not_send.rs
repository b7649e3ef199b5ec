use ui_tests::*;

#[idempotent(key = header, ttl = "7d")]
async fn handler(user: User) -> StatusCode {
    let shared = std::rc::Rc::new(user);
    std::future::ready(()).await;
    drop(shared);
    StatusCode::OK
}

fn main() {}

//! Handlers of actix-web, under every lint; nothing in them has to be `Send`.
#![deny(warnings, clippy::all, clippy::pedantic)]

use std::rc::Rc;

use idempotent_runtime::Steps;
use ui_tests::*;

/// Creates an order.
#[idempotent(actix, key = header, ttl = "72h", scope = user.id)]
pub async fn transactional(
    user: User,
    request: HttpRequest,
    #[tx] conn: &mut Db,
    order: web::Json<Order>,
) -> Result<web::Json<Order>, Error> {
    let local = Rc::new(order.id);
    std::future::ready(()).await;
    let _ = (conn, local, request);
    Ok(order)
}

#[idempotent(actix, key = header("X-Request-Id", optional), ttl = "72h", lease = app.lease, scope = user.id + 1, store = |status| status.is_success(), engine = app.idempotency)]
async fn leased(user: User, app: web::Data<App>, _id: web::Path<i64>) -> impl Responder {
    HttpResponse::Ok()
}

#[idempotent(actix, name = "likes.add", key = (user.id, **post), ttl = "forever", fingerprint = none)]
async fn like(user: User, post: web::Path<i64>, #[tx] _conn: &mut Db) -> HttpResponse {
    HttpResponse::Created().finish()
}

#[idempotent(actix, http, key = header, ttl = "1h")]
async fn stepped(#[steps] steps: &mut Steps<Db>) -> Result<String, Error> {
    let local = Rc::new(1);
    steps.run("call", async |_| Ok::<_, Error>(())).await?;
    Ok(local.to_string())
}

#[idempotent(actix, key = header, ttl = "1h")]
async fn generic<T: serde::de::DeserializeOwned + std::fmt::Debug + 'static>(value: web::Json<T>) -> String {
    format!("{value:?}")
}

fn main() {
    let _ = actix_web::App::new()
        .route("/a", web::post().to(transactional))
        .route("/b/{id}", web::post().to(leased))
        .route("/c/{post}", web::post().to(like))
        .route("/d", web::post().to(stepped))
        .route("/e", web::post().to(generic::<u32>));
}

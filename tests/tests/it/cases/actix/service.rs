//! The same service on actix-web.

use std::fmt;
use std::future::{Ready, ready};
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix_web::body::{BodyStream, BoxBody, SizedStream};
use actix_web::dev::{Payload, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::header as theirs;
use actix_web::web::{self, Bytes, Data, PayloadConfig};
use actix_web::{FromRequest, HttpRequest, HttpResponse, HttpServer, ResponseError, test};
use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use idempotent_runtime::{Error, Steps, idempotent};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::super::app::{self, Answer, App, Serving};
use super::super::database::Db;

/// Who asks: the header `x-user`, or everybody.
struct User(String);

impl FromRequest for User {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, actix_web::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let user = request.headers().get("x-user").map_or(Ok("everybody"), |user| user.to_str());
        ready(user.map(|user| Self(user.to_owned())).map_err(actix_web::error::ErrorUnauthorized))
    }
}

#[idempotent(actix, key = header, ttl = app.ttl, scope = user.0, engine = app.engine)]
async fn transactional(user: User, app: Data<App>, #[tx] conn: &mut Db, body: Bytes) -> HttpResponse {
    app.runs.fetch_add(1, Ordering::SeqCst);
    respond((app.tx)(conn, body).await)
}

#[idempotent(actix, key = header, ttl = app.ttl, lease = app.lease, scope = user.0, engine = app.engine)]
async fn leased(user: User, app: Data<App>, body: Bytes) -> HttpResponse {
    app.runs.fetch_add(1, Ordering::SeqCst);
    respond((app.leased)(body).await)
}

#[idempotent(actix, key = header, ttl = app.ttl, lease = app.lease, scope = user.0, on_crash = hold, engine = app.engine)]
async fn held(user: User, app: Data<App>, body: Bytes) -> HttpResponse {
    app.runs.fetch_add(1, Ordering::SeqCst);
    respond((app.leased)(body).await)
}

#[idempotent(actix, name = "tests.tx", key = token, ttl = app.ttl, scope = user.0, engine = app.engine)]
async fn token_tx(user: User, app: Data<App>, #[tx] conn: &mut Db, body: Bytes) -> HttpResponse {
    app.runs.fetch_add(1, Ordering::SeqCst);
    respond((app.tx)(conn, body).await)
}

#[idempotent(actix, name = "tests.leased", key = token, ttl = app.ttl, lease = app.lease, scope = user.0, engine = app.engine)]
async fn token_leased(user: User, app: Data<App>, body: Bytes) -> HttpResponse {
    app.runs.fetch_add(1, Ordering::SeqCst);
    respond((app.leased)(body).await)
}

#[idempotent(actix, name = "tests.once", key = token("X-Csrf-Token", once), ttl = app.ttl, scope = user.0, engine = app.engine)]
async fn token_once(user: User, app: Data<App>, body: Bytes) -> HttpResponse {
    app.runs.fetch_add(1, Ordering::SeqCst);
    respond((app.leased)(body).await)
}

/// An error of ours, as a handler shows it.
#[derive(Debug)]
struct Failed(Error);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code())
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// 500, with the code as its text.
impl ResponseError for Failed {}

#[idempotent(actix, key = header, ttl = app.ttl, lease = app.lease, scope = user.0, max_attempts = 3, engine = app.engine)]
async fn stepped(
    user: User,
    app: Data<App>,
    #[steps] steps: &mut Steps<Db>,
    body: Bytes,
) -> Result<HttpResponse, Failed> {
    app.runs.fetch_add(1, Ordering::SeqCst);
    Ok(respond((app.stepped)(steps, body).await?))
}

/// Handlers of actix-web.
pub(crate) struct Actix;

impl app::Framework for Actix {
    /// On a thread of its own, as a worker of actix-web has one.
    fn send(app: App, request: Request<Body>) -> BoxFuture<'static, Answer> {
        async move {
            let (mut done, answered) = oneshot::channel();
            let runtime = tokio::runtime::Handle::current();
            std::thread::spawn(move || {
                let worker = LocalSet::new();
                worker.spawn_local(async move {
                    tokio::select! {
                        answer = call(app, request) => drop(done.send(answer)),
                        () = done.closed() => {} // the client has hung up
                    }
                });
                // Until everything that it has begun has ended.
                runtime.block_on(worker);
            });
            answered.await.expect("the handler has panicked")
        }
        .boxed()
    }

    async fn serve(app: App) -> Serving {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (started, handle) = oneshot::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = HttpServer::new(move || actix_app(app.clone())).workers(2).disable_signals();
                let server = server.listen_auto_h2c(listener).unwrap().run();
                started.send(server.handle()).unwrap_or_default();
                server.await.unwrap();
            });
        });
        let handle = handle.await.unwrap();
        Serving::new(address, move || drop(tokio::spawn(handle.stop(false))))
    }
}

fn actix_app(
    app: App,
) -> actix_web::App<
    impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse, Error = actix_web::Error, InitError = ()>,
> {
    actix_web::App::new()
        .route("/tokens", app.engine.actix_token_route("tests.tx", Duration::from_secs(600)))
        .app_data(Data::new(app))
        .app_data(PayloadConfig::new(16 * 1024 * 1024))
        .route("/tx", web::to(transactional))
        .route("/leased", web::to(leased))
        .route("/held", web::to(held))
        .route("/stepped", web::to(stepped))
        .route("/token/tx", web::to(token_tx))
        .route("/token/leased", web::to(token_leased))
        .route("/token/once", web::to(token_once))
        .service(web::scope("/nested").route("/leased", web::to(leased)))
}

async fn call(app: App, request: Request<Body>) -> Answer {
    let service = test::init_service(actix_app(app)).await;
    let (head, body) = request.into_parts();
    let method = actix_web::http::Method::from_bytes(head.method.as_str().as_bytes()).unwrap();
    let mut request = test::TestRequest::with_uri(&head.uri.to_string()).method(method);
    for (name, value) in &head.headers {
        request = request.append_header((name.as_str(), value.as_bytes()));
    }
    let chunks = body.into_data_stream().map(|chunk| chunk.map_err(|error| std::io::Error::other(error).into()));
    let (request, _) = request.to_request().replace_payload(Payload::from(chunks.boxed_local()));
    let response = test::call_service(&service, request).await;
    let mut headers = HeaderMap::new();
    for (name, value) in response.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    Answer { status: response.status().as_u16(), headers, body: test::read_body(response).await }
}

/// What the test says to answer, as actix-web would answer it.
fn respond(response: Response) -> HttpResponse {
    let (head, body) = response.into_parts();
    let length = http_body::Body::size_hint(&body).exact();
    let mut response = HttpResponse::new(actix_web::http::StatusCode::from_u16(head.status.as_u16()).unwrap());
    for (name, value) in &head.headers {
        let name = theirs::HeaderName::from_bytes(name.as_str().as_bytes()).unwrap();
        response.headers_mut().append(name, theirs::HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let chunks = body.into_data_stream();
    response.set_body(match length {
        Some(0) => BoxBody::new(()),
        Some(length) => BoxBody::new(SizedStream::new(length, chunks)),
        None => BoxBody::new(BodyStream::new(chunks)),
    })
}

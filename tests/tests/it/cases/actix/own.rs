//! What only actix-web has: requests that never leave their thread, extensions of its own, workers.

use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::dev::{Payload, Service as _};
use actix_web::http::StatusCode;
use actix_web::web::{self, Data, Json};
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse, Responder, test};
use futures_util::FutureExt;
use idempotent_runtime::{
    Caller, Error, Idempotency, Scope, Steps, Transition, TransitionError, idempotent, state_transition,
};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use super::super::app::{App, Gates, ServiceOn, insert, key};
use super::super::database::Db;
use super::super::machines::{Bench, Status};

type Service = ServiceOn<super::Framework>;

/// A session as actix-web's are: shared on one thread.
struct Session(Rc<RefCell<Vec<&'static str>>>);

impl FromRequest for Session {
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        if let Some(seen) = request.extensions().get::<Rc<RefCell<Vec<&'static str>>>>() {
            return ready(Ok(Self(Rc::clone(seen))));
        }
        ready(Ok(Self(Rc::default())))
    }
}

#[idempotent(actix, key = header, ttl = "1h", engine = app.engine)]
async fn local_tx(request: HttpRequest, session: Session, app: Data<App>, #[tx] conn: &mut Db) -> HttpResponse {
    let seen = Rc::clone(&session.0);
    insert(conn, request.path()).await;
    seen.borrow_mut().push("tx");
    HttpResponse::Created().finish()
}

#[idempotent(actix, key = header, ttl = "1h", engine = app.engine)]
async fn local_leased(request: HttpRequest, session: Session, app: Data<App>) -> impl Responder {
    let count = Rc::new(Cell::new(0));
    tokio::task::yield_now().await;
    count.set(count.get() + 1);
    session.0.borrow_mut().push("leased");
    (format!("{} at {}", count.get(), request.path()), StatusCode::CREATED)
}

#[idempotent(actix, key = header, ttl = "1h", engine = app.engine)]
async fn local_stepped(session: Session, app: Data<App>, #[steps] steps: &mut Steps<Db>) -> Result<String, Error> {
    let seen = Rc::clone(&session.0);
    let value = steps.tx("insert", async |conn| Ok::<_, Error>(insert(conn, "stepped").await)).await?;
    seen.borrow_mut().push("stepped");
    Ok(format!("effect {value}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_has_to_leave_its_thread() {
    let Some(service) = Service::new().await else { return };
    LocalSet::new()
        .run_until(async {
            let app = actix_web::App::new()
                .app_data(Data::new(service.app.clone()))
                .route("/tx", web::post().to(local_tx))
                .route("/leased", web::post().to(local_leased))
                .route("/stepped", web::post().to(local_stepped));
            let app = test::init_service(app).await;
            let seen = Rc::new(RefCell::new(Vec::<&'static str>::new()));
            for (path, status) in [("/tx", 201), ("/leased", 201), ("/stepped", 200)] {
                let key = key();
                for replayed in [false, true] {
                    let request = test::TestRequest::post().uri(path).insert_header(("idempotency-key", key.as_str()));
                    let request = request.to_request();
                    request.extensions_mut().insert(Rc::clone(&seen));
                    let answer = test::call_service(&app, request).await;
                    assert_eq!(answer.status().as_u16(), status);
                    assert_eq!(answer.headers().contains_key("idempotent-replayed"), replayed);
                }
            }
            assert_eq!(*seen.borrow(), ["tx", "leased", "stepped"], "each of them once");
        })
        .await;
    assert_eq!(service.effects().await, ["/tx", "stepped"]);
}

#[idempotent(actix, key = header, ttl = "1h", engine = app.engine)]
async fn by_rule(app: Data<App>, order: Json<u32>) -> Result<HttpResponse, Error> {
    app.runs.fetch_add(1, Ordering::SeqCst);
    Ok(HttpResponse::Created().body(order.to_string()))
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_key_it_is_says_authentication_in_the_extensions_of_actix() {
    let Some(mut service) = Service::new().await else { return };
    service.app.engine = Idempotency::builder(service.app.pool.clone(), Scope::caller()).build();
    let key = key();
    LocalSet::new()
        .run_until(async {
            let app = actix_web::App::new()
                .app_data(Data::new(service.app.clone()))
                .wrap_fn(|request, inner| {
                    let user = request.headers().get("x-user").map(|user| user.to_str().unwrap().to_owned());
                    if let Some(user) = user {
                        request.extensions_mut().insert(Caller::new(user));
                    }
                    inner.call(request)
                })
                .route("/", web::post().to(by_rule));
            let app = test::init_service(app).await;
            let sent = async |user: Option<&str>| {
                let request = test::TestRequest::post().insert_header(("idempotency-key", key.as_str())).set_json(7);
                let request = user.into_iter().fold(request, |request, user| request.insert_header(("x-user", user)));
                let answer = test::call_service(&app, request.to_request()).await;
                (answer.status().as_u16(), answer.headers().contains_key("idempotent-replayed"))
            };
            assert_eq!(sent(None).await, (400, false));
            assert_eq!(sent(Some("")).await, (400, false));
            for user in ["alice", "bob"] {
                assert_eq!((sent(Some(user)).await, sent(Some(user)).await), ((201, false), (201, true)));
            }
        })
        .await;
    assert_eq!((service.records().await, service.runs()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_extractor_refuses_is_answered_as_actix_does_and_never_stored() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    LocalSet::new()
        .run_until(async {
            let app = actix_web::App::new()
                .app_data(Data::new(service.app.clone()))
                .route("/", web::post().to(by_rule))
                .route("/plain", web::post().to(async |_: Json<u32>| HttpResponse::Ok()));
            let app = test::init_service(app).await;
            let sent = async |path: &str, body: &'static str| {
                let request = test::TestRequest::post().uri(path).insert_header(("idempotency-key", key.as_str()));
                let request = request.insert_header(("content-type", "application/json")).set_payload(body);
                test::call_service(&app, request.to_request()).await
            };
            let (ours, theirs) = (sent("/", "no number").await, sent("/plain", "no number").await);
            assert_eq!((ours.status().as_u16(), theirs.status().as_u16()), (400, 400));
            assert_eq!(ours.headers().get("idempotency-key").unwrap(), key.as_str());
            assert_eq!(test::read_body(ours).await, test::read_body(theirs).await);
            assert_eq!(service.records().await, 0);
            let right = sent("/", "8").await;
            assert_eq!((right.status().as_u16(), &test::read_body(right).await[..]), (201, &b"8"[..]));
        })
        .await;
}

#[idempotent(actix, key = header, ttl = "1h", engine = engine)]
#[state_transition(machine = Status, event = pay)]
async fn pay(
    engine: Data<Idempotency<Db>>,
    #[id] id: web::Path<i64>,
    #[tx] conn: &mut Db,
) -> Result<Transition<Json<i64>>, TransitionError> {
    let _ = engine;
    insert(conn, "paid").await;
    Ok(Json(*id).into())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transition_is_answered_as_with_axum() {
    let Some(bench) = Bench::new().await else { return };
    let engine = Idempotency::builder(bench.pool.clone(), Scope::shared()).build();
    engine.migrate().await.unwrap();
    let (created, settled) = (bench.row("created").await, bench.row("settled").await);
    LocalSet::new()
        .run_until(async {
            let app = actix_web::App::new().app_data(Data::new(engine)).route("/{id}/pay", web::post().to(pay));
            let app = test::init_service(app).await;
            let sent = async |id: i64, key: &str| {
                let request = test::TestRequest::post().uri(&format!("/{id}/pay"));
                let answer =
                    test::call_service(&app, request.insert_header(("idempotency-key", key)).to_request()).await;
                let status = answer.status().as_u16();
                (status, String::from_utf8(test::read_body(answer).await.to_vec()).unwrap())
            };
            for _ in 0..2 {
                assert_eq!(sent(created, "the-first-key").await, (200, created.to_string()));
            }
            assert_eq!(sent(created, "the-second-key").await, (204, String::new()));
            let (status, body) = sent(settled, "the-third-key").await;
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            let error = &body["error"];
            assert_eq!(
                (status, error["type"].as_str(), error["current"].as_str()),
                (409, Some("state_conflict"), Some("settled"))
            );
            assert_eq!(sent(99, "the-fourth-key").await.0, 404);
        })
        .await;
    assert_eq!(bench.effects().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn over_a_socket_a_client_that_hangs_up_stops_nothing_and_a_drain_waits() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let runs = std::sync::Arc::new(AtomicUsize::new(0));
    let ended = std::sync::Arc::clone(&runs);
    let service = service.on_leased(move |_| {
        let (gates, ended) = (inside.clone(), std::sync::Arc::clone(&ended));
        async move {
            gates.pass().await;
            ended.fetch_add(1, Ordering::SeqCst);
            axum::response::IntoResponse::into_response((axum::http::StatusCode::CREATED, "done"))
        }
        .boxed()
    });
    let serving = service.serve().await;
    let key = key();
    let mut client = TcpStream::connect(serving.address).await.unwrap();
    let head =
        format!("POST /leased HTTP/1.1\r\nhost: here\r\nidempotency-key: {key}\r\ncontent-length: 5\r\n\r\norder");
    client.write_all(head.as_bytes()).await.unwrap();
    gates.entered().await;
    drop(client);
    assert!(!service.app.engine.drain(Duration::from_millis(50)).await);
    gates.let_go();
    assert!(service.app.engine.drain(Duration::from_secs(30)).await);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let client = reqwest::Client::new().post(format!("http://{}/leased", serving.address));
    let again = client.header("idempotency-key", &key).body("order").send().await.unwrap();
    assert_eq!((again.status().as_u16(), again.headers()["idempotent-replayed"].as_bytes()), (201, &b"true"[..]));
    assert_eq!(again.text().await.unwrap(), "done");
    assert_eq!(service.runs(), 1);
}

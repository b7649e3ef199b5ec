//! Whole calls, against a server that answers as it is told.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Request, Response};
use reqwest_middleware::{ClientBuilder, Next};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::*;

const ORDERS: &str = "http://shop.example/orders";

/// An answer that is given.
#[derive(Clone, Copy)]
struct Given {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
}

const fn given(status: u16) -> Given {
    Given { status, headers: &[], body: "" }
}

const CREATED: Given = Given { body: "order 1", ..given(201) };
const REPLAY: Given = Given { headers: &[("Idempotent-Replayed", "true")], ..CREATED };
const IN_USE: Given = Given {
    headers: &[("Retry-After", "7")],
    body: r#"{"error":{"type":"idempotency_error","code":"idempotency_key_in_use"}}"#,
    ..given(409)
};
const REUSED: Given = Given { body: r#"{"error":{"code":"idempotency_key_reused"}}"#, ..given(409) };
const REUSED_IETF: Given = Given { body: r#"{"code":"idempotency_key_reused","retryable":false}"#, ..given(422) };

/// A server in place of a network: gives its answers one after the other, the last one for ever, and keeps what it is
/// sent. Time can stand still around it.
#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<VecDeque<Given>>>,
    seen: Arc<Mutex<Vec<(Instant, Request)>>>,
}

impl Server {
    fn that_answers(answers: impl IntoIterator<Item = Given>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Self::default() }
    }

    fn client(&self) -> IdempotentClient {
        let server = self.clone();
        let answer = move |request: Request, _: &mut http::Extensions, _: Next<'_>| server.answer(request);
        IdempotentClient::new(ClientBuilder::new(reqwest::Client::new()).with(boxed(answer)).build())
    }

    fn answer(&self, request: Request) -> Response {
        self.seen.lock().unwrap().push((Instant::now(), request));
        let mut answers = self.answers.lock().unwrap();
        let Given { status, headers, body } = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0] };
        let mut response = http::Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        response.body(body).unwrap().into()
    }

    /// The key of each attempt.
    fn keys(&self) -> Vec<String> {
        let key = |(_, request): &(_, Request)| request.headers()["idempotency-key"].to_str().unwrap().to_owned();
        self.seen.lock().unwrap().iter().map(key).collect()
    }

    /// How long after the one before each attempt came.
    fn pauses(&self) -> Vec<Duration> {
        let seen = self.seen.lock().unwrap();
        seen.windows(2).map(|two| two[1].0 - two[0].0).collect()
    }
}

/// A middleware of a function that answers by itself.
fn boxed(
    answer: impl Fn(Request, &mut http::Extensions, Next<'_>) -> Response + Send + Sync + 'static,
) -> impl reqwest_middleware::Middleware {
    typed(move |request, extensions, next| {
        let response = answer(request, extensions, next);
        Box::pin(async { Ok(response) })
    })
}

/// Tells the compiler for which lifetimes a function is a middleware.
fn typed<F>(function: F) -> F
where
    F: for<'a> Fn(
            Request,
            &'a mut http::Extensions,
            Next<'a>,
        ) -> futures_util::future::BoxFuture<'a, reqwest_middleware::Result<Response>>
        + Send
        + Sync
        + 'static,
{
    function
}

async fn unknown(call: Call) -> Unknown {
    match call.send().await.unwrap() {
        Outcome::Unknown(unknown) => unknown,
        known => panic!("{known:?}"),
    }
}

async fn new(call: Call) -> Response {
    match call.send().await.unwrap() {
        Outcome::New(response) => response,
        other => panic!("{other:?}"),
    }
}

async fn replayed(call: Call) -> Response {
    match call.send().await.unwrap() {
        Outcome::Replayed(response) => response,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn one_call_has_one_key_and_another_call_another() {
    let server = Server::that_answers([given(503), given(429), given(408), given(425), IN_USE, CREATED]);
    assert_eq!(new(server.client().post(ORDERS).body("book")).await.status(), 201);
    new(server.client().post(ORDERS).body("book")).await;
    let keys = server.keys();
    assert_eq!(keys.len(), 7);
    assert!(keys[..6].iter().all(|key| *key == keys[0]), "{keys:?}");
    assert_ne!(keys[6], keys[0]);
    assert_eq!(uuid::Uuid::parse_str(&keys[0]).unwrap().get_version_num(), 4);
    for (_, request) in &*server.seen.lock().unwrap() {
        assert_eq!(request.body().unwrap().as_bytes(), Some("book".as_bytes()));
    }
}

#[tokio::test(start_paused = true)]
async fn what_passes_by_itself_is_tried_again() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let server = Server::that_answers([given(status), REPLAY]);
        assert_eq!(replayed(server.client().post(ORDERS)).await.text().await.unwrap(), "order 1");
        assert_eq!(server.keys().len(), 2, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_asked_for_twice() {
    for status in [200, 204, 303, 400, 401, 402, 403, 404, 409, 413, 422] {
        let server = Server::that_answers([Given { body: r#"{"error":{"type":"state_conflict"}}"#, ..given(status) }]);
        let response = new(server.client().post(ORDERS)).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.text().await.unwrap(), r#"{"error":{"type":"state_conflict"}}"#, "it can still be read");
        assert_eq!(server.keys().len(), 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_request_under_the_key_is_an_error_at_once() {
    for refusal in [REUSED, REUSED_IETF] {
        let server = Server::that_answers([given(503), refusal]);
        match server.client().post(ORDERS).send().await.unwrap_err() {
            CallError::Reused { key, response } => {
                assert_eq!(key, server.keys()[0]);
                assert_eq!(response.text().await.unwrap(), refusal.body);
            }
            other => panic!("{other}"),
        }
        assert_eq!(server.keys().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_the_shortest_pause() {
    let server = Server::that_answers([IN_USE, CREATED]);
    new(server.client().post(ORDERS)).await;
    let pause = server.pauses()[0];
    assert!(pause >= Duration::from_secs(7) && pause <= Duration::from_millis(7_210), "{pause:?}");

    let date = Given {
        headers: &[("Retry-After", "Sun, 06 Nov 1994 08:49:57 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")],
        ..given(503)
    };
    let server = Server::that_answers([date, CREATED]);
    new(server.client().post(ORDERS)).await;
    assert!(server.pauses()[0] >= Duration::from_secs(20), "{:?}", server.pauses());
}

#[tokio::test(start_paused = true)]
async fn a_pause_longer_than_the_time_left_is_not_waited_for() {
    let server = Server::that_answers([Given { headers: &[("Retry-After", "3600")], ..given(503) }]);
    let begun = Instant::now();
    let unknown = unknown(server.client().post(ORDERS)).await;
    assert_eq!((unknown.attempts, unknown.doubt), (1, Doubt::NoAnswer));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn when_attempts_are_over_the_last_answer_can_be_read() {
    let server = Server::that_answers([Given { body: "down", ..given(503) }]);
    let unknown = unknown(server.client().post(ORDERS)).await;
    assert_eq!((unknown.attempts, unknown.key.as_str()), (8, server.keys()[7].as_str()));
    let text = unknown.to_string();
    assert!(text.contains(&unknown.key) && text.contains("attempt 8") && text.contains("503"), "{text}");
    match unknown.last {
        LastAttempt::Answered(response) => assert_eq!(response.text().await.unwrap(), "down"),
        last => panic!("{last}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_server_does_not_know_is_not_asked_again() {
    for (code, doubt) in [
        (r#"{"error":{"code":"idempotency_outcome_unknown"}}"#, Doubt::Held),
        (r#"{"error":{"code":"idempotency_response_not_stored"}}"#, Doubt::CarriedOut),
    ] {
        let server = Server::that_answers([Given { body: code, ..given(409) }]);
        assert_eq!(unknown(server.client().post(ORDERS)).await.doubt, doubt);
        assert_eq!(server.keys().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_does_not_settle_what_was_asked_before() {
    let server = Server::that_answers([given(504), given(401)]);
    let unknown = unknown(server.client().post(ORDERS)).await;
    assert_eq!((unknown.attempts, unknown.doubt), (2, Doubt::NoAnswer));
}

#[tokio::test(start_paused = true)]
async fn a_key_of_the_callers_is_kept() {
    let server = Server::that_answers([given(503), CREATED]);
    new(server.client().post(ORDERS).key("of-the-caller")).await;
    new(server.client().post(ORDERS).header("Idempotency-Key", "by-hand")).await;
    assert_eq!(server.keys(), ["of-the-caller", "of-the-caller", "by-hand"]);
}

#[tokio::test]
async fn a_key_that_no_server_could_read_is_not_sent() {
    let server = Server::that_answers([CREATED]);
    for bad in ["", "two words", "a,b", "caf\u{e9}", "line\nbreak"] {
        let error = server.client().post(ORDERS).key(bad).send().await.unwrap_err();
        assert!(matches!(error, CallError::Key(_)), "{bad:?}: {error}");
    }
    assert!(server.keys().is_empty());
}

#[tokio::test]
async fn keys_are_quoted_where_that_is_wanted_and_in_the_header_that_is_named() {
    let server = Server::that_answers([CREATED]);
    let client = server.client().key_form(KeyForm::Quoted).key_header(http::HeaderName::from_static("x-request-id"));
    new(client.post(ORDERS).key("of-the-caller")).await;
    let seen = server.seen.lock().unwrap();
    assert_eq!(seen[0].1.headers()["x-request-id"], "\"of-the-caller\"");
    assert!(!seen[0].1.headers().contains_key("idempotency-key"));
}

#[tokio::test]
async fn a_request_that_cannot_be_built_is_an_error() {
    for url in ["no url", "ftp://shop.example/orders"] {
        let client = IdempotentClient::new(reqwest::Client::new());
        let error = client.post(url).send().await.unwrap_err();
        assert!(matches!(error, CallError::Request(_)), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_stream_is_refused_before_it_is_sent() {
    #[derive(Debug)]
    struct Endless;
    impl http_body::Body for Endless {
        type Data = bytes::Bytes;
        type Error = std::io::Error;
        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, std::io::Error>>> {
            std::task::Poll::Pending
        }
    }
    let server = Server::that_answers([CREATED]);
    let error = server.client().post(ORDERS).body(reqwest::Body::wrap(Endless)).send().await.unwrap_err();
    assert!(matches!(error, CallError::Streaming) && error.to_string().contains("into bytes"), "{error}");
    assert!(server.keys().is_empty());
}

/// A server of sockets: each connection gets one of these texts after its request, and is closed.
async fn raw(answers: Vec<String>) -> (String, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/orders", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"book") {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            requests.push(String::from_utf8(request).unwrap());
        }
        requests
    });
    (url, serving)
}

fn quick() -> IdempotentClient {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let pauses = (Duration::from_millis(1), Duration::from_millis(5));
    IdempotentClient::new(http).retries(RetryPolicy::default().pauses(pauses.0, pauses.1))
}

#[tokio::test]
async fn half_an_answer_is_none() {
    let mut whole = String::from("HTTP/1.1 201 Created\r\nIdempotent-Replayed: true\r\nConnection: close\r\n");
    write!(whole, "Content-Length: 7\r\n\r\norder 1").unwrap();
    let cuts = [0, 10, 40, whole.len() - 3];
    let mut answers: Vec<_> = cuts.iter().map(|cut| whole[..*cut].to_owned()).collect();
    answers.push(whole);
    let (url, serving) = raw(answers).await;
    let response = replayed(quick().post(&url).body("book")).await;
    assert_eq!((response.url().as_str(), response.remote_addr().is_some()), (url.as_str(), true));
    assert_eq!(response.text().await.unwrap(), "order 1");
    let requests = serving.await.unwrap();
    let key = |request: &String| request.lines().find(|line| line.starts_with("idempotency-key: ")).unwrap().to_owned();
    assert_eq!(requests.len(), cuts.len() + 1);
    assert!(requests.iter().all(|request| key(request) == key(&requests[0])), "{requests:?}");
}

#[tokio::test]
async fn where_nobody_listens_it_is_tried_again_and_then_given_up() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let unknown = unknown(quick().post(format!("http://127.0.0.1:{port}/orders")).body("book")).await;
    assert_eq!(unknown.attempts, 8);
    assert!(matches!(&unknown.last, LastAttempt::Failed(error) if error.is_connect()), "{unknown}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/orders", listener.local_addr().unwrap());
    let policy = RetryPolicy::default().attempts(2).attempt_timeout(Duration::from_millis(50));
    let unknown = unknown(quick().retries(policy).post(url).body("book")).await;
    assert!(matches!(unknown.last, LastAttempt::TimedOut), "{unknown}");
    assert_eq!(unknown.attempts, 2);
}

/// A folder for a journal, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("calls_{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn journal(&self) -> FileJournal {
        FileJournal::open(self.0.join("calls.jsonl"), Duration::from_secs(3_600)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[tokio::test]
async fn a_restarted_client_goes_on_with_the_same_key() {
    let folder = Folder::new();
    let down = Server::that_answers([given(503)]);
    let client = down.client().retries(RetryPolicy::default().attempts(1)).journal(folder.journal());
    let given_up = unknown(client.post(ORDERS).id("invoice 42").body("book")).await;
    drop(client);

    let up = Server::that_answers([CREATED, REPLAY]);
    let client = up.client().journal(folder.journal());
    new(client.post(ORDERS).id("invoice 42").body("book")).await;
    replayed(client.post(ORDERS).id("invoice 42").body("book")).await;
    drop(client);
    let client = up.client().journal(folder.journal());
    replayed(client.post(ORDERS).id("invoice 42").body("book")).await;
    replayed(client.post(ORDERS).id("invoice 43").body("book")).await;

    let keys = up.keys();
    assert_eq!(keys[..3], [given_up.key.clone(), given_up.key.clone(), given_up.key.clone()]);
    assert_ne!(keys[3], given_up.key);
}

#[tokio::test]
async fn an_id_belongs_to_one_request() {
    let folder = Folder::new();
    let server = Server::that_answers([CREATED]);
    let client = server.client().journal(folder.journal());
    new(client.post(ORDERS).id("invoice 42").body("book").bearer_auth("old token")).await;
    for other in [
        client.post(ORDERS).body("lamp"),
        client.put(ORDERS).body("book"),
        client.post("http://shop.example/refunds").body("book"),
        client.post(ORDERS).body("book").key("another-key"),
    ] {
        let error = other.id("invoice 42").send().await.unwrap_err();
        assert!(matches!(error, CallError::OtherRequest { .. }), "{error}");
    }
    new(client.post(ORDERS).id("invoice 42").body("book").bearer_auth("new token")).await;
    assert_eq!(server.keys().len(), 2);
}

#[tokio::test]
async fn an_id_without_a_journal_is_an_error() {
    let server = Server::that_answers([CREATED]);
    let error = server.client().post(ORDERS).id("invoice 42").send().await.unwrap_err();
    assert!(error.to_string().contains("`.journal(…)`"), "{error}");
    assert!(server.keys().is_empty());
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_sent() {
    #[derive(Debug)]
    struct Full;
    impl Journal for Full {
        fn begin<'a>(
            &'a self,
            _: &'a str,
            _: Entry,
        ) -> futures_util::future::BoxFuture<'a, Result<Option<Entry>, JournalError>> {
            Box::pin(async { Err("the disk is full".into()) })
        }

        fn finish<'a>(&'a self, _: &'a str) -> futures_util::future::BoxFuture<'a, Result<(), JournalError>> {
            Box::pin(async { Ok(()) })
        }
    }
    let server = Server::that_answers([CREATED]);
    let error = server.client().journal(Full).post(ORDERS).id("invoice 42").send().await.unwrap_err();
    assert!(matches!(error, CallError::Journal(_)), "{error}");
    assert!(server.keys().is_empty());
}

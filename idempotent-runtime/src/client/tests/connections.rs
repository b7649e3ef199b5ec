//! Connections that break, that are refused, or that stay silent.

use std::fmt::Write as _;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

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
async fn a_call_that_is_sent_on_to_where_nobody_can_ask_was_not_refused_here() {
    let mut sent_on = String::from("HTTP/1.1 307 Temporary Redirect\r\nLocation: ftp://elsewhere.example/orders\r\n");
    sent_on += "Connection: close\r\nContent-Length: 0\r\n\r\n";
    let (url, serving) = raw(vec![sent_on; 8]).await;
    // What made no request here would be the caller's mistake. This one was sent, and may have been carried out.
    let unknown = unknown(quick().post(&url).body("book")).await;
    assert!(matches!(&unknown.last, LastAttempt::Failed(error) if error.is_builder()), "{unknown}");
    assert_eq!((unknown.attempts, serving.await.unwrap().len()), (8, 8));
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

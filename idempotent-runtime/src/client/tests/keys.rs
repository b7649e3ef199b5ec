//! Under which key a call goes out, and what cannot go out.

use super::*;

#[tokio::test(start_paused = true)]
async fn one_call_has_one_key_and_another_call_another() {
    let server = Server::that_answers([given(503), given(429), given(408), given(425), given(500), CREATED]);
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
async fn a_key_of_the_callers_is_kept() {
    let server = Server::that_answers([given(503), CREATED]);
    new(server.client().post(ORDERS).key("of-the-caller")).await;
    new(server.client().post(ORDERS).header("Idempotency-Key", "by-hand")).await;
    assert_eq!(server.keys(), ["of-the-caller", "of-the-caller", "by-hand"]);
}

#[tokio::test]
async fn of_two_keys_neither_is_sent() {
    let server = Server::that_answers([CREATED]);
    let call = || server.client().post(ORDERS).header("Idempotency-Key", "\"by-hand\"");
    let error = call().key("another").send().await.unwrap_err();
    assert!(matches!(&error, CallError::TwoKeys { key, header } if key == "another" && header == "by-hand"), "{error}");
    let error = call().header("Idempotency-Key", "twice").key("by-hand").send().await.unwrap_err();
    assert!(matches!(error, CallError::Key(_)), "{error}");
    assert!(server.keys().is_empty());
    new(call().key("by-hand")).await;
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

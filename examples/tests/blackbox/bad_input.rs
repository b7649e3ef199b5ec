//! What no client should send: answered, and survived.

use serde_json::json;

use crate::ask::{Ask, list, new_key, new_order};
use crate::database::Database;
use crate::program::{Program, Setup};
use crate::raw::{exchange, parts};

/// `POST /orders` with raw header lines, each ended.
async fn raw_order(orders: &Program, lines: &[u8]) -> String {
    let body = br#"{"item":"book","amount":2000,"currency":"usd"}"#;
    let mut request = b"POST /orders HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\n".to_vec();
    request.extend_from_slice(lines);
    request.extend_from_slice(format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(body);
    exchange(orders, &request).await
}

#[tokio::test]
async fn a_refused_request_is_not_stored() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    let post = |body: &str| Ask::post("/orders").text(body).key(&key);
    post("{not json").send(&orders).await.expect(400);
    post("").send(&orders).await.expect(400);
    post(r#"{"item":"book","amount":0,"currency":"usd"}"#).send(&orders).await.expect(422);
    Ask::order().key(&key).send(&orders).await.expect(201).fresh();
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1);
}

#[tokio::test]
async fn what_is_no_order_is_422() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let bad = [
        json!({ "item": "book", "amount": -5, "currency": "usd" }),
        json!({ "item": "book", "amount": 0.5, "currency": "usd" }),
        json!({ "item": "book", "amount": "2000", "currency": "usd" }),
        json!({ "item": "book", "amount": u64::MAX, "currency": "usd" }),
        json!({ "item": "book", "amount": 2000, "currency": "xau" }),
        json!({ "item": "book", "amount": 2000, "currency": "USD" }),
        json!({ "item": "book", "amount": 2000 }),
        json!({ "amount": 2000, "currency": "usd" }),
        json!({ "item": "zero\0inside", "amount": 2000, "currency": "usd" }),
        json!([]),
        json!(null),
    ];
    for body in bad {
        let answer = Ask::post("/orders").json(&body).key(&new_key()).send(&orders).await;
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
    }
    assert_eq!(list("/orders", "alice", &orders).await.len(), 0);
    let order = new_order(&orders).await;
    Ask::pay(order, "zero\0inside").key(&new_key()).send(&orders).await.expect(422);
    Ask::put(format!("/orders/{order}/item")).json(&json!({ "item": 7 })).send(&orders).await.expect(422);
}

#[tokio::test]
async fn what_is_no_charge_is_422() {
    let database = Database::new();
    let charges = Setup::charges(&database).start();
    let key = new_key();
    for body in [
        json!({ "amount": 0, "currency": "usd" }),
        json!({ "amount": -1, "currency": "usd" }),
        json!({ "amount": 2000, "currency": "doubloon" }),
        json!({ "currency": "usd" }),
    ] {
        Ask::post("/v1/charges").json(&body).key(&key).send(&charges).await.expect(422);
    }
    Ask::post("/v1/charges").text("{").key(&key).send(&charges).await.expect(400);
    Ask::post("/v1/charges")
        .text(r#"{"amount":1,"currency":"usd"}"#)
        .key(&key)
        .send(&charges)
        .await
        .expect(201)
        .fresh();
}

#[tokio::test]
async fn a_large_order_is_accepted_and_one_too_large_is_413() {
    const LIMIT: usize = 1024 * 1024;
    let database = Database::new();
    let mut orders = Setup::orders(&database).start();
    let frame = r#"{"item":"","amount":1,"currency":"usd"}"#.len();
    let order = |length: usize| {
        let item = "x".repeat(length - frame);
        Ask::post("/orders").text(&format!(r#"{{"item":"{item}","amount":1,"currency":"usd"}}"#))
    };
    let key = new_key();
    let answer = order(LIMIT + 1).key(&key).send(&orders).await.expect(413);
    assert_eq!(answer.code(), "idempotency_body_too_large");
    assert!(orders.is_alive());
    Ask::order().key(&key).send(&orders).await.expect(201).fresh();
    // The answer, the order's JSON, is larger than what is stored: a repeat is refused, and does not run again.
    let key = new_key();
    order(LIMIT).key(&key).send(&orders).await.expect(201);
    let again = order(LIMIT).key(&key).send(&orders).await.expect(409);
    assert_eq!(again.code(), "idempotency_response_not_stored");
    let key = new_key();
    order(LIMIT / 2).key(&key).send(&orders).await.expect(201);
    order(LIMIT / 2).key(&key).send(&orders).await.expect(201).replayed();
    assert_eq!(list("/orders", "alice", &orders).await.len(), 3);
}

#[tokio::test]
async fn headers_that_are_no_text_are_refused() {
    let database = Database::new();
    let mut orders = Setup::orders(&database).start();
    let answer = raw_order(&orders, b"Authorization: Bearer alice\r\nIdempotency-Key: \xff\xfe-is-no-utf-8\r\n").await;
    let (status, _, body) = parts(&answer);
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(body.contains("idempotency_key_invalid"), "{body}");
    let answer =
        raw_order(&orders, "Authorization: Bearer alice\r\nIdempotency-Key: schlüssel-mit-umlaut\r\n".as_bytes()).await;
    assert_eq!(parts(&answer).0, "HTTP/1.1 400 Bad Request");
    let answer = raw_order(&orders, b"Authorization: Bearer \xff\xfe\r\nIdempotency-Key: 0123456789\r\n").await;
    assert_eq!(parts(&answer).0, "HTTP/1.1 401 Unauthorized");
    let answer = raw_order(&orders, b"Authorization: Basic YWxpY2U6\r\nIdempotency-Key: 0123456789\r\n").await;
    assert_eq!(parts(&answer).0, "HTTP/1.1 401 Unauthorized");
    assert!(orders.is_alive());
    assert_eq!(list("/orders", "alice", &orders).await.len(), 0);
}

#[tokio::test]
async fn a_body_that_is_not_said_to_be_json_is_415() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let request = "POST /orders HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer alice\r\nIdempotency-Key: 0123456789\r\n\
                   Content-Length: 2\r\nConnection: close\r\n\r\n{}";
    let answer = exchange(&orders, request.as_bytes()).await;
    assert_eq!(parts(&answer).0, "HTTP/1.1 415 Unsupported Media Type");
}

#[tokio::test]
async fn a_body_that_breaks_off_creates_nothing() {
    use tokio::io::AsyncWriteExt as _;

    let database = Database::new();
    let mut orders = Setup::orders(&database).start();
    let mut stream = tokio::net::TcpStream::connect(orders.address()).await.expect("a connection");
    let half = "POST /orders HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer alice\r\nIdempotency-Key: broken-off-key\r\n\
                Content-Type: application/json\r\nContent-Length: 46\r\n\r\n{\"item\":\"book\",";
    stream.write_all(half.as_bytes()).await.expect("to send");
    drop(stream);
    Ask::order().key("broken-off-key").send(&orders).await.expect(201).fresh();
    assert!(orders.is_alive());
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1);
}

#[tokio::test]
async fn what_is_not_there_is_404_or_405() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    Ask::get("/no/such/thing").send(&orders).await.expect(404);
    Ask::delete("/orders").send(&orders).await.expect(405);
    Ask::get("/orders/1/pay").send(&orders).await.expect(405);
    Ask::get("/orders/not-a-number").send(&orders).await.expect(400);
    Ask::get("/orders/99999999999999999999").send(&orders).await.expect(400);
    Ask::get("/orders/-1").send(&orders).await.expect(404);
    Ask::delete(format!("/orders/{}", i64::MAX)).send(&orders).await.expect(204);
}

#[tokio::test]
async fn text_is_kept_as_it_was_sent() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    for item in ["", " padded ", "'; DROP TABLE orders; --", "Bücher 📚 \u{202e}", "line\nline\ttab"] {
        let body = json!({ "item": item, "amount": i64::MAX, "currency": "eur" });
        let answer = Ask::post("/orders").json(&body).key(&new_key()).send(&orders).await.expect(201);
        let id = answer.json()["id"].clone();
        let read = Ask::get(format!("/orders/{id}")).send(&orders).await.expect(200).json();
        assert_eq!((&read["item"], &read["amount"]), (&json!(item), &json!(i64::MAX)));
    }
}

//! What a page in a browser may send and read.

use std::collections::BTreeSet;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::json;

use crate::answer::Answer;
use crate::ask::{Ask, new_key};
use crate::database::Database;
use crate::program::{Program, Setup};

const ORIGIN: &str = "https://shop.example";

fn shop(database: &Database) -> Program {
    Setup::orders(database).env("CORS_ORIGIN", ORIGIN).start()
}

fn from_page(method: Method, path: &str, origin: &str, program: &Program) -> RequestBuilder {
    let client = Client::builder().no_proxy().build().expect("a client");
    client.request(method, format!("{}{path}", program.url())).header("Origin", origin)
}

async fn answer(request: RequestBuilder) -> Answer {
    Answer::read(request.send().await.expect("an answer")).await.expect("a whole answer")
}

/// The names of a header that is a list, in lower case.
fn names(answer: &Answer, header: &str) -> BTreeSet<String> {
    let list = answer.header(header).unwrap_or_else(|| panic!("no {header}: {answer:?}"));
    list.split(',').map(|name| name.trim().to_ascii_lowercase()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn i64_a_page_may_ask_to_send_a_key() {
    let database = Database::new();
    let orders = shop(&database);
    let preflight = from_page(Method::OPTIONS, "/orders", ORIGIN, &orders)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "authorization,content-type,idempotency-key");
    let preflight = answer(preflight).await.expect(200);
    assert_eq!(preflight.header("Access-Control-Allow-Origin"), Some(ORIGIN));
    let allowed = set(&["authorization", "content-type", "idempotency-key", "idempotency-token"]);
    assert_eq!(names(&preflight, "Access-Control-Allow-Headers"), allowed);
    assert_eq!(names(&preflight, "Access-Control-Allow-Methods"), set(&["get", "post", "put", "delete"]));
}

#[tokio::test]
async fn i64_a_page_may_read_whether_an_answer_is_a_replay_and_when_to_come_back() {
    let database = Database::new();
    let (orders, key) = (shop(&database), new_key());
    let ask = || {
        let request = from_page(Method::POST, "/orders", ORIGIN, &orders).bearer_auth("alice");
        answer(request.header("Idempotency-Key", &key).json(&json!({ "item": "book", "amount": 1, "currency": "usd" })))
    };
    let exposed = set(&["idempotent-replayed", "idempotency-key", "retry-after", "location"]);
    for answer in [ask().await.expect(201).fresh(), ask().await.expect(201).replayed()] {
        assert_eq!(answer.header("Access-Control-Allow-Origin"), Some(ORIGIN));
        assert_eq!(names(&answer, "Access-Control-Expose-Headers"), exposed);
    }
    let refused = answer(from_page(Method::POST, "/orders", ORIGIN, &orders).bearer_auth("alice")).await;
    assert_eq!(refused.header("Access-Control-Allow-Origin"), Some(ORIGIN), "refusals can be read too");
}

#[tokio::test]
async fn another_page_is_told_nothing() {
    let database = Database::new();
    let orders = shop(&database);
    let answer = answer(from_page(Method::GET, "/orders", "https://evil.example", &orders).bearer_auth("alice")).await;
    assert_eq!(answer.header("Access-Control-Allow-Origin"), None, "{answer:?}");
}

#[tokio::test]
async fn without_an_origin_no_page_is_told_anything() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let answer = Ask::get("/orders").send(&orders).await.expect(200);
    assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-")), "{answer:?}");
    assert_eq!(answer.header("Vary"), None);
}

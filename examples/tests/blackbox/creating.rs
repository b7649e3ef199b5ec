//! Orders and charges are created once for each key.

use serde_json::json;

use crate::ask::{Ask, list, new_key, new_order};
use crate::database::Database;
use crate::program::Setup;

#[tokio::test]
async fn who_is_asking_must_be_said() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let answer = Ask::order().key(&new_key()).by_nobody().send(&orders).await.expect(401);
    assert_eq!(answer.header("WWW-Authenticate"), Some("Bearer"));
    for path in ["/orders", "/orders/1", "/orders/1/history", "/ledger"] {
        Ask::get(path).by_nobody().send(&orders).await.expect(401);
    }
    Ask::delete("/orders/1").by_nobody().send(&orders).await.expect(401);
    Ask::get("/orders").by("").send(&orders).await.expect(401);
}

#[tokio::test]
async fn a_repeat_gets_the_same_answer() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    let first = Ask::order().key(&key).send(&orders).await.expect(201).fresh();
    assert_eq!(first.body, r#"{"id":1,"item":"book","amount":2000,"currency":"usd","status":"created","charge":null}"#);
    assert_eq!(first.header("Location"), Some("/orders/1"));
    assert_eq!(first.header("Idempotency-Key"), Some(&*key));
    let again = Ask::order().key(&key).send(&orders).await.expect(201).replayed();
    assert_eq!(again.body, first.body);
    for name in ["Location", "Idempotency-Key", "Content-Type"] {
        assert_eq!(again.header(name), first.header(name));
    }
    assert_eq!(list("/orders", "alice", &orders).await, [first.json()]);
}

#[tokio::test]
async fn a_replay_is_how_it_was_not_how_it_is() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    let first = Ask::order().key(&key).send(&orders).await.expect(201);
    Ask::post("/orders/1/cancel").send(&orders).await.expect(200);
    Ask::delete("/orders/1").send(&orders).await.expect(204);
    let again = Ask::order().key(&key).send(&orders).await.expect(201).replayed();
    assert_eq!(again.body, first.body);
    assert_eq!(list("/orders", "alice", &orders).await.len(), 0);
}

#[tokio::test]
async fn another_body_under_the_same_key_is_refused() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    Ask::order().key(&key).send(&orders).await.expect(201);
    let others = [
        r#"{"item":"book","amount":9999,"currency":"usd"}"#,
        r#"{"item":"book", "amount":2000, "currency":"usd"}"#,
        r#"{"amount":2000,"item":"book","currency":"usd"}"#,
    ];
    for body in others {
        let refused = Ask::post("/orders").text(body).key(&key).send(&orders).await.expect(409);
        assert_eq!(refused.code(), "idempotency_key_reused", "{body}");
        let error = &refused.json()["error"];
        assert_eq!(error["type"], "idempotency_error");
        assert_eq!(error["message"], "Idempotency key already used with different request parameters.");
        assert_eq!(refused.header("Retry-After"), None, "waiting does not help");
    }
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1);
}

#[tokio::test]
async fn a_query_is_part_of_the_request() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (key, body) = (new_key(), json!({ "item": "book", "amount": 1, "currency": "eur" }));
    Ask::post("/orders?dry_run=1").json(&body).key(&key).send(&orders).await.expect(201);
    let refused = Ask::post("/orders").json(&body).key(&key).send(&orders).await.expect(409);
    assert_eq!(refused.code(), "idempotency_key_reused");
}

#[tokio::test]
async fn orders_are_listed_newest_first() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let mut ids = vec![new_order(&orders).await, new_order(&orders).await, new_order(&orders).await];
    ids.reverse();
    let listed = list("/orders", "alice", &orders).await;
    assert_eq!(listed.iter().map(|order| order["id"].as_i64().expect("an id")).collect::<Vec<_>>(), ids);
}

#[tokio::test]
async fn an_order_that_is_not_there_is_not_found() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    for path in ["/orders/7", "/orders/7/history"] {
        let answer = Ask::get(path).send(&orders).await.expect(404);
        assert_eq!(answer.json()["error"]["type"], "not_found");
    }
    Ask::put("/orders/7/item").json(&json!({ "item": "pen" })).send(&orders).await.expect(404);
    Ask::pay(7, "tok_ok").key(&new_key()).send(&orders).await.expect(404);
    for event in ["cancel", "settle", "notify"] {
        Ask::post(format!("/orders/7/{event}")).send(&orders).await.expect(404);
    }
}

#[tokio::test]
async fn replacing_may_be_repeated() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    for _ in 0..2 {
        let put = Ask::put(format!("/orders/{order}/item")).json(&json!({ "item": "pen" }));
        assert_eq!(put.send(&orders).await.expect(200).json()["item"], "pen");
    }
    let key = new_key();
    let put = Ask::put(format!("/orders/{order}/item")).json(&json!({ "item": "ink" })).key(&key);
    let first = put.clone().send(&orders).await.expect(200).fresh();
    assert_eq!(put.send(&orders).await.expect(200).replayed().body, first.body);
}

#[tokio::test]
async fn accounts_see_their_own_charges() {
    let database = Database::new();
    let charges = Setup::charges(&database).start();
    let charge = Ask::post("/v1/charges").json(&json!({ "amount": 5, "currency": "gbp", "order": "o-1", "card": "x" }));
    let key = new_key();
    let ours = charge.clone().key(&key).by("acct_1").send(&charges).await.expect(201);
    let theirs = charge.key(&key).by("acct_2").send(&charges).await.expect(201).fresh();
    assert_ne!(ours.body, theirs.body);
    assert_eq!(list("/v1/charges", "acct_1", &charges).await, [ours.json()]);
    assert_eq!(list("/v1/charges", "acct_2", &charges).await, [theirs.json()]);
    assert_eq!(list("/v1/charges", "acct_3", &charges).await.len(), 0);
    Ask::get("/v1/charges").by_nobody().send(&charges).await.expect(401);
}

#[tokio::test]
async fn the_test_cards_of_the_provider_do_what_they_say() {
    let database = Database::new();
    let charges = Setup::charges(&database).start();
    let charge = |card: &str| Ask::post("/v1/charges").json(&json!({ "amount": 5, "currency": "usd", "card": card }));

    let key = new_key();
    let declined = charge("tok_declined").key(&key).send(&charges).await.expect(402).fresh();
    assert_eq!(declined.json()["error"]["type"], "card_error");
    assert_eq!(declined.json()["error"]["code"], "card_declined");
    charge("tok_declined").key(&key).send(&charges).await.expect(402).replayed();

    let key = new_key();
    assert_eq!(charge("tok_flaky").key(&key).send(&charges).await.expect(503).retry_after(), 1);
    charge("tok_flaky").key(&key).send(&charges).await.expect(201).fresh();
    charge("tok_flaky").key(&key).send(&charges).await.expect(201).replayed();
    assert_eq!(list("/v1/charges", "alice", &charges).await.len(), 1);
}

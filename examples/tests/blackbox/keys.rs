//! What a key is, and whose.

use crate::ask::{Ask, list, new_key, new_order};
use crate::database::Database;
use crate::program::Setup;

#[tokio::test]
async fn a_key_is_required_to_create() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    assert_eq!(Ask::order().send(&orders).await.expect(400).code(), "idempotency_key_missing");
    let order = new_order(&orders).await;
    assert_eq!(Ask::pay(order, "tok_ok").send(&orders).await.expect(400).code(), "idempotency_key_missing");
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1);
}

#[tokio::test]
async fn malformed_keys_are_refused() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let long = "k".repeat(256);
    let bad = [
        "",
        " ",
        "\"\"",
        "short",
        &long,
        "\"unterminated-string-key",
        "has space inside it",
        "two-keys-here,in-one-line",
        "\"two-keys\", \"in-one-line\"",
        "\"quoted\"trailing-text",
    ];
    for key in bad {
        let answer = Ask::order().key(key).send(&orders).await.expect(400);
        let code = answer.code();
        assert!(code == "idempotency_key_invalid" || code == "idempotency_key_missing", "{key:?}: {code}");
    }
    let twice = Ask::order().key(&new_key()).key(&new_key()).send(&orders).await.expect(400);
    assert_eq!(twice.code(), "idempotency_key_invalid");
    assert_eq!(list("/orders", "alice", &orders).await.len(), 0);
}

#[tokio::test]
async fn long_and_short_keys_are_accepted_up_to_their_limits() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    for key in ["k".repeat(255), "k".repeat(8), "idem_f47ac10b".to_owned()] {
        Ask::order().key(&key).send(&orders).await.expect(201);
        Ask::order().key(&key).send(&orders).await.expect(201).replayed();
    }
    assert_eq!(list("/orders", "alice", &orders).await.len(), 3);
}

#[tokio::test]
async fn keys_that_differ_in_case_are_two() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    Ask::order().key("The-Same-Key").send(&orders).await.expect(201);
    Ask::order().key("the-same-key").send(&orders).await.expect(201).fresh();
    assert_eq!(list("/orders", "alice", &orders).await.len(), 2);
}

#[tokio::test]
async fn quoted_and_bare_name_one_key() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    let first = Ask::order().key(&format!("\"{key}\"")).send(&orders).await.expect(201);
    assert_eq!(first.header("Idempotency-Key"), Some(&*format!("\"{key}\"")), "as it was sent");
    for same in [key.clone(), format!("\"{key}\""), format!("\"{key}\";v=1")] {
        assert_eq!(Ask::order().key(&same).send(&orders).await.expect(201).replayed().body, first.body);
    }
}

#[tokio::test]
async fn keys_belong_to_their_user() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    let alices = Ask::order().key(&key).by("alice").send(&orders).await.expect(201);
    let bobs = Ask::order().key(&key).by("bob").send(&orders).await.expect(201).fresh();
    assert_ne!(alices.json()["id"], bobs.json()["id"]);
    assert_eq!(list("/orders", "alice", &orders).await, [alices.json()]);
    assert_eq!(list("/orders", "bob", &orders).await, [bobs.json()]);
    let id = &alices.json()["id"];
    for path in [format!("/orders/{id}"), format!("/orders/{id}/history")] {
        Ask::get(path).by("bob").send(&orders).await.expect(404);
    }
    for event in ["cancel", "settle", "notify"] {
        Ask::post(format!("/orders/{id}/{event}")).by("bob").send(&orders).await.expect(404);
    }
}

#[tokio::test]
async fn users_that_differ_in_case_are_two() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    let small = Ask::order().key(&key).by("alice").send(&orders).await.expect(201);
    let large = Ask::order().key(&key).by("ALICE").send(&orders).await.expect(201).fresh();
    assert_eq!(list("/orders", "alice", &orders).await, [small.json()]);
    assert_eq!(list("/orders", "ALICE", &orders).await, [large.json()]);
    Ask::get(format!("/orders/{}", small.json()["id"])).by("Alice").send(&orders).await.expect(404);
}

#[tokio::test]
async fn one_key_is_for_one_request_not_for_one_endpoint() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    let key = new_key();
    Ask::order().key(&key).send(&orders).await.expect(201);
    for other in [
        Ask::post(format!("/orders/{order}/cancel")),
        Ask::pay(order, "tok_ok"),
        Ask::delete(format!("/orders/{order}")),
    ] {
        assert_eq!(other.key(&key).send(&orders).await.expect(409).code(), "idempotency_key_reused");
    }
    assert_eq!(crate::ask::status(order, &orders).await, "created");
}

#[tokio::test]
async fn an_optional_key_is_honoured() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let cancel = Ask::post(format!("/orders/{order}/cancel")).key(&key);
    let first = cancel.clone().send(&orders).await.expect(200).fresh();
    assert_eq!(cancel.send(&orders).await.expect(200).replayed().body, first.body);
    Ask::post(format!("/orders/{order}/cancel")).send(&orders).await.expect(200).fresh();
}

#[tokio::test]
async fn a_key_of_a_read_is_ignored() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let key = new_key();
    Ask::get("/orders").key(&key).send(&orders).await.expect(200).fresh();
    Ask::order().key(&key).send(&orders).await.expect(201).fresh();
    Ask::get("/orders").key(&key).send(&orders).await.expect(200).fresh();
}

//! Orders move only along the graph.

use serde_json::{Value, json};

use crate::ask::{Ask, list, new_key, new_order, status};
use crate::database::Database;
use crate::program::{Program, Setup};

async fn fire(order: i64, event: &str, orders: &Program) -> crate::answer::Answer {
    Ask::post(format!("/orders/{order}/{event}")).send(orders).await
}

fn error(answer: &crate::answer::Answer) -> Value {
    answer.json()["error"].clone()
}

#[tokio::test]
async fn orders_move_only_along_the_graph() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    for event in ["settle", "notify"] {
        let refused = fire(order, event, &orders).await.expect(409);
        assert_eq!(error(&refused)["current"], "created");
        assert_eq!(error(&refused)["allowed"], json!(["pay", "cancel"]));
    }
    let message = error(&fire(order, "settle", &orders).await)["message"].clone();
    assert_eq!(message, "order 1 is `created`; `settle` needs `paid`; possible now: pay, cancel");

    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    for (event, status) in
        [("settle", "settled"), ("settle", "settled"), ("notify", "notified"), ("notify", "notified")]
    {
        assert_eq!(fire(order, event, &orders).await.expect(200).json()["status"], status);
    }
    let settled = fire(order, "settle", &orders).await.expect(200);
    assert_eq!(settled.json()["status"], "notified", "settled before: as it is");

    let refused = fire(order, "cancel", &orders).await.expect(409);
    assert_eq!(error(&refused)["current"], "notified");
    assert_eq!(error(&refused)["allowed"], json!([]));
    assert_eq!(
        error(&refused)["message"],
        "order 1 is `notified`; `cancel` needs `created` or `paid`; possible now: none"
    );
}

#[tokio::test]
async fn settled_once_is_booked_once() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    fire(order, "settle", &orders).await.expect(409);
    assert_eq!(list("/ledger", "alice", &orders).await.len(), 0);
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    for _ in 0..3 {
        fire(order, "settle", &orders).await.expect(200);
    }
    let booked = json!({ "account": "alice", "order": order, "amount": 2000 });
    assert_eq!(list("/ledger", "alice", &orders).await, [booked]);
    assert_eq!(list("/ledger", "bob", &orders).await.len(), 0);
}

#[tokio::test]
async fn a_cancelled_order_cannot_be_paid() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    for _ in 0..2 {
        assert_eq!(fire(order, "cancel", &orders).await.expect(200).json()["status"], "cancelled");
    }
    let refused = Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await;
    assert_eq!(refused.conflicting_state(), "cancelled");
    let order = Ask::get(format!("/orders/{order}")).send(&orders).await.expect(200);
    assert_eq!(order.json()["charge"], Value::Null);
}

#[tokio::test]
async fn a_paid_order_can_be_cancelled() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    fire(order, "cancel", &orders).await.expect(200);
    assert_eq!(status(order, &orders).await, "cancelled");
}

#[tokio::test]
async fn a_refused_event_is_not_stored_with_its_key() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let settle = Ask::post(format!("/orders/{order}/settle")).key(&key);
    settle.clone().send(&orders).await.expect(409);
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    settle.send(&orders).await.expect(200).fresh();
}

#[tokio::test]
async fn history_tells_what_happened() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    Ask::pay(order, "tok_declined").key(&new_key()).send(&orders).await.expect(402);
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    for event in ["settle", "settle", "notify"] {
        fire(order, event, &orders).await.expect(200);
    }
    fire(order, "cancel", &orders).await.expect(409);
    let history = list(&format!("/orders/{order}/history"), "alice", &orders).await;
    let told = history.iter().map(|row| json!([row["event"], row["from"], row["to"]])).collect::<Vec<_>>();
    let happened = json!([
        ["create", null, "created"],
        ["pay", "created", "paying"],
        ["decline", "paying", "created"],
        ["pay", "created", "paying"],
        ["confirm", "paying", "paid"],
        ["settle", "paid", "settled"],
        ["notify", "settled", "notified"],
    ]);
    assert_eq!(json!(told), happened);
    let times = history.iter().map(|row| row["at"].as_i64().expect("a time")).collect::<Vec<_>>();
    assert!(times.is_sorted(), "{times:?}");
}

//! Many at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Barrier;

use crate::answer::Answer;
use crate::ask::{Ask, charges_of_orders, list, new_key, new_order};
use crate::database::Database;
use crate::program::{Program, Setup};

/// Sends requests at the same moment, the n-th to the n-th program in turn.
pub(crate) async fn at_once(asks: Vec<Ask>, programs: &[&Arc<Program>]) -> Vec<Answer> {
    let barrier = Arc::new(Barrier::new(asks.len()));
    let mut tasks = Vec::new();
    for (number, ask) in asks.into_iter().enumerate() {
        let (barrier, program) = (Arc::clone(&barrier), Arc::clone(programs[number % programs.len()]));
        tasks.push(tokio::spawn(async move {
            barrier.wait().await;
            ask.send(&program).await
        }));
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("an answer"));
    }
    answers
}

/// Checks that all got the same 201, or were told that the key is in use.
fn assert_one_answer(answers: &[Answer]) {
    let (created, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert_eq!(created.iter().map(|answer| &answer.body).collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(created.iter().filter(|answer| !answer.is_replayed()).count(), 1, "one of them made it");
    for answer in refused {
        assert!(answer.is_in_use() && answer.retry_after() >= 1, "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_are_one_order() {
    let database = Database::new();
    let orders = Arc::new(Setup::orders(&database).start());
    let key = new_key();
    assert_one_answer(&at_once(vec![Ask::order().key(&key); 50], &[&orders]).await);
    assert_eq!(list("/orders", "alice", &orders).await.len(), 1);
    Ask::order().key(&key).send(&orders).await.expect(201).replayed();
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_to_two_processes_are_one_order() {
    let database = Database::new();
    let (one, other) = (Arc::new(Setup::orders(&database).start()), Arc::new(Setup::orders(&database).start()));
    let key = new_key();
    assert_one_answer(&at_once(vec![Ask::order().key(&key); 50], &[&one, &other]).await);
    assert_eq!(list("/orders", "alice", &one).await.len(), 1);
    Ask::order().key(&key).send(&other).await.expect(201).replayed();
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_keys_at_once_are_fifty_orders() {
    let database = Database::new();
    let orders = Arc::new(Setup::orders(&database).start());
    let asks = (0..50).map(|_| Ask::order().key(&new_key())).collect();
    for answer in at_once(asks, &[&orders]).await {
        answer.expect(201).fresh();
    }
    assert_eq!(list("/orders", "alice", &orders).await.len(), 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_are_one_charge() {
    let database = Database::new();
    let charges = Arc::new(Setup::charges(&database).start());
    let charge = Ask::post("/v1/charges").text(r#"{"amount":2000,"currency":"usd"}"#).by("orders").key(&new_key());
    assert_one_answer(&at_once(vec![charge; 50], &[&charges]).await);
    assert_eq!(charges_of_orders(&charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_keys_paying_one_order_at_once_are_one_charge() {
    let (database, charges_database) = (Database::new(), Database::new());
    let charges = Setup::charges(&charges_database).start();
    let orders = Arc::new(Setup::orders(&database).env("CHARGES_URL", charges.url()).start());
    let order = new_order(&orders).await;
    let asks = (0..20).map(|_| Ask::pay(order, "tok_ok").key(&new_key())).collect();
    let mut paid = 0;
    for answer in at_once(asks, &[&orders]).await {
        if answer.status == 200 {
            paid += 1;
        } else {
            assert_eq!(answer.conflicting_state(), "paying");
        }
    }
    assert!(paid >= 1);
    assert_eq!(charges_of_orders(&charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn settled_twenty_times_at_once_is_booked_once() {
    let database = Database::new();
    let orders = Arc::new(Setup::orders(&database).start());
    let order = new_order(&orders).await;
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    for answer in at_once(vec![Ask::post(format!("/orders/{order}/settle")); 20], &[&orders]).await {
        assert_eq!(answer.expect(200).json()["status"], "settled");
    }
    assert_eq!(list("/ledger", "alice", &orders).await.len(), 1);
    let history = list(&format!("/orders/{order}/history"), "alice", &orders).await;
    assert_eq!(history.iter().filter(|row| row["event"] == "settle").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_and_paid_at_once_is_one_of_them() {
    let (database, charges_database) = (Database::new(), Database::new());
    let charges = Setup::charges(&charges_database).start();
    let orders = Arc::new(Setup::orders(&database).env("CHARGES_URL", charges.url()).start());
    let mut paid = 0;
    for _ in 0..10 {
        let order = new_order(&orders).await;
        let asks = vec![Ask::pay(order, "tok_ok").key(&new_key()), Ask::post(format!("/orders/{order}/cancel"))];
        let answers = at_once(asks, &[&orders]).await;
        let order = Ask::get(format!("/orders/{order}")).send(&orders).await.expect(200).json();
        if answers[0].status == 200 {
            paid += 1;
            assert!(order["charge"].is_string(), "{order}");
        } else {
            assert_eq!(answers[0].clone().conflicting_state(), "cancelled");
            assert!(order["charge"].is_null() && order["status"] == "cancelled", "{order}");
        }
    }
    assert_eq!(charges_of_orders(&charges).await, paid);
}

//! Deleting what is gone is no error.

use crate::ask::{Ask, list, new_key, new_order, status};
use crate::database::Database;
use crate::program::Setup;

#[tokio::test]
async fn deleting_twice_is_deleting_once() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    for _ in 0..2 {
        let answer = Ask::delete(format!("/orders/{order}")).send(&orders).await.expect(204);
        assert_eq!(answer.body, "");
    }
    Ask::get(format!("/orders/{order}")).send(&orders).await.expect(404);
    Ask::get(format!("/orders/{order}/history")).send(&orders).await.expect(404);
    Ask::delete("/orders/999999").send(&orders).await.expect(204);
}

#[tokio::test]
async fn a_deletion_with_a_key_is_replayed_as_204() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let delete = Ask::delete(format!("/orders/{order}")).key(&key);
    delete.clone().send(&orders).await.expect(204).fresh();
    assert_eq!(delete.send(&orders).await.expect(204).replayed().body, "");
}

#[tokio::test]
async fn another_users_order_stays() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let order = new_order(&orders).await;
    Ask::delete(format!("/orders/{order}")).by("bob").send(&orders).await.expect(204);
    assert_eq!(status(order, &orders).await, "created");
}

#[tokio::test]
async fn an_order_that_is_being_paid_cannot_be_deleted() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    Ask::pay(order, "tok_flaky").key(&key).send(&orders).await.expect(503);
    let delete = Ask::delete(format!("/orders/{order}"));
    assert_eq!(delete.clone().send(&orders).await.conflicting_state(), "paying");
    Ask::delete(format!("/orders/{order}")).by("bob").send(&orders).await.expect(204);
    Ask::pay(order, "tok_flaky").key(&key).send(&orders).await.expect(200);
    delete.clone().send(&orders).await.expect(204);
    delete.send(&orders).await.expect(204);
}

#[tokio::test]
async fn the_ledger_keeps_what_was_settled() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let first = new_order(&orders).await;
    Ask::pay(first, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    Ask::post(format!("/orders/{first}/settle")).send(&orders).await.expect(200);
    Ask::delete(format!("/orders/{first}")).send(&orders).await.expect(204);
    // The id of a deleted order is not given out again: the ledger still names it.
    let second = new_order(&orders).await;
    assert_ne!(first, second);
    Ask::pay(second, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
    Ask::post(format!("/orders/{second}/settle")).send(&orders).await.expect(200);
    assert_eq!(list("/ledger", "alice", &orders).await.len(), 2);
}

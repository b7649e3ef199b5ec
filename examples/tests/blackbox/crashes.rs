//! `kill -9`, which is what dropping a program does, and on from there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::answer::Answer;
use crate::ask::{Ask, charges_of_orders, list, new_key, new_order, status};
use crate::database::Database;
use crate::program::{Program, Setup};
use crate::provider::{Mode, Provider};

/// Sends a request again while its key is in use.
async fn until_free(ask: &Ask, program: &Program) -> Answer {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = ask.clone().send(program).await;
        if !answer.is_in_use() {
            return answer;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends a request again while the order's payment is under way with another key.
async fn until_not_paying(ask: &Ask, program: &Program) -> Answer {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = ask.clone().send(program).await;
        if answer.status != 409 {
            return answer;
        }
        assert_eq!(answer.conflicting_state(), "paying");
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Creates an order for each key, from eight clients, until the program goes away. Says which were answered.
async fn burst(keys: &[String], orders: &Arc<Program>) -> HashMap<String, Answer> {
    let mut clients = Vec::new();
    for part in keys.chunks(keys.len().div_ceil(8)) {
        let (part, orders) = (part.to_vec(), Arc::clone(orders));
        clients.push(tokio::spawn(async move {
            let mut answered = Vec::new();
            for key in part {
                match Ask::order().key(&key).try_send(&orders).await {
                    Ok(answer) => answered.push((key, answer.expect(201))),
                    Err(_) => break,
                }
            }
            answered
        }));
    }
    let mut answered = HashMap::new();
    for client in clients {
        answered.extend(client.await.expect("its answers"));
    }
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_burst_there_are_as_many_orders_as_keys() {
    let database = Database::new();
    let setup = Setup::orders(&database);
    let mut keys = Vec::new();
    for _ in 0..4 {
        let fresh = (0..200).map(|_| new_key()).collect::<Vec<_>>();
        let orders = Arc::new(setup.start());
        let moment = Duration::from_millis(20 + u64::from(Uuid::new_v4().as_bytes()[0]));
        let (answered, ()) = tokio::join!(burst(&fresh, &orders), async {
            tokio::time::sleep(moment).await;
            orders.kill();
        });
        drop(orders);
        keys.extend(fresh);

        let orders = setup.start();
        for key in &keys {
            let again = until_free(&Ask::order().key(key), &orders).await.expect(201);
            if let Some(first) = answered.get(key) {
                assert_eq!(again.replayed().body, first.body, "what was answered stays so");
            }
        }
        assert_eq!(list("/orders", "alice", &orders).await.len(), keys.len(), "after {moment:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_survive_a_crash() {
    let database = Database::new();
    let setup = Setup::orders(&database);
    let (orders, key) = (setup.start(), new_key());
    let first = Ask::order().key(&key).send(&orders).await.expect(201);
    drop(orders);
    let orders = setup.start();
    assert_eq!(Ask::order().key(&key).send(&orders).await.expect(201).replayed().body, first.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_charge_and_confirmation_it_is_charged_once() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let setup = Setup::orders(&database).env("CHARGES_URL", provider.url()).env("LEASE", "2s");
    let orders = setup.start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_ok").key(&key);
    tokio::select! {
        answer = pay.clone().send(&orders) => panic!("{answer:?}"),
        () = provider.charged() => {}
    }
    drop(orders);
    provider.set(Mode::Honest);

    let orders = setup.start();
    assert_eq!(status(order, &orders).await, "paying");
    let busy = pay.clone().send(&orders).await;
    if busy.is_in_use() {
        assert!((1..=2).contains(&busy.retry_after()), "the rest of the lease: {busy:?}");
    }
    let paid = until_free(&pay, &orders).await.expect(200).fresh();
    assert_eq!(paid.json()["status"], "paid");
    pay.send(&orders).await.expect(200).replayed();
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_charge_and_confirmation_a_newcomer_confirms_the_same_charge() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let setup = Setup::orders(&database).env("CHARGES_URL", provider.url()).env("LEASE", "1s");
    let orders = setup.start();
    let order = new_order(&orders).await;
    let (killed, newcomer) = (Ask::pay(order, "tok_ok").key(&new_key()), Ask::pay(order, "tok_ok").key(&new_key()));
    tokio::select! {
        answer = killed.clone().send(&orders) => panic!("{answer:?}"),
        () = provider.charged() => {}
    }
    drop(orders);
    provider.set(Mode::Honest);

    let orders = setup.start();
    let paid = until_not_paying(&newcomer, &orders).await.expect(200).fresh();
    assert_eq!(paid.json()["status"], "paid");
    // The first run is finished too, with the key that it began with.
    let again = until_free(&killed, &orders).await.expect(200).fresh();
    assert_eq!(again.body, paid.body);
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_the_charge_a_newcomer_pays_after_the_lease() {
    let database = Database::new();
    let provider = Provider::start(Mode::Down).await;
    let setup = Setup::orders(&database).env("CHARGES_URL", provider.url()).env("LEASE", "1s");
    let orders = setup.start();
    let order = new_order(&orders).await;
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(503);
    drop(orders);
    provider.set(Mode::Honest);

    let orders = setup.start();
    let newcomer = Ask::pay(order, "tok_ok").key(&new_key());
    let paid = until_not_paying(&newcomer, &orders).await.expect(200);
    assert_eq!(paid.json()["status"], "paid");
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_inside_remembers_its_charges() {
    let database = Database::new();
    let setup = Setup::orders(&database);
    let orders = setup.start();
    let (order, key) = (new_order(&orders).await, new_key());
    // The provider fails once for each order, and must remember over a crash that it did.
    Ask::pay(order, "tok_flaky").key(&key).send(&orders).await.expect(503);
    drop(orders);
    let orders = setup.start();
    Ask::pay(order, "tok_flaky").key(&key).send(&orders).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn charges_survive_a_crash() {
    let database = Database::new();
    let setup = Setup::charges(&database);
    let charge = Ask::post("/v1/charges").text(r#"{"amount":2000,"currency":"usd"}"#).by("orders").key(&new_key());
    let charges = setup.start();
    let first = charge.clone().send(&charges).await.expect(201);
    drop(charges);
    let charges = setup.start();
    assert_eq!(charge.send(&charges).await.expect(201).replayed().body, first.body);
    assert_eq!(charges_of_orders(&charges).await, 1);
}

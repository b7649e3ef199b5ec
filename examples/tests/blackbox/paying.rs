//! Paying charges once, whatever the provider does.

use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::ask::{Ask, charges_of_orders, new_key, new_order, status};
use crate::database::Database;
use crate::program::{Program, Setup};
use crate::provider::{Mode, Provider};

/// Sends a request again until it is answered otherwise than with 409.
async fn until_not_refused(ask: &Ask, orders: &Program) -> Answer {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = ask.clone().send(orders).await;
        if answer.status != 409 {
            return answer;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paying_charges_once() {
    let database = Database::new();
    let provider = Provider::start(Mode::Honest).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let first = Ask::pay(order, "tok_ok").key(&key).send(&orders).await.expect(200).fresh();
    assert_eq!(first.json()["status"], "paid");
    let charge = first.json()["charge"].as_str().expect("a charge").to_owned();
    assert!(charge.starts_with("ch_"), "{charge}");
    assert_eq!(Ask::pay(order, "tok_ok").key(&key).send(&orders).await.expect(200).replayed().body, first.body);

    let other = Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200).fresh();
    assert_eq!(other.json()["charge"], charge);
    for event in ["settle", "notify"] {
        Ask::post(format!("/orders/{order}/{event}")).send(&orders).await.expect(200);
        let again = Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
        assert_eq!(again.json()["charge"], charge);
    }
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_leaves_the_order_open() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let first = Ask::pay(order, "tok_declined").key(&key).send(&orders).await.expect(402);
    assert_eq!(first.json()["error"]["type"], "card_error");
    assert_eq!(first.json()["error"]["code"], "card_declined");
    assert_eq!(status(order, &orders).await, "created");
    let again = Ask::pay(order, "tok_declined").key(&key).send(&orders).await.expect(402).replayed();
    assert_eq!(again.body, first.body);
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_provider_is_tried_again_with_the_same_key() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let failed = Ask::pay(order, "tok_flaky").key(&key).send(&orders).await.expect(503);
    assert_eq!(failed.retry_after(), 1);
    assert_eq!(status(order, &orders).await, "paying");
    let newcomer = Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await;
    assert_eq!(newcomer.conflicting_state(), "paying");
    let quoted = Ask::pay(order, "tok_flaky").key(&format!("\"{key}\""));
    assert_eq!(quoted.send(&orders).await.expect(200).json()["status"], "paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_failed_is_still_for_the_same_card() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let (order, key) = (new_order(&orders).await, new_key());
    Ask::pay(order, "tok_flaky").key(&key).send(&orders).await.expect(503);
    let refused = Ask::pay(order, "tok_ok").key(&key).send(&orders).await.expect(409);
    assert_eq!(refused.code(), "idempotency_key_reused");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_provider_is_503_and_costs_nothing() {
    let (database, charges_database) = (Database::new(), Database::new());
    let charges = Setup::charges(&charges_database).start();
    let url = charges.url().to_owned();
    let address = charges.address().to_owned();
    drop(charges);
    let orders = Setup::orders(&database).env("CHARGES_URL", url).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_ok").key(&key);
    pay.clone().send(&orders).await.expect(503);
    assert_eq!(status(order, &orders).await, "paying");
    let charges = Setup::charges(&charges_database).env("LISTEN", address).start();
    pay.send(&orders).await.expect(200);
    assert_eq!(charges_of_orders(&charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_lost_is_fetched_again_not_charged_again() {
    let database = Database::new();
    let provider = Provider::start(Mode::Losing).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_ok").key(&key);
    for _ in 0..3 {
        pay.clone().send(&orders).await.expect(503);
    }
    assert_eq!(charges_of_orders(&provider.charges).await, 1, "charged, and nobody was told");
    provider.set(Mode::Honest);
    pay.send(&orders).await.expect(200).fresh();
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_goes_on_after_the_lease_and_charges_once() {
    let database = Database::new();
    let provider = Provider::start(Mode::Losing).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).env("LEASE", "2s").start();
    let order = new_order(&orders).await;
    Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await.expect(503);
    provider.set(Mode::Honest);
    // The newcomer's card is not used: the attempt has one, and may have charged it.
    let newcomer = Ask::pay(order, "tok_declined").key(&new_key());
    let refused = newcomer.clone().send(&orders).await.expect(409);
    assert_eq!(refused.json()["error"]["allowed"], serde_json::json!(["confirm", "decline"]));
    assert_eq!(refused.conflicting_state(), "paying");
    let paid = until_not_refused(&newcomer, &orders).await.expect(200);
    assert_eq!(paid.json()["status"], "paid");
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_that_takes_longer_than_the_lease_is_one_charge() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).env("LEASE", "2s").start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_ok").key(&key);
    let newcomer = Ask::pay(order, "tok_ok").key(&new_key());
    let (first, second) = tokio::join!(pay.clone().send(&orders), async {
        provider.charged().await;
        let charged = Instant::now();
        while charged.elapsed() < Duration::from_secs(5) {
            let busy = pay.clone().send(&orders).await;
            assert!(busy.is_in_use(), "its lease is renewed: {busy:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // The attempt is old by now: another key goes on with it, beside the first.
        let (second, ()) = tokio::join!(newcomer.send(&orders), async {
            provider.charged().await;
            provider.set(Mode::Honest);
        });
        second
    });
    let first = first.expect(200).fresh();
    assert_eq!(first.json()["status"], "paid");
    assert_eq!(second.expect(200).fresh().body, first.body);
    assert_eq!(pay.send(&orders).await.expect(200).replayed().body, first.body);
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_flight_is_said_at_once() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_ok").key(&key);
    let (first, ()) = tokio::join!(pay.clone().send(&orders), async {
        provider.charged().await;
        let busy = pay.clone().send(&orders).await;
        assert!(busy.is_in_use(), "{busy:?}");
        assert!((1..=30).contains(&busy.retry_after()), "{busy:?}");
        let other = Ask::pay(order, "tok_declined").key(&key).send(&orders).await.expect(409);
        assert_eq!(other.code(), "idempotency_key_reused", "a mismatch is no matter of waiting");
        let newcomer = Ask::pay(order, "tok_ok").key(&new_key()).send(&orders).await;
        assert_eq!(newcomer.conflicting_state(), "paying");
        let cancel = Ask::post(format!("/orders/{order}/cancel")).send(&orders).await;
        assert_eq!(cancel.conflicting_state(), "paying");
        provider.set(Mode::Honest);
    });
    assert_eq!(pay.send(&orders).await.expect(200).replayed().body, first.expect(200).body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_is_charged_once() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_ok").key(&key);
    tokio::select! {
        answer = pay.clone().send(&orders) => panic!("{answer:?}"),
        () = provider.charged() => {}
    }
    let busy = pay.clone().send(&orders).await;
    assert!(busy.is_in_use(), "the hang-up stopped nothing: {busy:?}");
    provider.set(Mode::Honest);
    until_not_refused(&pay, &orders).await.expect(200).replayed();
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_after_50_ms_is_charged_once() {
    let (database, charges_database) = (Database::new(), Database::new());
    let charges = Setup::charges(&charges_database).start();
    let orders = Setup::orders(&database).env("CHARGES_URL", charges.url()).start();
    let (order, key) = (new_order(&orders).await, new_key());
    let pay = Ask::pay(order, "tok_slow").key(&key);
    let hung_up = tokio::time::timeout(Duration::from_millis(50), pay.clone().send(&orders)).await;
    assert!(hung_up.is_err(), "a slow card takes two seconds: {hung_up:?}");
    assert_eq!(until_not_refused(&pay, &orders).await.expect(200).json()["status"], "paid");
    assert_eq!(charges_of_orders(&charges).await, 1);
}

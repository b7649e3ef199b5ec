//! SIGTERM: no more connections, what has begun is ended, exit code 0.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::ask::{Ask, charges_of_orders, new_key, new_order};
use crate::database::Database;
use crate::program::Setup;
use crate::provider::{Mode, Provider};

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_program_stops_at_once() {
    let (database, other) = (Database::new(), Database::new());
    for setup in [Setup::orders(&database), Setup::charges(&other)] {
        let program = setup.start();
        let idle = TcpStream::connect(program.address()).await.expect("a connection");
        let asked = Instant::now();
        program.terminate();
        assert_eq!(program.exit_code(), Some(0));
        assert!(asked.elapsed() < Duration::from_secs(5), "it waited for an idle connection");
        drop(idle);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_what_has_begun() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let orders = Setup::orders(&database).env("CHARGES_URL", provider.url()).start();
    let order = new_order(&orders).await;
    let (paid, ()) = tokio::join!(Ask::pay(order, "tok_ok").key(&new_key()).send(&orders), async {
        provider.charged().await;
        orders.terminate();
        until_refused(orders.address()).await;
        provider.set(Mode::Honest);
    });
    assert_eq!(paid.expect(200).json()["status"], "paid");
    assert_eq!(orders.exit_code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_what_a_client_left_behind() {
    let database = Database::new();
    let provider = Provider::start(Mode::Holding).await;
    let setup = Setup::orders(&database).env("CHARGES_URL", provider.url());
    let orders = setup.start();
    let order = new_order(&orders).await;
    let pay = Ask::pay(order, "tok_ok").key(&new_key());
    tokio::select! {
        answer = pay.clone().send(&orders) => panic!("{answer:?}"),
        () = provider.charged() => {}
    }
    orders.terminate();
    until_refused(orders.address()).await;
    provider.set(Mode::Honest);
    assert_eq!(orders.exit_code(), Some(0));

    let orders = setup.start();
    assert_eq!(pay.send(&orders).await.expect(200).replayed().json()["status"], "paid");
    assert_eq!(charges_of_orders(&provider.charges).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_inside_stops_last() {
    let database = Database::new();
    let setup = Setup::orders(&database);
    let orders = setup.start();
    let order = new_order(&orders).await;
    let pay = Ask::pay(order, "tok_slow").key(&new_key());
    let (paid, ()) = tokio::join!(pay.send(&orders), async {
        while crate::ask::status(order, &orders).await != "paying" {
            tokio::task::yield_now().await;
        }
        orders.terminate();
    });
    assert_eq!(paid.expect(200).json()["status"], "paid");
    assert_eq!(orders.exit_code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_ends_its_request_does_not_hold_the_stop_up() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let mut stuck = TcpStream::connect(orders.address()).await.expect("a connection");
    let half = "POST /orders HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer alice\r\nContent-Length: 100\r\n\r\n{";
    stuck.write_all(half.as_bytes()).await.expect("to send");
    Ask::get("/orders").send(&orders).await.expect(200);
    orders.terminate();
    assert_eq!(orders.exit_code(), Some(0));
}

/// Waits until nobody listens at an address.
async fn until_refused(address: &str) {
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

//! The store of tokens in Redis, by itself.

use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, join_all};
use idempotent_runtime::{Idempotency, RedisTokens, Scope, Spent, Ticket, TokenStore, TokenStoreError};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

async fn connection() -> Option<MultiplexedConnection> {
    let Ok(url) = std::env::var("TEST_REDIS_URL") else {
        tests::leave_out("redis", "TEST_REDIS_URL");
        return None;
    };
    Some(redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap())
}

/// Hands out the tickets that an engine makes.
struct Tickets(UnboundedSender<Ticket>);

impl TokenStore for Tickets {
    fn issue<'t>(&'t self, ticket: &'t Ticket, _: Duration) -> BoxFuture<'t, Result<(), TokenStoreError>> {
        self.0.send(ticket.clone()).unwrap();
        async { Ok(()) }.boxed()
    }

    fn spend<'t>(&'t self, _: &'t Ticket, _: Duration) -> BoxFuture<'t, Result<Spent, TokenStoreError>> {
        async { Ok(Spent::Never) }.boxed()
    }
}

/// A ticket of its own for each test.
async fn ticket() -> Ticket {
    let (sender, mut tickets) = unbounded_channel();
    let engine = Idempotency::builder(tests::sqlite::Database::unreachable(), Scope::shared());
    let engine = engine.tokens(Tickets(sender)).build();
    engine.issue_token("ann", "checkout", Duration::from_secs(600)).await.unwrap();
    tickets.recv().await.unwrap()
}

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_token_is_spent_once_however_many_ask_at_once() {
    let Some(connection) = connection().await else { return };
    let (store, ticket) = (RedisTokens::new(connection), ticket().await);
    assert_eq!(store.spend(&ticket, LONG).await.unwrap(), Spent::Never);
    store.issue(&ticket, LONG).await.unwrap();
    let spent = join_all((0..50).map(|_| store.spend(&ticket, LONG))).await;
    let of = |kind| spent.iter().filter(|spent| *spent.as_ref().unwrap() == kind).count();
    assert_eq!((of(Spent::Now), of(Spent::Before), of(Spent::Never)), (1, 49, 0));
}

#[tokio::test]
async fn a_token_goes_with_its_time_and_a_spent_one_with_its_record() {
    let Some(mut connection) = connection().await else { return };
    let (store, ticket) = (RedisTokens::new(connection.clone()).prefix("test:{a}:"), ticket().await);
    let key = format!("test:{{a}}:{}", ticket.as_str());
    let mut gone = async || while connection.exists::<_, bool>(&key).await.unwrap() {};
    store.issue(&ticket, Duration::from_millis(20)).await.unwrap();
    gone().await;
    assert_eq!(store.spend(&ticket, LONG).await.unwrap(), Spent::Never);
    store.issue(&ticket, LONG).await.unwrap();
    assert_eq!(store.spend(&ticket, Duration::from_millis(20)).await.unwrap(), Spent::Now);
    gone().await;
    assert_eq!(store.spend(&ticket, LONG).await.unwrap(), Spent::Never);
}

#[tokio::test]
async fn spending_makes_a_token_no_older() {
    let Some(mut connection) = connection().await else { return };
    let (store, ticket) = (RedisTokens::new(connection.clone()), ticket().await);
    store.issue(&ticket, Duration::from_secs(60)).await.unwrap();
    for spent in [Spent::Now, Spent::Before, Spent::Before] {
        assert_eq!(store.spend(&ticket, LONG).await.unwrap(), spent);
        let left: i64 = connection.pttl(format!("idempotency:{}", ticket.as_str())).await.unwrap();
        assert!((1..=60_000).contains(&left), "{left}");
    }
}

#[tokio::test]
async fn a_ticket_is_one_key_and_tells_neither_token_nor_caller() {
    let Some(mut connection) = connection().await else { return };
    let (store, ticket) = (RedisTokens::new(connection.clone()).prefix("test:one:"), ticket().await);
    store.issue(&ticket, LONG).await.unwrap();
    let keys: Vec<String> = connection.keys(format!("test:one:{}*", ticket.as_str())).await.unwrap();
    assert_eq!(keys.len(), 1);
    assert!(ticket.as_str().len() == 64 && ticket.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
}

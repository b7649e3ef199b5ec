//! Facts of MySQL and MariaDB that others have stumbled over, and what they must not change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::response::IntoResponse;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::{Error, Idempotency, Isolation, Steps, Transition, idempotent};

use super::cases::app::{Service, insert, key};
use super::cases::machines::{Bench, Status};
use super::database::Db;

#[derive(QueryableByName)]
struct Pair {
    #[diesel(sql_type = Text)]
    a: String,
    #[diesel(sql_type = Text)]
    b: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

/// A column that is set after another sees what that was set to: nothing here may rely on the old value.
#[tokio::test]
async fn assignments_are_made_from_left_to_right() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    conn.batch_execute("CREATE TABLE pairs (a VARCHAR(9), b VARCHAR(9)); INSERT INTO pairs VALUES ('old', '')")
        .await
        .unwrap();
    conn.batch_execute("UPDATE pairs SET a = 'new', b = a").await.unwrap();
    let Pair { a, b } = diesel::sql_query("SELECT a, b FROM pairs").get_result(conn).await.unwrap();
    assert_eq!((a.as_str(), b.as_str()), ("new", "new"), "elsewhere it would be the old one");
    // State, version and time of a transition stand in one UPDATE, and its history names the state that was left.
    let id = bench.row("created").await;
    assert!(Status::pay().of(id).execute(conn).await.unwrap().is_applied());
    assert_eq!((bench.status(id).await.as_deref(), bench.version(id).await), (Some("paid"), 1));
    assert_eq!(bench.story(id).await, [super::cases::machines::line("pay", "created", "paid")]);
}

/// MariaDB, where it is told to: a snapshot that is too old is an error, and the whole transaction is gone with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_is_refused_is_run_again_and_leaves_nothing() {
    let Some(service) = Service::with(8, |builder| builder.isolation(Isolation::RepeatableRead)).await else { return };
    let conn = &mut *service.conn().await;
    if conn.batch_execute("SET SESSION innodb_snapshot_isolation = ON").await.is_err() {
        return; // MySQL has no such setting.
    }
    service.sql("CREATE TABLE stock (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO stock VALUES (1, 5)").await;
    let pool = service.app.pool.clone();
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let service = service.on_tx(move |conn, _| {
        let (pool, runs) = (pool.clone(), Arc::clone(&counted));
        async move {
            conn.batch_execute("SET SESSION innodb_snapshot_isolation = ON").await.unwrap();
            insert(conn, "before").await;
            let seen: Count = diesel::sql_query("SELECT n FROM stock").get_result(conn).await.unwrap();
            if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                pool.get().await.unwrap().batch_execute("UPDATE stock SET n = n - 1").await.unwrap();
            }
            let taken = diesel::sql_query("UPDATE stock SET n = n - 1").execute(conn).await;
            insert(conn, "after").await;
            match taken {
                Ok(_) => (StatusCode::CREATED, seen.n.to_string()).into_response(),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
            }
        }
        .boxed()
    });
    let answer = service.post("/tx", &key(), "order").await;
    assert_eq!((answer.status, answer.text()), (201, "4"), "the second run has seen the other's");
    assert_eq!(AtomicUsize::load(&runs, Ordering::SeqCst), 2);
    assert_eq!(service.effects().await, ["before", "after"], "of the first run nothing is left");
    let left: Count = diesel::sql_query("SELECT n FROM stock").get_result(&mut *service.conn().await).await.unwrap();
    assert_eq!(left.n, 3);
}

#[idempotent(name = "tests.changed_rows", key = key, ttl = "1h", lease = "30s", engine = engine)]
async fn stepped(engine: &Idempotency<Db>, #[steps] steps: &mut Steps<Db>, key: &str) -> Result<u32, Error> {
    // Renewed with every step, often within a millisecond.
    for n in 0..60_u32 {
        steps.run(&n.to_string(), async |_| Ok::<_, Error>(n)).await?;
    }
    Ok(60)
}

/// diesel-async asks the server for the rows that match only where it connects by itself: on a connection that it was
/// given, a row that was updated to what it was does not count.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_connection_that_counts_changed_rows_everything_counts_the_same() {
    let Some(mut service) = Service::new().await else { return };
    let mut config = ManagerConfig::default();
    config.custom_setup = Box::new(|url| {
        let url = url.to_owned();
        async move {
            let bad = |error: mysql_async::Error| diesel::ConnectionError::BadConnection(error.to_string());
            let options = mysql_async::Opts::from_url(&url)
                .map_err(|error| diesel::ConnectionError::InvalidConnectionUrl(error.to_string()))?;
            let conn = mysql_async::Conn::new(options).await.map_err(bad)?;
            Db::try_from(conn).await
        }
        .boxed()
    });
    let manager = AsyncDieselConnectionManager::<Db>::new_with_config(service.database.location(), config);
    let pool = Pool::builder(manager).max_size(4).build().unwrap();
    let conn = &mut *pool.get().await.unwrap();
    let unchanged = "UPDATE effects SET what = what";
    insert(conn, "row").await;
    assert_eq!(diesel::sql_query(unchanged).execute(conn).await.unwrap(), 0, "it counts changed rows");
    assert_eq!(diesel::sql_query(unchanged).execute(&mut *service.conn().await).await.unwrap(), 1);
    service.app.engine = Idempotency::builder(pool.clone(), idempotent_runtime::Scope::shared()).build();
    for mode in ["/tx", "/leased", "/stepped"] {
        let key = key();
        assert_eq!(service.post(mode, &key, "order").await.status, 201, "{mode}");
        assert!(service.post(mode, &key, "order").await.replayed(), "{mode}");
    }
    assert_eq!(stepped(&service.app.engine, &key()).await.unwrap(), 60);
    // A self edge writes, and is applied, though nothing changes within a millisecond.
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("paid").await;
    let options = mysql_async::Opts::from_url(&bench.database.location()).unwrap();
    let conn = &mut Db::try_from(mysql_async::Conn::new(options).await.unwrap()).await.unwrap();
    for _ in 0..20 {
        assert!(matches!(Status::touch().of(id).execute(conn).await.unwrap(), Transition::Applied(_)));
    }
}

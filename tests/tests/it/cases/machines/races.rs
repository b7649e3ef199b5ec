//! Many at once.

use std::sync::Arc;

use idempotent_runtime::testkit::{race, tally};
use idempotent_runtime::{Transition, TransitionError, state_transition};
use tokio::sync::Barrier;

use super::super::database::Db;
use super::bodies::OrderError;
use super::{Bench, Fired, Status, effect, line};

#[state_transition(machine = Status, from = Created, to = Paid)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<()>, OrderError> {
    effect(conn, "paid").await?;
    Ok(().into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s05_forty_calls_are_one_transition_one_line_and_one_effect() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let answers = race(&bench.pool, 40, move |mut conn| async move { pay(&mut conn, id).await }).await;
    let answers = answers.into_iter().map(|answer| {
        answer.map_err(|error| match error {
            OrderError::Transition(error) => error,
            other => panic!("{other}"),
        })
    });
    let answers: Vec<_> = answers.collect();
    assert_eq!(tally(&answers).to_string(), "1 applied, 39 already applied, 0 conflicts, 0 others");
    assert_eq!(bench.story(id).await, [line("pay", "created", "paid")]);
    assert_eq!((bench.effects().await, bench.version(id).await), (1, 1));
}

/// Fires two events at one row at once.
async fn both(bench: &Bench, id: i64, events: [idempotent_runtime::EventOf<Status>; 2]) -> [Fired; 2] {
    let barrier = Arc::new(Barrier::new(2));
    let fire = |event: idempotent_runtime::EventOf<Status>| {
        let (pool, barrier) = (bench.pool.clone(), Arc::clone(&barrier));
        tokio::spawn(async move {
            let mut conn = pool.get().await.unwrap();
            barrier.wait().await;
            event.of(id).execute(&mut *conn).await
        })
    };
    let (first, second) = (fire(events[0]), fire(events[1]));
    [first.await.unwrap(), second.await.unwrap()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_events_without_a_way_between_their_targets_exactly_one_wins() {
    let Some(bench) = Bench::new().await else { return };
    for _ in 0..1_000 {
        let id = bench.row("created").await;
        let [cancelled, expired] = both(&bench, id, [Status::cancel(), Status::expire()]).await;
        let now = bench.status(id).await.unwrap();
        let loser = match (&cancelled, &expired) {
            (Ok(Transition::Applied(_)), loser @ Err(_)) if now == "cancelled" => loser,
            (loser @ Err(_), Ok(Transition::Applied(_))) if now == "expired" => loser,
            other => panic!("{other:?}, and it is {now}"),
        };
        assert!(matches!(loser, Err(TransitionError::Conflict { actual, .. }) if *actual == now), "{loser:?}");
        assert_eq!(bench.story(id).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn where_the_graph_allows_the_second_after_the_first_history_shows_both_in_order() {
    let Some(bench) = Bench::new().await else { return };
    let mut both_ways = 0;
    for _ in 0..200 {
        let id = bench.row("created").await;
        let [paid, cancelled] = both(&bench, id, [Status::pay(), Status::cancel()]).await;
        assert!(cancelled.unwrap().is_applied());
        match paid {
            Ok(Transition::Applied(_)) => {
                both_ways += 1;
                let story = [line("pay", "created", "paid"), line("cancel", "paid", "cancelled")];
                assert_eq!(bench.story(id).await, story);
            }
            Err(TransitionError::Conflict { actual, .. }) => {
                assert_eq!(actual, "cancelled");
                assert_eq!(bench.story(id).await, [line("cancel", "created", "cancelled")]);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(bench.status(id).await.as_deref(), Some("cancelled"));
    }
    assert!(both_ways > 0, "pay was never first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s09_thirty_workers_over_many_rows_never_see_a_deadlock() {
    let Some(bench) = Bench::new().await else { return };
    let mut ids = Vec::new();
    for _ in 0..60 {
        ids.push(bench.row("created").await);
    }
    let workers = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let all = ids.clone();
    let answers = race(&bench.pool, 30, move |mut conn| {
        let (mut ids, worker) = (all.clone(), workers.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
        async move {
            // Each goes its own way round.
            ids.rotate_left(worker * 2);
            if worker % 2 == 0 {
                ids.reverse();
            }
            let many = Status::pay().of_many(ids.clone()).execute(&mut *conn).await?;
            for id in ids.into_iter().take(5) {
                let _ = Status::settle().of(id).execute(&mut *conn).await?;
            }
            Ok::<_, TransitionError>(many.moved.len())
        }
    })
    .await;
    let moved: usize = answers.into_iter().map(|answer| answer.expect("no deadlock, no conflict")).sum();
    assert_eq!(moved, 60);
    for id in ids {
        assert_eq!(bench.story(id).await[0], line("pay", "created", "paid"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s09_rows_taken_in_opposite_order_are_retryable_and_never_a_conflict() {
    // There is one writer at a time: nobody can take the other row first.
    if super::super::database::NAME == "sqlite" {
        return;
    }
    let Some(bench) = Bench::new().await else { return };
    let (a, b) = (bench.row("created").await, bench.row("created").await);
    let barrier = Arc::new(Barrier::new(2));
    let taking = [[a, b], [b, a]].map(|[first, second]| {
        let (pool, barrier) = (bench.pool.clone(), Arc::clone(&barrier));
        tokio::spawn(async move {
            idempotent_runtime::transaction(&mut *pool.get().await.unwrap(), async |conn| {
                let _ = Status::pay().of(first).execute(conn).await?;
                barrier.wait().await;
                Status::pay().of(second).execute(conn).await
            })
            .await
        })
    });
    let [one, other] = taking;
    let answers = [one.await.unwrap(), other.await.unwrap()];
    let retryable = answers.iter().filter(|answer| matches!(answer, Err(TransitionError::Retryable(_)))).count();
    let applied = answers.iter().filter(|answer| matches!(answer, Ok(fired) if fired.is_applied())).count();
    assert_eq!((retryable, applied), (1, 1), "{answers:?}");
}

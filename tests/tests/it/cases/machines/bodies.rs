//! Transitions with a body: `#[state_transition]`.

use idempotent_runtime::{Transition, TransitionError, state_transition};

use super::super::database::Db;
use super::{Bench, Status, effect, line};

#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    #[error(transparent)]
    Transition(#[from] TransitionError),
    #[error(transparent)]
    Database(#[from] diesel::result::Error),
    #[error("refused")]
    Refused,
}

#[state_transition(machine = Status, event = pay)]
async fn pay(#[tx] conn: &mut Db, #[id] order: i64, fails: bool) -> Result<Transition<&'static str>, OrderError> {
    effect(conn, "paid").await?;
    if fails {
        return Err(OrderError::Refused);
    }
    Ok("receipt".into())
}

#[tokio::test]
async fn a_body_runs_once_and_its_error_rolls_everything_back() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    assert!(matches!(pay(conn, id, true).await, Err(OrderError::Refused)));
    assert_eq!((bench.status(id).await.as_deref(), bench.effects().await), (Some("created"), 0));
    assert_eq!(pay(conn, id, false).await.unwrap(), Transition::Applied("receipt"));
    assert_eq!(pay(conn, id, false).await.unwrap(), Transition::AlreadyApplied);
    assert_eq!((bench.status(id).await.as_deref(), bench.effects().await), (Some("paid"), 1));
    assert_eq!(bench.story(id).await, [line("pay", "created", "paid")]);
}

#[state_transition(machine = Status, from = any - Expired, to = Cancelled, guard = row.amount <= *limit)]
async fn cancel_small(#[tx] conn: &mut Db, #[id] order: i64, limit: i64) -> Result<Transition<()>, OrderError> {
    effect(conn, "cancelled").await?;
    Ok(().into())
}

#[tokio::test]
async fn a_guard_over_arguments_and_the_locked_row_decides() {
    let Some(bench) = Bench::new().await else { return };
    let (small, large) = (bench.row("created").await, bench.row("paid").await);
    bench.run(&format!("UPDATE orders SET amount = 500 WHERE id = {large}")).await;
    let conn = &mut *bench.conn().await;
    assert!(cancel_small(conn, small, 100).await.unwrap().is_applied());
    let refused = cancel_small(conn, large, 100).await;
    let Err(OrderError::Transition(error)) = &refused else { panic!("{refused:?}") };
    let text = "is `paid`; `cancel` is refused by `row.amount <= * limit`; possible now: cancel, settle, touch";
    assert_eq!(error.to_string(), format!("row {large} of `orders` {text}"));
    assert_eq!((bench.status(large).await.as_deref(), bench.effects().await), (Some("paid"), 1));
    assert!(cancel_small(conn, large, 500).await.unwrap().is_applied());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Small,
    Large,
    Neither,
}

impl Verdict {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "an outcome is shown by reference")]
    fn leads_to(&self) -> Status {
        match self {
            Self::Small => Status::Small,
            Self::Large => Status::Large,
            Self::Neither => Status::Paid,
        }
    }
}

#[state_transition(machine = Status, event = judge, outcome = Verdict::leads_to)]
async fn judge(#[tx] conn: &mut Db, #[id] order: i64, verdict: Verdict) -> Result<Transition<Verdict>, OrderError> {
    effect(conn, "judged").await?;
    Ok(verdict.into())
}

#[tokio::test]
async fn the_outcome_chooses_the_target_among_those_of_the_graph() {
    let Some(bench) = Bench::new().await else { return };
    let (first, second) = (bench.row("notified").await, bench.row("notified").await);
    let conn = &mut *bench.conn().await;
    let stray = judge(conn, first, Verdict::Neither).await;
    let Err(OrderError::Transition(TransitionError::Undecided { targets, chosen, .. })) = &stray else {
        panic!("{stray:?}")
    };
    assert_eq!((targets.as_slice(), chosen.as_deref()), (&["small", "large"][..], Some("paid")));
    assert_eq!((bench.status(first).await.as_deref(), bench.effects().await), (Some("notified"), 0));
    assert_eq!(judge(conn, first, Verdict::Small).await.unwrap(), Transition::Applied(Verdict::Small));
    assert_eq!(judge(conn, second, Verdict::Large).await.unwrap(), Transition::Applied(Verdict::Large));
    assert_eq!(bench.story(first).await, [line("judge", "notified", "small")]);
    assert_eq!(bench.story(second).await, [line("judge", "notified", "large")]);
}

#[state_transition(machine = Status, event = settle)]
async fn settle_unless(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[version] seen: i64,
    done: bool,
) -> Result<Transition<()>, OrderError> {
    effect(conn, "settled").await?;
    Ok(if done { Transition::AlreadyApplied } else { ().into() })
}

#[tokio::test]
async fn a_body_that_finds_nothing_to_do_undoes_everything() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("paid").await;
    let conn = &mut *bench.conn().await;
    assert_eq!(settle_unless(conn, id, 0, true).await.unwrap(), Transition::AlreadyApplied);
    assert_eq!((bench.status(id).await.as_deref(), bench.effects().await), (Some("paid"), 0));
    assert!(matches!(
        settle_unless(conn, id, 7, false).await,
        Err(OrderError::Transition(TransitionError::Stale { .. }))
    ));
    assert!(settle_unless(conn, id, 0, false).await.unwrap().is_applied());
}

#[tokio::test]
async fn inside_an_outer_transaction_only_the_transition_is_undone() {
    let Some(bench) = Bench::new().await else { return };
    let (first, second) = (bench.row("created").await, bench.row("created").await);
    let conn = &mut *bench.conn().await;
    idempotent_runtime::transaction(conn, async |conn| {
        effect(conn, "outer").await?;
        assert!(pay(conn, first, true).await.is_err());
        assert!(pay(conn, second, false).await?.is_applied());
        Ok::<_, OrderError>(())
    })
    .await
    .unwrap();
    assert_eq!(
        (bench.status(first).await.as_deref(), bench.status(second).await.as_deref()),
        (Some("created"), Some("paid"))
    );
    assert_eq!(bench.effects().await, 2);
}

#[tokio::test]
async fn a_panic_rolls_back_and_goes_on() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let pool = bench.pool.clone();
    let crashed = tokio::spawn(async move { crashing(&mut pool.get().await.unwrap(), id).await });
    assert!(crashed.await.unwrap_err().is_panic());
    assert_eq!((bench.status(id).await.as_deref(), bench.effects().await), (Some("created"), 0));
}

#[state_transition(machine = Status, event = pay)]
async fn crashing(#[tx] conn: &mut Db, #[id] order: i64) -> Result<Transition<()>, OrderError> {
    effect(conn, "paid").await?;
    assert!(order < 0, "crashed");
    Ok(().into())
}

#[tokio::test]
async fn s64_a_transaction_that_reads_before_it_writes_waits_for_other_writers() {
    let Some(bench) = Bench::new().await else { return };
    let ids = [bench.row("created").await, bench.row("created").await];
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    // Several sources: the row is read before it is written.
    let cancelling = ids.map(|id| {
        let (pool, barrier) = (bench.pool.clone(), std::sync::Arc::clone(&barrier));
        tokio::spawn(async move {
            let mut conn = pool.get().await.unwrap();
            barrier.wait().await;
            cancel_small(&mut conn, id, 100).await
        })
    });
    for task in cancelling {
        assert!(task.await.unwrap().unwrap().is_applied());
    }
}

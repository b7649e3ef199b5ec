//! What the history holds.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use idempotent_runtime::{StateMachine, Transition, TransitionError, state_transition};

use super::super::database::Db;
use super::bodies::OrderError;
use super::schema::history;
use super::{Bench, Status, line};

#[tokio::test]
async fn s07_the_line_and_the_move_are_one_transaction() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    bench.run("DROP TABLE history").await;
    let fired = Status::pay().of(id).execute(&mut *bench.conn().await).await;
    assert!(matches!(fired, Err(TransitionError::Database(_))), "{fired:?}");
    assert_eq!((bench.status(id).await.as_deref(), bench.version(id).await), (Some("created"), 0));
}

#[tokio::test]
async fn s42_the_line_has_the_state_that_was_left() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    for from in ["created", "paid"] {
        let id = bench.row(from).await;
        assert!(Status::cancel().of(id).execute(conn).await.unwrap().is_applied());
        assert_eq!(bench.story(id).await, [line("cancel", from, "cancelled")]);
    }
}

/// Actor, reason, metadata, time.
type Notes = (Option<String>, Option<String>, Option<String>, i64);

async fn notes(bench: &Bench, id: i64) -> Notes {
    let lines = history::table.filter(history::row_id.eq(id));
    let notes = (history::actor, history::reason, history::metadata, history::at);
    lines.select(notes).first(&mut *bench.conn().await).await.unwrap()
}

#[derive(serde::Serialize)]
struct Receipt {
    amount: i64,
}

#[state_transition(machine = Status, event = pay)]
async fn pay(
    #[tx] conn: &mut Db,
    #[id] order: i64,
    #[actor] who: &str,
    #[reason] why: Option<&str>,
    #[metadata] receipt: &Receipt,
) -> Result<Transition<()>, OrderError> {
    let _ = conn;
    Ok(().into())
}

#[tokio::test]
async fn s44_the_line_has_actor_reason_metadata_and_time() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let (first, second) = (bench.row("created").await, bench.row("created").await);
    assert!(pay(conn, first, "ann", Some("by phone"), &Receipt { amount: 5 }).await.unwrap().is_applied());
    let fire = Status::pay().of(second).actor("ann").reason("by phone").metadata(&Receipt { amount: 5 });
    assert!(fire.execute(conn).await.unwrap().is_applied());
    for id in [first, second] {
        let (actor, reason, metadata, at) = notes(&bench, id).await;
        assert_eq!((actor.as_deref(), reason.as_deref()), (Some("ann"), Some("by phone")));
        assert_eq!(metadata.as_deref(), Some(r#"{"amount":5}"#));
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        assert!((now - u128::try_from(at).unwrap()) < 60_000, "{at}");
    }
}

#[tokio::test]
async fn s46_a_repeat_adds_no_line_and_a_conflict_none() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("paid").await;
    let conn = &mut *bench.conn().await;
    assert!(Status::settle().of(id).execute(conn).await.unwrap().is_applied());
    assert!(!Status::settle().of(id).execute(conn).await.unwrap().is_applied());
    assert!(Status::pay().of(id).execute(conn).await.is_err());
    assert_eq!(bench.story(id).await, [line("settle", "paid", "settled")]);
}

#[tokio::test]
async fn a_birth_is_a_line_without_a_source() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let id = bench.row("created").await;
    Status::Created.born(id).actor("ann").execute(conn).await.unwrap();
    assert_eq!(bench.story(id).await, [("create".to_owned(), None, "created".to_owned())]);
    for (state, id) in [(Status::Paid, id), (Status::Paid, bench.row("paid").await)] {
        let born = state.born(id).execute(conn).await;
        assert!(matches!(born, Err(TransitionError::Conflict { .. })), "{born:?}");
    }
    assert!(matches!(Status::Created.born(1_000_000).execute(conn).await, Err(TransitionError::NotFound { .. })));
}

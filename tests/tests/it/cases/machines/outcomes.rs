//! What a caller is told.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use idempotent_runtime::{Current, EventOf, Moved, RowId, StateMachine, Transition, TransitionError};

use super::super::database::Db;
use super::schema::orders;
use super::{Bench, Fired, Status, insert, line};

#[tokio::test]
async fn s01_of_two_loaded_copies_one_applies_and_the_other_finds_it_done() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    let load = async |conn: &mut Db| orders::table.find(id).select(orders::status.assume_not_null()).first(conn).await;
    let copies: [Current<Status>; 2] = [load(conn).await.unwrap(), load(conn).await.unwrap()];
    assert!(copies.iter().all(|copy| *copy == Status::Created));
    let applied = Status::pay().of(id).execute(conn).await.unwrap();
    assert_eq!(applied, Transition::Applied(Moved { from: Status::Created, to: Status::Paid }));
    assert_eq!(
        Status::cancel().of(bench.row("cancelled").await).execute(conn).await.unwrap(),
        Transition::AlreadyApplied
    );
    assert_eq!(bench.story(id).await, [line("pay", "created", "paid")]);
}

#[tokio::test]
async fn s03_a_stale_worker_is_told_the_truth_and_changes_nothing() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("settled").await;
    let fired: Fired = Status::cancel().of(id).execute(&mut *bench.conn().await).await;
    let Err(TransitionError::Conflict { actual, needs, allowed, passed, guard, .. }) = &fired else {
        panic!("{fired:?}")
    };
    assert_eq!((actual.as_str(), &**needs), ("settled", &["created", "paid"][..]));
    assert_eq!((&**allowed, *passed, *guard), (&["notify", "approve"][..], false, None));
    let text = "is `settled`; `cancel` needs `created` or `paid`; possible now: notify, approve";
    assert_eq!(fired.unwrap_err().to_string(), format!("row {id} of `orders` {text}"));
    assert_eq!((bench.status(id).await.as_deref(), bench.version(id).await), (Some("settled"), 0));
    assert!(bench.story(id).await.is_empty());
}

#[tokio::test]
async fn s14_an_event_that_has_happened_is_no_error() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("paid").await;
    let conn = &mut *bench.conn().await;
    assert!(Status::settle().of(id).actor("ann").execute(conn).await.unwrap().is_applied());
    assert_eq!(Status::settle().of(id).actor("bob").execute(conn).await.unwrap(), Transition::AlreadyApplied);
}

#[tokio::test]
async fn s17_a_late_failure_after_success_is_a_conflict() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    for event in [Status::begin(), Status::confirm()] {
        assert!(event.of(id).execute(conn).await.unwrap().is_applied());
    }
    let late = Status::decline().of(id).execute(conn).await;
    assert!(matches!(late, Err(TransitionError::Conflict { ref actual, .. }) if actual == "paid"), "{late:?}");
    assert_eq!(bench.status(id).await.as_deref(), Some("paid"));
}

#[tokio::test]
async fn a_conflict_says_whether_the_target_was_passed_before() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    for event in [Status::pay(), Status::settle(), Status::notify()] {
        assert!(event.of(id).execute(conn).await.unwrap().is_applied());
    }
    for (event, was_there) in [(Status::settle(), true), (Status::pay(), true), (Status::cancel(), false)] {
        let fired: Fired = event.of(id).execute(conn).await;
        assert!(matches!(fired, Err(TransitionError::Conflict { passed, .. }) if passed == was_there), "{fired:?}");
    }
}

#[tokio::test]
async fn s20_a_version_that_is_over_is_stale_though_the_state_looks_right() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    let seen = bench.version(id).await;
    for event in [Status::begin(), Status::decline(), Status::begin()] {
        assert!(event.of(id).execute(conn).await.unwrap().is_applied());
    }
    assert_eq!((bench.status(id).await.as_deref(), bench.version(id).await), (Some("paying"), 3));
    // The failure of the first attempt arrives during the second.
    let stale = Status::decline().of(id).version(seen + 1).execute(conn).await;
    assert!(matches!(stale, Err(TransitionError::Stale { expected: 1, actual: 3, .. })), "{stale:?}");
    assert_eq!(bench.status(id).await.as_deref(), Some("paying"));
    assert!(Status::decline().of(id).version(3).execute(conn).await.unwrap().is_applied());
    assert_eq!(Status::decline().of(id).version(3).execute(conn).await.unwrap(), Transition::AlreadyApplied);
    assert!(matches!(Status::decline().of(id).version(1).execute(conn).await, Err(TransitionError::Stale { .. })));
}

#[tokio::test]
async fn s32_a_transaction_that_was_undone_can_be_run_again_with_the_same_call() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("created").await;
    let conn = &mut *bench.conn().await;
    let fire = Status::pay().of(id);
    let undone: Result<(), diesel::result::Error> = idempotent_runtime::transaction(conn, async |conn| {
        assert!(fire.clone().execute(conn).await.unwrap().is_applied());
        Err(diesel::result::Error::RollbackTransaction)
    })
    .await;
    assert!(undone.is_err());
    assert_eq!(bench.status(id).await.as_deref(), Some("created"));
    assert!(fire.execute(conn).await.unwrap().is_applied());
}

#[tokio::test]
async fn s60_an_edge_to_the_same_state_writes_every_time() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("paid").await;
    let conn = &mut *bench.conn().await;
    for _ in 0..2 {
        let touched = Status::touch().of(id).execute(conn).await.unwrap();
        assert_eq!(touched, Transition::Applied(Moved { from: Status::Paid, to: Status::Paid }));
    }
    assert_eq!((bench.version(id).await, bench.story(id).await.len()), (2, 2));
}

#[tokio::test]
async fn s73_what_the_graph_does_not_have_is_a_typed_error_and_never_silence() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    assert!(EventOf::<Status>::named("refund").is_none());
    let id = bench.row("notified").await;
    assert!(matches!(Status::pay().of(id).execute(conn).await, Err(TransitionError::Conflict { .. })));
    assert!(matches!(Status::pay().of(id + 1).execute(conn).await, Err(TransitionError::NotFound { .. })));
    let undecided = Status::judge().of(id).execute(conn).await;
    assert!(
        matches!(&undecided, Err(TransitionError::Undecided { targets, .. }) if targets == &["small", "large"]),
        "{undecided:?}"
    );
    let chosen = Status::judge().of(id).to(&Status::Paid).execute(conn).await;
    assert!(
        matches!(&chosen, Err(TransitionError::Undecided { chosen: Some(chosen), .. }) if chosen == "paid"),
        "{chosen:?}"
    );
    assert!(Status::judge().of(id).to(&Status::Large).execute(conn).await.unwrap().is_applied());
}

#[tokio::test]
async fn the_first_guard_that_passes_chooses() {
    let Some(bench) = Bench::new().await else { return };
    let (small, large) = (bench.row("settled").await, bench.row("settled").await);
    bench.run(&format!("UPDATE orders SET amount = 500 WHERE id = {large}")).await;
    let conn = &mut *bench.conn().await;
    for (id, to) in [(small, Status::Small), (large, Status::Large)] {
        let moved = Status::approve().of(id).execute(conn).await.unwrap();
        assert_eq!(moved, Transition::Applied(Moved { from: Status::Settled, to }));
        assert_eq!(Status::approve().of(id).execute(conn).await.unwrap(), Transition::AlreadyApplied);
    }
}

#[tokio::test]
async fn every_kind_of_id_names_its_row() {
    assert_eq!(RowId::<diesel::sql_types::BigInt>::row_name(&7_i32).to_string(), "7");
    assert_eq!(RowId::<diesel::sql_types::Binary>::row_name(&[1_u8, 171][..]).to_string(), "01ab");
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    bench.run("CREATE TABLE named (id VARCHAR(40) PRIMARY KEY, status TEXT NOT NULL)").await;
    bench.run("INSERT INTO named VALUES ('a', 'on'), ('b', 'off')").await;
    assert!(Switch::flip().of("a").execute(conn).await.unwrap().is_applied());
    assert!(!Switch::flip().of(String::from("b")).execute(conn).await.unwrap().is_applied());
    let noted = Switch::flip().of("a").actor("ann").execute(conn).await;
    assert_eq!(noted.unwrap_err().to_string(), "`actor` needs `history = …` in `#[state_machine]` of `Switch`");
    let seen = Switch::flip().of("a").version(3).execute(conn).await;
    assert!(matches!(seen, Err(TransitionError::Undeclared { what: "version", .. })), "{seen:?}");
    assert_eq!(Switch::flip().of_many(["a", "b", "c"]).execute(conn).await.unwrap().skipped.len(), 3);
}

diesel::table! {
    named (id) {
        id -> Text,
        status -> Text,
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(table = named, column = status, id = id, initial = On, transitions(flip: On => Off))]
enum Switch {
    On,
    Off,
}

#[tokio::test]
async fn s37_loading_writes_nothing() {
    let Some(bench) = Bench::new().await else { return };
    let id = bench.row("payed").await;
    let conn = &mut *bench.conn().await;
    let load = orders::table.find(id).select(orders::status.assume_not_null());
    let status: Status = load.first(conn).await.unwrap();
    assert_eq!(status, Status::Paid);
    Status::verify(conn).await.unwrap();
    assert_eq!((bench.status(id).await.as_deref(), bench.version(id).await), (Some("payed"), 0));
    assert!(bench.story(id).await.is_empty());
}

#[tokio::test]
async fn s16_a_row_that_was_loaded_before_cannot_undo_a_transition_when_it_is_saved() {
    #[derive(Debug, Queryable, Selectable)]
    #[diesel(table_name = orders)]
    struct Loaded {
        id: i64,
        #[diesel(select_expression = orders::status.assume_not_null())]
        status: Current<Status>,
        amount: i64,
    }
    /// What is saved: a [`Current`] state cannot be among it.
    #[derive(Debug, AsChangeset)]
    #[diesel(table_name = orders)]
    struct Saved {
        amount: i64,
    }
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let id = insert(conn, Some("created")).await.unwrap();
    let stale: Loaded = orders::table.find(id).select(Loaded::as_select()).first(conn).await.unwrap();
    assert!(Status::pay().of(id).execute(conn).await.unwrap().is_applied());
    let saved = Saved { amount: stale.amount + 1 };
    diesel::update(orders::table.find(stale.id)).set(&saved).execute(conn).await.unwrap();
    assert_eq!((stale.status, bench.status(id).await.as_deref()), (Current::new(Status::Created), Some("paid")));
    // Who writes the column all the same is refused by the trigger, unless it is an edge.
    bench.run(&Status::trigger_sql(super::database_of())).await;
    let undo = diesel::update(orders::table.find(id)).set(orders::status.eq(Status::Created)).execute(conn).await;
    assert!(undo.is_err(), "{undo:?}");
    assert!(Status::settle().of(id).execute(conn).await.unwrap().is_applied());
}

//! What is stored, and what the graph says about it.

use diesel::prelude::*;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use idempotent_runtime::{Constraint, Database, Drift, StateMachine, Transition, TransitionError};

use super::super::database::Db;
use super::schema::orders;
use super::{Bench, Status, database_of, insert, line};

#[tokio::test]
async fn s49_a_row_without_a_state_is_a_typed_error() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let id = insert(conn, None).await.unwrap();
    for event in [Status::pay(), Status::cancel()] {
        let fired = event.of(id).execute(conn).await;
        assert!(matches!(fired, Err(TransitionError::NullState { .. })), "{fired:?}");
    }
}

#[tokio::test]
async fn s52_a_value_that_is_no_state_is_a_typed_error_with_the_value() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let id = bench.row("shipped").await;
    for event in [Status::pay(), Status::cancel()] {
        let fired = event.of(id).execute(conn).await;
        assert!(matches!(&fired, Err(TransitionError::UnknownState { value, .. }) if value == "shipped"), "{fired:?}");
    }
    let load = orders::table.find(id).select(orders::status.assume_not_null());
    let loaded = load.first::<Status>(conn).await.unwrap_err();
    let causes = std::iter::successors(Some(&loaded as &dyn std::error::Error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    assert!(causes.iter().any(|cause| cause.contains("`shipped` is no state of `Status`")), "{causes:?}");
    assert_eq!(bench.status(id).await.as_deref(), Some("shipped"));
}

#[tokio::test]
async fn s54_an_older_name_is_read_and_left_and_never_written() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let (first, second, third) = (bench.row("payed").await, bench.row("payed").await, bench.row("payed").await);
    assert_eq!(Status::pay().of(first).execute(conn).await.unwrap(), Transition::AlreadyApplied);
    // By one source, by several, and to itself.
    assert!(Status::settle().of(first).execute(conn).await.unwrap().is_applied());
    assert!(Status::cancel().of(second).execute(conn).await.unwrap().is_applied());
    assert!(Status::touch().of(third).execute(conn).await.unwrap().is_applied());
    assert_eq!(bench.story(first).await, [line("settle", "paid", "settled")]);
    assert_eq!(bench.story(second).await, [line("cancel", "paid", "cancelled")]);
    assert_eq!(bench.status(third).await.as_deref(), Some("paid"));
}

#[derive(StateMachine, Debug, Clone, PartialEq, Eq)]
#[state_machine(table = orders, column = status, id = id, initial = Created, transitions(pay: Created => Paid))]
enum Older {
    Created,
    Paid,
    #[state(other)]
    Unknown(String),
}

#[tokio::test]
async fn s55_a_newer_value_goes_through_an_older_program_byte_by_byte() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    for value in ["Shipped ", "größer", "", "a'b"] {
        let id = bench.row(value).await;
        let load = orders::table.find(id).select(orders::status.assume_not_null());
        let loaded: Older = load.first(conn).await.unwrap();
        assert_eq!(loaded, Older::Unknown(value.to_owned()));
        assert_eq!(serde_json::from_str::<Older>(&serde_json::to_string(&loaded).unwrap()).unwrap(), loaded);
        diesel::update(orders::table.find(id)).set(orders::status.eq(&loaded)).execute(conn).await.unwrap();
        assert_eq!(bench.status(id).await.as_deref(), Some(value));
        let fired = Older::pay().of(id).execute(conn).await;
        assert!(matches!(&fired, Err(TransitionError::Conflict { actual, .. }) if actual == value), "{fired:?}");
        assert!(loaded.allowed_from().is_empty() && !loaded.is_terminal());
    }
}

#[tokio::test]
async fn s59_names_are_compared_byte_by_byte() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    for value in ["CREATED", "created ", " created", "Created", "creáted"] {
        let id = bench.row(value).await;
        let fired = Status::pay().of(id).execute(conn).await;
        assert!(
            matches!(&fired, Err(TransitionError::UnknownState { value: found, .. }) if found == value),
            "{fired:?}"
        );
    }
}

#[tokio::test]
async fn s75_verification_names_what_the_graph_does_not_know_with_its_rows() {
    let Some(bench) = Bench::new().await else { return };
    for (value, rows) in [("created", 2), ("payed", 3), ("shipped", 4), ("PAID", 1), ("paid ", 1)] {
        for _ in 0..rows {
            bench.row(value).await;
        }
    }
    let conn = &mut *bench.conn().await;
    insert(conn, None).await.unwrap();
    let found = Status::verify(conn).await.unwrap();
    assert_eq!(found.rows, [("created", 2), ("paid", 3)]);
    assert_eq!(found.aliased, [("payed".to_owned(), "paid", 3)]);
    assert_eq!(
        found.drift,
        [
            Drift::Null { rows: 1 },
            Drift::Case { value: "PAID".into(), state: "paid", rows: 1 },
            Drift::Padding { value: "paid ".into(), state: "paid", rows: 1 },
            Drift::Unknown { value: "shipped".into(), rows: 4 },
        ]
    );
    assert_eq!((found.is_clean(), &found.constraint), (false, &Constraint::Missing));
    assert!(found.to_string().contains("4 rows are `shipped`, which is no state"), "{found}");
}

diesel::table! {
    parcels (id) {
        id -> BigInt,
        place -> Text,
        version -> BigInt,
        entered_at -> BigInt,
        carrier_key -> Nullable<Text>,
    }
}

diesel::table! {
    parcel_history (id) {
        id -> BigInt,
        parcel_id -> BigInt,
        event -> Text,
        source -> Nullable<Text>,
        target -> Text,
        actor -> Nullable<Text>,
        reason -> Nullable<Text>,
        metadata -> Nullable<Text>,
        at -> BigInt,
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = parcels, column = place, id = id, history = parcel_history, history_id = parcel_id,
    version = version, entered = entered_at, key = carrier_key,
    initial = Packed,
    transitions(ship: Packed => OnTheRoad, deliver: OnTheRoad => Delivered, lose: OnTheRoad => Lost)
)]
enum Place {
    Packed,
    #[state(name = "on the road", alias = "it's rolling")]
    OnTheRoad,
    Delivered,
    Lost,
}

#[tokio::test]
async fn what_a_machine_needs_is_written_as_sql_and_agrees_with_its_graph() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    bench.run(&format!("CREATE TABLE parcels (id {})", super::super::database::SERIAL)).await;
    conn.batch_execute(&Place::migration_sql(database_of())).await.unwrap();
    conn.batch_execute(&Place::trigger_sql(database_of())).await.unwrap();
    let found = Place::verify(conn).await.unwrap();
    assert_eq!(found.constraint, Constraint::Matches, "{found}");
    let insert = async |conn: &mut Db, place: Place| {
        super::super::database::inserted!(conn, parcels::table, parcels::place.eq(place), parcels::id).await
    };
    let proof = idempotent_runtime::testkit::prove::<Place, _, _>(conn, insert).await;
    assert_eq!((proof.pairs, proof.applied, proof.already, proof.conflicts), (12, 3, 3, 6));
    // The CHECK refuses what is no state, and the trigger what is no edge.
    let stray = diesel::insert_into(parcels::table).values(parcels::place.eq("nowhere")).execute(conn).await;
    assert!(stray.is_err(), "{stray:?}");
    let id = insert(conn, Place::Delivered).await.unwrap();
    let back = diesel::update(parcels::table.find(id)).set(parcels::place.eq(Place::Packed)).execute(conn).await;
    assert!(back.is_err(), "{back:?}");
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(table = parcels, column = place, id = id, initial = Packed, transitions(ship: Packed => Flying))]
enum Newer {
    Packed,
    Flying,
}

#[tokio::test]
async fn a_constraint_that_says_something_else_is_told() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    bench.run(&format!("CREATE TABLE parcels (id {})", super::super::database::SERIAL)).await;
    conn.batch_execute(&Place::migration_sql(database_of())).await.unwrap();
    let found = Newer::verify(conn).await.unwrap();
    let Constraint::Differs { refuses, permits, .. } = &found.constraint else { panic!("{found}") };
    assert_eq!(refuses, &["flying"]);
    assert_eq!(permits, &["on the road", "it's rolling", "delivered", "lost"]);
    assert!(!found.is_clean());
}

#[test]
fn a_diff_says_which_stored_states_would_be_stranded() {
    let (before, after) = (Place::snapshot(), Newer::snapshot());
    let diff = before.diff(&after);
    let mut stranded = diff.stranded.clone();
    stranded.sort();
    assert_eq!(stranded, ["delivered", "it's rolling", "lost", "on the road"]);
    assert_eq!((diff.added.as_slice(), diff.is_breaking()), (&["flying".to_owned()][..], true));
    assert!(diff.to_string().contains("stranded: rows that are `delivered` can no longer be read"), "{diff}");
    assert_eq!(Place::graph_hash(), Place::snapshot().hash());
    assert_ne!(Place::graph_hash(), Newer::graph_hash());
    assert_eq!(Place::graph_hash(), "4a353a9430ddaeadb8c0429750e31cf71a29401146a25503836c19ca1ffc8b22");
}

/// Two machines on one table: each moves its own column.
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(table = orders, column = reception, id = id, initial = Waiting, transitions(receive: Waiting => Received))]
enum Reception {
    Waiting,
    Received,
}

#[tokio::test]
async fn two_machines_share_a_table() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let id = bench.row("created").await;
    bench.run("UPDATE orders SET reception = 'waiting'").await;
    assert!(Reception::receive().of(id).execute(conn).await.unwrap().is_applied());
    assert!(Status::pay().of(id).execute(conn).await.unwrap().is_applied());
    let both = orders::table.find(id).select((orders::status, orders::reception));
    let both: (Option<Status>, Option<Reception>) = both.first(conn).await.unwrap();
    assert_eq!(both, (Some(Status::Paid), Some(Reception::Received)));
}

diesel::table! {
    #[sql_name = "odd orders"]
    oddities (id) {
        id -> BigInt,
        #[sql_name = "the \"state\""]
        state -> Text,
    }
}

#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = oddities, column = state, id = id, initial = New,
    transitions(return: New => Void, new: Void => New, type: New => Default, move: Default => Invalid, default: Void => Default, void: New => Void, invalid: Void => Invalid)
)]
enum Odd {
    New,
    #[state(name = "partially fulfilled")]
    Void,
    #[state(name = "UPPER_SNAKE")]
    Default,
    #[state(name = "Pascal-Case")]
    Invalid,
}

#[tokio::test]
async fn s78_words_of_rust_and_odd_names_are_ordinary_names() {
    let Some(bench) = Bench::new().await else { return };
    let conn = &mut *bench.conn().await;
    let serial = super::super::database::SERIAL;
    let names = match database_of() {
        Database::Mysql => ["`odd orders`", "`the \"state\"`"],
        Database::Sqlite | Database::Postgres => ["\"odd orders\"", "\"the \"\"state\"\"\""],
    };
    bench.run(&format!("CREATE TABLE {} (id {serial}, {} TEXT NOT NULL)", names[0], names[1])).await;
    let insert = async |conn: &mut Db, state: Odd| {
        super::super::database::inserted!(conn, oddities::table, oddities::state.eq(state), oddities::id).await
    };
    let proof = idempotent_runtime::testkit::prove::<Odd, _, _>(conn, insert).await;
    assert_eq!((proof.pairs, proof.applied), (28, 7));
    let id = insert(conn, Odd::New).await.unwrap();
    assert!(Odd::r#return().of(id).execute(conn).await.unwrap().is_applied());
    assert!(Odd::new().of(id).execute(conn).await.unwrap().is_applied());
    assert_eq!(Odd::Void.to_string(), "partially fulfilled");
}

//! Payouts of a program without `async`, and a bank that is asked twice and pays once.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Database, number};
use crate::feed::{Feed, feed};
use crate::program::{PATIENCE, Setup};

/// The folder of a bank, gone when the test is over.
struct Bank(PathBuf);

impl Bank {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("bank_{}", Uuid::new_v4().simple())))
    }

    fn transfers(&self) -> usize {
        std::fs::read_dir(self.0.join("transfers")).expect("its transfers").count()
    }

    /// The keys that it was asked with, in order.
    fn asked(&self) -> Vec<String> {
        let asked = std::fs::read_to_string(self.0.join("asked")).expect("what it was asked");
        asked.lines().map(str::to_owned).collect()
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn setup(database: &Database, bank: &Bank) -> Setup {
    Setup::blocking(database).env("BANK", bank.0.to_str().expect("a path in UTF-8")).env("LEASE", "300ms")
}

fn payout(id: i64) -> String {
    format!("{}\n", json!({ "id": id, "account": "ann", "amount": 2000 }))
}

async fn payouts(database: &Database, status: &str) -> i64 {
    number(database, &format!("COUNT(*) AS number FROM payouts WHERE status = '{status}'")).await
}

#[tokio::test]
async fn run_twice_it_answers_the_same_and_pays_once() {
    let (database, bank) = (Database::new(), Bank::new());
    let setup = setup(&database, &bank);
    let (first, status) = Feed::alone(&setup).end();
    assert!(status.success());
    let said: Vec<_> = first.iter().map(|line| line["status"].as_str().unwrap_or("error")).collect();
    assert_eq!(said, ["sent", "sent", "sent", "rejected", "error"]);
    assert_eq!(first[0], first[2]);
    let (again, _) = Feed::alone(&setup).end();
    assert_eq!(first, again);
    assert_eq!((bank.transfers(), bank.asked().len()), (2, 3));
    assert_eq!((payouts(&database, "sent").await, payouts(&database, "rejected").await), (2, 1));
    assert_eq!(number(&database, "COUNT(*) AS number FROM payout_history").await, 9, "born, begun and ended once each");
}

#[tokio::test]
async fn what_cannot_be_read_is_said_and_the_rest_is_paid() {
    let (database, bank) = (Database::new(), Bank::new());
    let lines = format!("no JSON\n{}\n{}", json!({ "id": 2, "account": "ann", "amount": 0 }), payout(3));
    let answers = feed(&setup(&database, &bank), lines);
    assert_eq!((&answers[0]["line"], &answers[1]["line"]), (&json!(1), &json!(2)));
    assert!(answers[1]["error"].as_str().is_some_and(|error| error.contains("greater than 0")), "{answers:?}");
    assert_eq!(answers[2]["status"], "sent");
    assert_eq!(bank.transfers(), 1);
}

/// Dies after the bank has transferred, and before that is written down.
fn crash(setup: &Setup) {
    let mut program = Feed::start(&setup.clone().env("CRASH", "transfer"));
    program.say(payout(1));
    let (answers, status) = program.end();
    assert!(answers.is_empty() && status.code().is_none(), "{status}: {answers:?}");
}

fn assert_paid_once(bank: &Bank) {
    let asked = bank.asked();
    assert_eq!((asked.len(), &asked[0]), (2, &asked[1]), "asked twice, with one key");
    assert_eq!(bank.transfers(), 1);
}

#[tokio::test]
async fn a_payout_that_a_crash_has_left_is_finished_without_its_caller() {
    let (database, bank) = (Database::new(), Bank::new());
    let setup = setup(&database, &bank);
    crash(&setup);
    assert_eq!((bank.transfers(), payouts(&database, "sending").await), (1, 1));
    // Until its lease is over nobody else has it.
    let deadline = Instant::now() + PATIENCE;
    while payouts(&database, "sent").await == 0 {
        assert!(Instant::now() < deadline);
        assert_eq!(feed(&setup, ""), Vec::<Value>::new());
    }
    assert_paid_once(&bank);
}

#[tokio::test]
async fn a_payout_that_a_crash_has_left_is_waited_for_by_its_caller() {
    let (database, bank) = (Database::new(), Bank::new());
    let setup = setup(&database, &bank);
    crash(&setup);
    let answers = feed(&setup, payout(1));
    assert_eq!(answers[0]["status"], "sent");
    assert_paid_once(&bank);
    assert_eq!(feed(&setup, payout(1)), answers);
    assert_paid_once(&bank);
}

#[tokio::test]
async fn two_runners_of_the_same_payouts_pay_each_once() {
    const PAYOUTS: i64 = 20;
    let (database, bank) = (Database::new(), Bank::new());
    let setup = setup(&database, &bank);
    let lines: String = (1..=PAYOUTS).map(payout).collect();
    let [one, other] = std::thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(|| feed(&setup, &lines))).map(|runner| runner.join().expect("its answers"))
    });
    assert_eq!(one, other);
    let transfers: BTreeSet<_> = one.iter().map(|answer| answer["transfer"].to_string()).collect();
    assert_eq!((transfers.len(), bank.transfers(), bank.asked().len()), (20, 20, 20));
    assert_eq!(payouts(&database, "sent").await, PAYOUTS);
}

#[test]
fn a_place_to_die_at_that_is_none_is_refused() {
    let (database, bank) = (Database::new(), Bank::new());
    let (code, said) = setup(&database, &bank).env("CRASH", "dinner").fail();
    assert_eq!(code, Some(1));
    assert!(said.contains("CRASH=`dinner`") && said.contains("write `transfer`"), "{said}");
}

//! Kills the built programs with SIGKILL, over and over, under clients that repeat each request until it is answered;
//! then counts what is left: one order for each key, one charge for each order, and every answer as it was given.
//!
//! Built with `--no-default-features --features postgres`, or `mysql`, it starts a database server of its own, and kills
//! that too.
//!
//! | variable | default |
//! |---|---|
//! | `SOAK_KILLS` | 12 |
//! | `SOAK_SEED` | the time; the seed is printed first. It decides who is killed and when, and what the clients ask for |
//! | `TEST_POSTGRES_BIN` | the newest server under `/usr/lib/postgresql`, or the one of `PATH` |
//! | `TEST_REQUIRE_ALL` | set, a server that is not to be found is a failure |

mod call;
mod chance;
mod client;
mod database;
mod folder;
mod killer;
mod port;
mod program;
mod verdict;

use std::io::Write as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::task::JoinSet;

use crate::call::Caller;
use crate::client::Client;
use crate::database::{Chosen, Database as _};
use crate::folder::Folder;
use crate::killer::{Killer, Targets};
use crate::program::Program;
use crate::verdict::Verdict;

const CLIENTS: u64 = 6;
const KILLS: u64 = 12;
/// How long an unfinished claim is believed: after a crash its key is busy for so long.
const LEASE: &str = "2s";

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_killed_each_order_is_there_once_and_charged_once() {
    let seed = number("SOAK_SEED").unwrap_or_else(now);
    let wanted = number("SOAK_KILLS").unwrap_or(KILLS);
    let folder = Folder::new();
    let Some(database) = Chosen::start(&folder) else { return };
    say(&format!("soak on {}: {wanted} kills, seed {seed}", Chosen::NAME));
    let begun = Instant::now();

    let charges =
        Program::start("charges", env!("CARGO_BIN_EXE_charges"), &folder, &[("DATABASE_URL", database.url("charges"))]);
    let orders = Program::start(
        "orders",
        env!("CARGO_BIN_EXE_orders"),
        &folder,
        &[("DATABASE_URL", database.url("orders")), ("CHARGES_URL", charges.url()), ("LEASE", LEASE.to_owned())],
    );
    let caller = Caller::new(&orders.url(), &charges.url());

    let killer = Killer::new(seed, wanted);
    let mut running = JoinSet::new();
    for number in 0..CLIENTS {
        running.spawn(Client::new(seed, number, caller.clone(), killer.end()).run());
    }
    let mut targets = Targets { orders, charges, database };
    let killing = tokio::task::spawn_blocking(move || (killer.run(&mut targets), targets));
    let clients = running.join_all().await;
    let (kills, targets) = killing.await.expect("the killer");

    let verdict = Verdict::of(&caller, &clients, kills.with_database()).await;
    say(&format!(
        "soak on {}: {kills}, {CLIENTS} clients, {verdict}, {:.1} s, seed {seed}",
        Chosen::NAME,
        begun.elapsed().as_secs_f32()
    ));
    drop(targets);
    assert!(verdict.faults.is_empty(), "seed {seed}:\n{}", verdict.faults.join("\n"));
    assert_eq!(kills.sum(), wanted, "kills, with seed {seed}");
}

/// Says something to whoever runs the test, past the test runner's capture.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable}=`{value}` is no number")))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    since.as_secs()
}

//! What each mode costs: round trips to the database, and statements. Nothing here depends on time.

mod requests;
mod transitions;

use std::fmt::Write as _;

use tests::wire::Counts;

use super::database::NAME;
use super::{app, database, machines};
pub(crate) use requests::requests;
use transitions::transitions;

/// A mode, and what it costs.
pub(crate) type Row = (&'static str, Counts);

/// Round trips, statements and checkouts. Everything was prepared by those who came before.
const fn row(mode: &'static str, round_trips: i32, statements: i32, checkouts: i32) -> Row {
    (mode, Counts { round_trips, statements, prepared: 0, checkouts })
}

// What a row costs is written above it: round trips are divided by `|`, and what is one statement stands between commas.

const POSTGRES: [Row; 14] = [
    // BEGIN | the body | COMMIT
    row("bare handler", 3, 3, 1),
    // BEGIN | the body | whether it is alive and COMMIT
    row("transaction of ours", 3, 3, 1),
    row("transactional: no key", 3, 3, 1),
    // BEGIN, lock, look, SAVEPOINT | the body | record, COMMIT
    row("transactional: fresh key", 3, 7, 1),
    // look
    row("transactional: replay", 1, 1, 1),
    row("transactional: conflict", 1, 1, 1),
    // claim | record
    row("leased: fresh key", 2, 2, 2),
    // look
    row("leased: replay", 1, 1, 1),
    row("leased: conflict", 1, 1, 1),
    // BEGIN, renew | renew and record, COMMIT
    row("one more step in a transaction", 2, 4, 1),
    // renew and record
    row("one more step outside", 1, 1, 1),
    // BEGIN | update | append | COMMIT
    row("transition by hand", 4, 4, 0),
    row("transition from one state", 4, 4, 0),
    // BEGIN | read and lock | update | append | COMMIT
    row("transition from several states", 5, 5, 0),
];

/// There a transaction of ours begins and ends with a batch in one text: `BEGIN …`, and `… COMMIT …`.
const MYSQL: [Row; 14] = [
    // BEGIN | the body | COMMIT
    row("bare handler", 3, 3, 1),
    // BEGIN … | the body | … COMMIT …
    row("transaction of ours", 3, 3, 1),
    row("transactional: no key", 3, 3, 1),
    // BEGIN … | claim | SAVEPOINT | the body | RELEASE | record | … COMMIT …
    row("transactional: fresh key", 7, 7, 1),
    // look
    row("transactional: replay", 1, 1, 1),
    row("transactional: conflict", 1, 1, 1),
    // claim | record
    row("leased: fresh key", 2, 2, 2),
    // look
    row("leased: replay", 1, 1, 1),
    row("leased: conflict", 1, 1, 1),
    // BEGIN … | renew | renew | record | … COMMIT …
    row("one more step in a transaction", 5, 5, 1),
    // BEGIN … | renew | record | … COMMIT …
    row("one more step outside", 4, 4, 1),
    // BEGIN | update | append | COMMIT
    row("transition by hand", 4, 4, 0),
    // BEGIN … | update | append | … COMMIT …
    row("transition from one state", 4, 4, 0),
    // BEGIN … | read and lock | update | append | … COMMIT …
    row("transition from several states", 5, 5, 0),
];

/// There `patience` is the pragma that says how long other writers are waited for.
const SQLITE: [Row; 14] = [
    // BEGIN, the body, COMMIT
    row("bare handler", 0, 3, 1),
    // patience, BEGIN, the body, COMMIT
    row("transaction of ours", 0, 4, 1),
    row("transactional: no key", 0, 4, 1),
    // patience, look, BEGIN, claim, SAVEPOINT, the body, RELEASE, record, COMMIT
    row("transactional: fresh key", 0, 9, 1),
    // patience, look
    row("transactional: replay", 0, 2, 1),
    row("transactional: conflict", 0, 2, 1),
    // patience, look, BEGIN, claim, COMMIT, patience, BEGIN, record, COMMIT
    row("leased: fresh key", 0, 9, 2),
    // patience, look
    row("leased: replay", 0, 2, 1),
    row("leased: conflict", 0, 2, 1),
    // patience, BEGIN, renew, renew, record, COMMIT
    row("one more step in a transaction", 0, 6, 1),
    // patience, BEGIN, renew, record, COMMIT
    row("one more step outside", 0, 5, 1),
    // BEGIN, update, append, COMMIT
    row("transition by hand", 0, 4, 0),
    // patience, BEGIN, update, append, COMMIT
    row("transition from one state", 0, 5, 0),
    // patience, BEGIN, lock, read, update, append, COMMIT
    row("transition from several states", 0, 7, 0),
];

#[tokio::test]
async fn every_mode_costs_what_its_table_says() {
    let expected = match NAME {
        "postgres" => POSTGRES,
        "mysql" => MYSQL,
        _ => SQLITE,
    };
    let (Some(requests), Some(transitions)) = (requests().await, transitions().await) else { return };
    let found = [requests, transitions].concat();
    assert!(found == expected, "{}", compared(&expected, &found));
}

/// All rows, as they were expected and found.
fn compared(expected: &[Row], found: &[Row]) -> String {
    let said = |(_, counts): &Row| {
        let Counts { round_trips, statements, prepared, checkouts } = counts;
        format!("{round_trips:>2}, {statements:>2}, {prepared:>2}, {checkouts:>2}")
    };
    let mut text = format!("on {NAME}: round trips, statements, prepared, checkouts of a connection\n");
    for (expected, found) in expected.iter().zip(found) {
        let mark = if expected == found { "" } else { "  <--" };
        let mode = expected.0;
        let _ = writeln!(text, "{mode:<31} expected {}   found {}{mark}", said(expected), said(found));
    }
    text
}

//! The crash matrix: a process is aborted at every point of the protocol, in every mode, on every database; then the
//! request is repeated until it is answered, and effects, answers and calls of another system are counted.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::RunQueryDsl;
use idempotent_runtime::__private::FAILPOINTS;

const MODES: [&str; 10] = [
    "transactional",
    "undone",
    "leased",
    "failing",
    "stepped",
    "moved",
    "carried",
    "token",
    "blocking",
    "blocking_stepped",
];

const EFFECTS: &str = "SELECT what, COUNT(*) AS times FROM effects GROUP BY what ORDER BY what";
const LINES: &str = "SELECT event AS what, COUNT(*) AS times FROM parcel_history GROUP BY event ORDER BY event";

#[derive(QueryableByName)]
struct Effect {
    #[diesel(sql_type = Text)]
    what: String,
    #[diesel(sql_type = BigInt)]
    times: i64,
}

/// One cell of the matrix: a database, a mode, and a file that stands for another system.
struct Cell {
    database: &'static str,
    location: String,
    mode: &'static str,
    key: String,
    provider: PathBuf,
}

/// What a process printed: status, replayed, body. `None` if it aborted.
type Said = Option<(u16, bool, String)>;

impl Cell {
    /// One request in a process of its own, which aborts at `point`.
    fn request(&self, point: Option<&str>) -> Said {
        let mut victim = Command::new(env!("CARGO_BIN_EXE_victim"));
        victim.args([self.database, &self.location, self.mode, &self.key]).arg(&self.provider).args(point);
        let output = victim.output().expect("the victim starts");
        if !output.status.success() {
            use std::os::unix::process::ExitStatusExt;
            let abort = Some(6);
            assert_eq!(output.status.signal(), abort, "{}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(read(&String::from_utf8(output.stdout).expect("text")))
    }

    /// Repeats the request until it has its final answer.
    fn finish(&self, point: &str) -> (u16, bool, String) {
        let begun = Instant::now();
        loop {
            let (status, replayed, body) = self.request(None).expect("no point is set");
            if body == "done" {
                return (status, replayed, body);
            }
            assert!([409, 500, 502, 503].contains(&status), "{} {point}: {status} {body}", self.mode);
            assert!(begun.elapsed() < Duration::from_secs(30), "{} {point}: the key is stuck", self.mode);
        }
    }

    /// The keys that the other system was sent, in order.
    fn asked(&self) -> Vec<String> {
        std::fs::read_to_string(&self.provider).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// What must hold once the request was answered and repeated.
    fn check(&self, point: &str, effects: &[Effect], lines: &[Effect]) {
        let at = format!("{} {} {point}", self.database, self.mode);
        let counted = |effects: &[Effect]| -> Vec<(String, i64)> {
            effects.iter().map(|effect| (effect.what.clone(), effect.times)).collect()
        };
        let once =
            |names: &[&str]| -> Vec<(String, i64)> { names.iter().map(|name| ((*name).to_owned(), 1)).collect() };
        let (effects, lines) = (counted(effects), counted(lines));
        let asked = self.asked();
        match self.mode {
            "transactional" | "token" | "blocking" => assert_eq!(effects, once(&["effect"]), "{at}"),
            "undone" => assert_eq!(effects, once(&[]), "{at}"),
            "moved" => assert_eq!((effects, lines), (once(&["shipped"]), once(&["ship"])), "{at}"),
            "carried" => {
                assert_eq!(lines, once(&["deliver", "ship"]), "{at}");
                let keys: HashSet<_> = asked.iter().collect();
                assert_eq!(keys.len(), 1, "{at}: the carrier was sent the key of the first attempt, however often");
            }
            "stepped" | "blocking_stepped" => {
                assert_eq!(effects, once(&["confirm", "start"]), "{at}");
                let keys: HashSet<_> = asked.iter().collect();
                assert_eq!(keys.len(), 1, "{at}: one charge, however often the provider was asked");
                assert!(asked.len() <= 3, "{at}: asked again only where a crash came between the call and its record");
            }
            // At least once.
            _ => assert!(!asked.is_empty(), "{at}"),
        }
    }
}

/// Reads what a victim printed.
fn read(printed: &str) -> (u16, bool, String) {
    let printed = printed.strip_suffix('\n').unwrap_or(printed);
    let mut words = printed.splitn(3, ' ');
    let mut next = || words.next().expect("status, replayed, body").to_owned();
    (next().parse().expect("a status"), next() == "true", next())
}

/// Sends a signal to a process.
fn signal(process: &std::process::Child, name: &str) {
    let sent = Command::new("kill").args([name, &process.id().to_string()]).status();
    assert!(sent.expect("the program `kill` runs").success());
}

macro_rules! zombie {
    ($database:ident) => {
        /// A holder is stopped in the middle of its second step, for longer than its lease; another finishes; the
        /// holder goes on.
        #[tokio::test(flavor = "multi_thread")]
        async fn $database() {
            use std::io::{BufRead, BufReader};
            use tests::$database as database;
            let Some(fresh) = database::Database::fresh().await else { return };
            let provider = std::env::temp_dir().join(format!("provider-{}", uuid::Uuid::new_v4().simple()));
            let let_go = provider.with_extension("go");
            let key = uuid::Uuid::new_v4().to_string();
            let cell = Cell { database: database::NAME, location: fresh.location(), mode: "stepped", key, provider };
            let mut holder = Command::new(env!("CARGO_BIN_EXE_victim"))
                .args([cell.database, &cell.location, cell.mode, &cell.key])
                .arg(&cell.provider)
                .env("WAIT_FOR", &let_go)
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("the victim starts");
            let mut printed = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
            assert_eq!(printed.next().expect("a line").expect("text"), "waiting");
            signal(&holder, "-STOP");
            let (status, replayed, _) = cell.finish("stopped");
            assert_eq!((status, replayed), (201, false), "another has finished it");
            std::fs::write(&let_go, "").expect("the temporary folder is writable");
            signal(&holder, "-CONT");
            let late = read(&printed.next().expect("a line").expect("text"));
            assert!(holder.wait().expect("it ends").success());
            assert_eq!(late, (201, true, "done".into()), "the holder's client gets the answer that was stored");
            let conn = &mut *fresh.pool(1).get().await.unwrap();
            let effects = sql_query(EFFECTS).load::<Effect>(conn).await.unwrap();
            cell.check("stopped", &effects, &[]);
            let _ = (std::fs::remove_file(&cell.provider), std::fs::remove_file(&let_go));
        }
    };
}

macro_rules! matrix {
    ($database:ident) => {
        #[tokio::test(flavor = "multi_thread")]
        async fn $database() {
            use tests::$database as database;
            let mut crashed: HashSet<&str> = HashSet::new();
            let mut cells = 0;
            for mode in MODES {
                for point in FAILPOINTS {
                    let Some(fresh) = database::Database::fresh().await else { return };
                    let provider = std::env::temp_dir().join(format!("provider-{}", uuid::Uuid::new_v4().simple()));
                    let location = fresh.location();
                    let key = uuid::Uuid::new_v4().to_string();
                    let cell = Cell { database: database::NAME, location, mode, key, provider };
                    // Not every mode on every database comes by every point.
                    if cell.request(Some(point)).is_none() {
                        crashed.insert(point);
                        cells += 1;
                        // A second time, where the retry comes by again.
                        cell.request(Some(point));
                        let first = cell.finish(point);
                        let again = cell.request(None).expect("no point is set");
                        assert_eq!((again.0, again.1, &again.2), (first.0, true, &first.2), "{mode} {point}");
                        let conn = &mut *fresh.pool(1).get().await.unwrap();
                        let effects = sql_query(EFFECTS).load::<Effect>(conn).await.unwrap();
                        let lines = sql_query(LINES).load::<Effect>(conn).await.unwrap();
                        cell.check(point, &effects, &lines);
                    }
                    let _ = std::fs::remove_file(&cell.provider);
                    let _ = std::fs::remove_file(cell.provider.with_extension("token"));
                }
            }
            let elsewhere = |point: &str| {
                let of =
                    ["sqlite", "postgres", "mysql"].into_iter().find(|name| point.starts_with(&format!("{name}.")));
                of.is_some_and(|of| of != database::NAME)
            };
            let missed: Vec<_> =
                FAILPOINTS.iter().filter(|point| !crashed.contains(*point) && !elsewhere(point)).collect();
            println!("{}: crashed at {} points, in {cells} cells of the matrix", database::NAME, crashed.len());
            assert!(missed.is_empty(), "no crash came by {missed:?}");
        }
    };
}

mod at_every_point {
    use super::*;

    matrix!(sqlite);
    matrix!(postgres);
    matrix!(mysql);
}

mod a_zombie_finds_that_its_run_was_finished {
    use super::*;

    zombie!(sqlite);
    zombie!(postgres);
    zombie!(mysql);
}

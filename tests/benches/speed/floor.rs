//! How much of it is the server's: `pgbench` sends the statements of each side, with no diesel, no tokio and no HTTP
//! around them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::options::Options;
use crate::postgres::on::shop::{Shop, order_of, post_to};
use crate::rounds::{CLIENTS, Spread, round};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/floor");

/// How many requests there are to repeat. Their keys are [`KEY`] with these numbers behind it, and fresh ones have others.
const USED: u64 = 1_000;
const KEY: &str = "8f14e45f-ceea-467a-9575-";
const FIRST_USED: u64 = 100_000_000_000;
const FIRST_FRESH: u64 = 200_000_000_000;
const LAST_FRESH: u64 = 999_999_999_999;

/// A side, and what it is measured against.
const RATIOS: [(&str, &str); 3] = [("transactional", "bare"), ("leased", "bare"), ("look", "select")];

#[derive(QueryableByName)]
struct Prepared {
    #[diesel(sql_type = Text)]
    statement: String,
}

/// The statements as the sides prepare them.
struct Statements(Vec<String>);

impl Statements {
    /// Runs every side once on the only connection of a shop, and asks the server what was prepared.
    async fn of(shop: &Shop) -> Self {
        let body = order_of(1_024, 1);
        for n in 0..USED {
            let key = format!("{KEY}{}", FIRST_USED + n);
            shop.send(post_to("/transactional", &key, body.clone()), StatusCode::CREATED).await;
        }
        shop.send(post_to("/transactional", &format!("{KEY}{FIRST_USED}"), body.clone()), StatusCode::CREATED).await;
        shop.send(post_to("/leased", &format!("{KEY}{LAST_FRESH}"), body.clone()), StatusCode::CREATED).await;
        shop.send(post_to("/orders/1", KEY, body), StatusCode::OK).await;
        let mut conn = shop.pool.get().await.expect("a connection");
        let prepared = diesel::sql_query("SELECT statement FROM pg_prepared_statements ORDER BY prepare_time");
        let prepared: Vec<Prepared> = prepared.load(&mut *conn).await.expect("the server's own list");
        Self(prepared.into_iter().map(|prepared| prepared.statement).collect())
    }

    /// The statement that begins and goes on so, with these values.
    fn with(&self, begins: &str, holds: &str, values: &[&str]) -> Result<String, String> {
        let found = self.0.iter().find(|statement| statement.starts_with(begins) && statement.contains(holds));
        let statement = found.ok_or_else(|| format!("no side has prepared `{begins} … {holds}`"))?;
        let mut statement = statement.clone();
        for (n, value) in values.iter().enumerate().rev() {
            statement = statement.replace(&format!("${}", n + 1), value);
        }
        Ok(statement + ";\n")
    }

    /// What `pgbench` is to send for each side.
    fn scripts(&self) -> Result<[(&'static str, String); 5], String> {
        let (fresh, used) = (
            format!("\\set k random({FIRST_FRESH}, {LAST_FRESH})\n"),
            format!("\\set k random({FIRST_USED}, {})\n", FIRST_USED + USED - 1),
        );
        let key = format!("('{KEY}' || :k)");
        let bytes = |count: usize| format!("'\\x{}'::bytea", "6e".repeat(count));
        let (fingerprint, owner, headers, body) = (bytes(32), bytes(16), bytes(64), bytes(1_024));
        let note = format!("'{}'", "n".repeat(984));
        let order = self.with("INSERT INTO \"bench_orders\"", "", &["1", &note])?;
        let find = self.with("SELECT", "FROM \"bench_orders\"", &["1", "1"])?.replace("= 1)", "= :k)");
        // The values are numbered as they appear in the text.
        let (lease, ttl, fence) = ("30000::bigint", "259200000::bigint", "1::bigint");
        let address = ["''", "''", "''", &key];
        let answer = ["201::bigint", &headers, &body];
        let look = self.with("SELECT", "FROM idempotency_keys", &address)?;
        let gate = self.with("SELECT pg_try_advisory_xact_lock", "", &[":k::bigint"])?;
        let claimed = [&fingerprint, "0::bigint", &owner, lease, ttl, "NULL::bytea", ":k::bigint"];
        let claim =
            self.with("INSERT INTO idempotency_keys", "pg_try_advisory_xact_lock", &[&address[..], &claimed].concat())?;
        let recorded = [&fingerprint, &owner, lease, ttl];
        let record =
            self.with("INSERT INTO idempotency_keys", "status", &[&address[..], &recorded, &answer].concat())?;
        let complete =
            self.with("UPDATE idempotency_keys", "status", &[&answer[..], &address, &[&owner, fence]].concat())?;
        let bare = format!("BEGIN;\n{order}COMMIT;\n");
        let transactional = format!(
            "\\startpipeline\nBEGIN ISOLATION LEVEL READ COMMITTED;\n{gate}{look}SAVEPOINT diesel_savepoint_1;\n\\endpipeline\n\
             {order}\\startpipeline\n{record}COMMIT;\n\\endpipeline\n"
        );
        let find = format!("\\set k random(1, {USED})\n{find}");
        Ok([
            ("leased", format!("{fresh}{claim}{bare}{complete}")),
            ("bare", bare),
            ("transactional", fresh + &transactional),
            ("look", used + &look),
            ("select", find),
        ])
    }
}

/// Measures the statements of each side, in turns.
pub(crate) async fn floor(options: &Options) -> Result<Value, String> {
    let shop = Shop::open(1).await.ok_or("there is no server of PostgreSQL")?;
    let scripts = Statements::of(&shop).await.scripts()?;
    std::fs::create_dir_all(FOLDER).map_err(|error| format!("{FOLDER}: {error}"))?;
    for (side, script) in &scripts {
        std::fs::write(file_of(side), script).map_err(|error| format!("{side}: {error}"))?;
    }
    let seconds = if options.quick { 1 } else { 2 };
    let mut ratios: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut micros: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    println!("\n{:<32}{:>22}{:>22}{:>22}", "postgres, by pgbench alone", "1 client", "8 clients", "32 clients");
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    for clients in CLIENTS {
        let mut taken: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for _ in 0..options.rounds() {
            for (side, _) in &scripts {
                let one = pgbench(&shop.location(), side, clients, seconds)?;
                taken.entry(side).or_default().push(one);
            }
        }
        for (side, to) in RATIOS {
            let pairs = taken[side].iter().zip(&taken[to]);
            let ratio = Spread::of(pairs.map(|(side, to)| side / to).collect());
            let Spread { low, median, high } = ratio;
            let row = rows.entry(side).or_default();
            let _ = write!(row, "{:>22}", format!("{median:.2} ({low:.2}–{high:.2})"));
            ratios.entry(side).or_default().insert(clients.to_string(), ratio.json());
        }
        for (side, taken) in taken {
            micros.entry(side).or_default().insert(clients.to_string(), json!(round(Spread::of(taken).median)));
        }
    }
    for (side, row) in rows {
        println!("{side:<32}{row}");
    }
    Ok(json!({ "ratios": ratios, "micros": micros }))
}

fn file_of(side: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{side}.sql"))
}

/// Microseconds a run of a script; many clients share the time.
fn pgbench(url: &str, side: &str, clients: usize, seconds: u32) -> Result<f64, String> {
    let program = std::env::var("TEST_POSTGRES_BIN").map_or_else(|_| PathBuf::new(), PathBuf::from).join("pgbench");
    let output = Command::new(&program)
        .args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2"])
        .args(["--client", &clients.to_string(), "--time", &seconds.to_string()])
        .arg("--file")
        .arg(file_of(side))
        .arg(url)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = || format!("pgbench, {side}: {said}{}", String::from_utf8_lossy(&output.stderr));
    let per_second = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    per_second.filter(|_| output.status.success()).map(|per_second| 1e6 / per_second).ok_or_else(failed)
}

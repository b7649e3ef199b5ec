//! The release `orders` under load over HTTP, against the same service without the attribute.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::options::Options;
use crate::rounds::{Spread, round};

/// Where `scripts/bench` puts the programs, built for each database.
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/programs");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/speed/load.lua");

/// What is ordered.
const ORDER: &str = r#"{"item":"book","amount":2000,"currency":"usd"}"#;

/// How many connections `wrk` keeps open, unless it is about the one hot key.
const CONNECTIONS: usize = 32;
/// How many connections ask for the one hot key.
const CROWD: usize = 256;

/// A service that runs until it is dropped.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    /// Starts a program on a free port, over a database of its own.
    fn start(program: &Path, database_url: &str) -> Result<Self, String> {
        let mut child = Command::new(program)
            .env("LISTEN", "127.0.0.1:0")
            .env("DATABASE_URL", database_url)
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        let out = child.stdout.take().ok_or("it has no output")?;
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if let Some(url) = line.strip_prefix("listening on ") {
                return Ok(Self { child, url: url.to_owned() });
            }
        }
        let _ = child.kill();
        Err(format!("{} did not start on {database_url}", program.display()))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a run of `wrk` has seen.
#[derive(Debug, Clone, Deserialize)]
struct Seen {
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    broken: u64,
    statuses: BTreeMap<String, u64>,
}

fn wrk(service: &Service, connections: usize, seconds: u32, mode: &str, run: &str) -> Result<Seen, String> {
    let output = Command::new("wrk")
        .args(["--threads", "2", "--latency", "--timeout", "30s", "--script", SCRIPT])
        .args(["--connections", &connections.to_string(), "--duration", &format!("{seconds}s")])
        .args([&service.url, "--", mode, run, ORDER])
        .output()
        .map_err(|error| format!("wrk cannot be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("LOAD "));
    let line = line.ok_or_else(|| format!("wrk: {text}{}", String::from_utf8_lossy(&output.stderr)))?;
    serde_json::from_str(line).map_err(|error| format!("wrk: {error}: {line}"))
}

/// Places the orders that are replayed and read.
async fn fill(service: &Service, run: &str) -> Result<(), String> {
    let client = reqwest::Client::new();
    for n in 0..1_000 {
        let request = client
            .post(format!("{}/orders", service.url))
            .bearer_auth(run)
            .header("idempotency-key", format!("{run}-fill-{n:012x}"))
            .header("content-type", "application/json")
            .body(ORDER);
        let answer = request.send().await.map_err(|error| error.to_string())?;
        if answer.status() != 201 {
            return Err(format!("an order was answered {}", answer.status()));
        }
    }
    Ok(())
}

/// How many orders a user has.
async fn orders_of(service: &Service, user: &str) -> Result<usize, String> {
    let request = reqwest::Client::new().get(format!("{}/orders", service.url)).bearer_auth(user);
    let answer = request.send().await.map_err(|error| error.to_string())?;
    let orders: Vec<Value> = answer.json().await.map_err(|error| error.to_string())?;
    Ok(orders.len())
}

/// Both services on one database.
pub(crate) async fn load(options: &Options, database: &str, urls: [String; 2]) -> Result<Value, String> {
    let programs = PathBuf::from(PROGRAMS).join(database);
    let orders = Service::start(&programs.join("orders"), &urls[0])?;
    let bare = Service::start(&programs.join("orders_bare"), &urls[1])?;
    let (rounds, seconds) = if options.quick { (2, 2) } else { (7, 4) };
    fill(&orders, "replays").await?;
    fill(&bare, "replays").await?;
    let mut figures = Map::new();
    let comparisons = [
        ("create", CONNECTIONS, ["fresh", "fresh"]),
        ("replay", CONNECTIONS, ["replay", "read"]),
        ("hot_key", CROWD, ["hot", "read"]),
    ];
    for (name, connections, modes) in comparisons {
        let mut seen = [Vec::new(), Vec::new()];
        for n in 0..rounds {
            for (side, service) in [&orders, &bare].into_iter().enumerate() {
                let user = if name == "create" || (name == "hot_key" && side == 0) {
                    format!("{name}-{n}")
                } else {
                    "replays".to_owned()
                };
                let run = wrk(service, connections, seconds, modes[side], &user)?;
                // While the one order is placed, the others are told that it is.
                let expected = |status: &str| status.starts_with('2') || (name == "hot_key" && status == "409");
                if let Some((status, count)) = run.statuses.iter().find(|(status, _)| !expected(status)) {
                    return Err(format!("{database}, {name}: {count} answers of {status}"));
                }
                seen[side].push(run);
                if name == "hot_key" && side == 0 && orders_of(service, &user).await? != 1 {
                    return Err("one key has placed several orders".to_owned());
                }
            }
        }
        let [ours, theirs] = [&seen[0], &seen[1]].map(|seen| summary(seen));
        let pairs = || seen[0].iter().zip(&seen[1]);
        let slower = Spread::of(pairs().map(|(ours, theirs)| theirs.per_second / ours.per_second).collect());
        let later = Spread::of(pairs().map(|(ours, theirs)| ours.p99_ms / theirs.p99_ms).collect());
        println!(
            "{database:<9} {name:<8} {:>8.0}/s, p99 {:>7.2} ms; without {:>8.0}/s, p99 {:>7.2} ms; {:.2}×, p99 {:.2}×; {}",
            ours["per_second"].as_f64().unwrap_or_default(),
            ours["p99_ms"].as_f64().unwrap_or_default(),
            theirs["per_second"].as_f64().unwrap_or_default(),
            theirs["p99_ms"].as_f64().unwrap_or_default(),
            slower.median,
            later.median,
            ours["statuses"],
        );
        figures.insert(
            name.to_owned(),
            json!({
                "connections": connections, "with": ours, "without": theirs,
                "throughput_ratio": slower.json(), "p99_ratio": later.json(),
            }),
        );
    }
    Ok(Value::Object(figures))
}

/// The medians of several runs, and all their answers.
fn summary(seen: &[Seen]) -> Value {
    let median = |of: fn(&Seen) -> f64| round(Spread::of(seen.iter().map(of).collect()).median);
    let mut statuses: BTreeMap<&str, u64> = BTreeMap::new();
    for (status, count) in seen.iter().flat_map(|seen| &seen.statuses) {
        *statuses.entry(status).or_default() += count;
    }
    json!({
        "per_second": median(|seen| seen.per_second),
        "p50_ms": median(|seen| seen.p50_ms),
        "p99_ms": median(|seen| seen.p99_ms),
        "broken": seen.iter().map(|seen| seen.broken).sum::<u64>(),
        "statuses": statuses,
    })
}

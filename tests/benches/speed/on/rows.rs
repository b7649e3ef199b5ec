//! A table of many records against one of few.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use diesel_async::SimpleAsyncConnection;
use http::StatusCode;

use super::database;
use super::shop::{Shop, fresh_key, order_of, post_to};
use crate::options::Options;
use crate::report::DatabaseReport;
use crate::rounds::{CLIENTS, Side, measure};

const FEW: u64 = 10_000;
/// How many records one statement writes.
const BATCH: u64 = 500_000;

/// Measures one database; `None` if there is no server.
pub(crate) async fn rows(options: &Options, report: &mut DatabaseReport) -> Option<()> {
    let few = Arc::new(Filled::new(FEW).await?);
    let many = Arc::new(Filled::new(options.many_rows()).await?);
    report.rows_of(few.rows, many.rows);
    for clients in CLIENTS {
        let mut sides = Vec::new();
        for (filled, names) in [
            (&few, ["transactional of few", "leased of few", "repeat of few"]),
            (&many, ["transactional of many", "leased of many", "repeat of many"]),
        ] {
            for (name, path) in [(names[0], "/transactional"), (names[1], "/leased")] {
                let (filled, body) = (Arc::clone(filled), order_of(1_024, 1));
                sides.push(Side::new(name, move |_| {
                    let (filled, body) = (Arc::clone(&filled), body.clone());
                    async move {
                        filled.shop.send(post_to(path, &fresh_key(), body), StatusCode::CREATED).await;
                    }
                }));
            }
            let (filled, body) = (Arc::clone(filled), order_of(1_024, 2));
            sides.push(Side::new(names[2], move |_| {
                let (filled, body) = (Arc::clone(&filled), body.clone());
                async move {
                    // Each of the records was another request.
                    let request = post_to("/leased", &filled.any_key(), body);
                    filled.shop.send(request, StatusCode::CONFLICT).await;
                }
            }));
        }
        let timings = measure(&sides, clients, options.rounds(), options.slice()).await;
        report.rows(clients, &timings);
        eprintln!("  {} of {} rows at {clients} client(s): measured", database::NAME, many.rows);
    }
    Some(())
}

/// A shop with so many records of finished requests.
struct Filled {
    shop: Shop,
    rows: u64,
    next: AtomicU64,
}

impl Filled {
    async fn new(rows: u64) -> Option<Self> {
        let shop = Shop::open(if database::NAME == "sqlite" { 4 } else { 32 }).await?;
        let begun = Instant::now();
        let mut conn = shop.pool.get().await.expect("a connection");
        let mut from = 0;
        while from < rows {
            let to = rows.min(from + BATCH);
            let fill = fill(from, to, spread(rows));
            conn.batch_execute(&fill).await.expect("records can be written");
            from = to;
        }
        let settle: &[&str] = match database::NAME {
            "postgres" => &["VACUUM ANALYZE idempotency_keys", "CHECKPOINT"],
            "mysql" => &["ANALYZE TABLE idempotency_keys"],
            _ => &["PRAGMA wal_checkpoint(TRUNCATE)"],
        };
        for statement in settle {
            conn.batch_execute(statement).await.expect("the table can be tidied up");
        }
        drop(conn);
        eprintln!("  {} filled with {rows} rows in {} s", database::NAME, begun.elapsed().as_secs());
        Some(Self { shop, rows, next: AtomicU64::new(0) })
    }

    /// A key of [`FEW`] of the records, which lie all over the table: on either side as many as a process can know, so that
    /// rows are compared, and not what is known of them.
    fn any_key(&self) -> String {
        // A step that shares no factor with their number visits each of them.
        let n = self.next.fetch_add(6_700_417, Ordering::Relaxed) % FEW * (self.rows / FEW);
        format!("{:08x}-{n:027x}", n * spread(self.rows))
    }
}

/// How far apart neighbouring keys are, so that they spread as UUIDs do.
fn spread(rows: u64) -> u64 {
    u64::from(u32::MAX) / rows
}

/// Writes the records of these numbers, in the order of their keys.
fn fill(from: u64, to: u64, spread: u64) -> String {
    let columns = "fingerprint, state, held, owner, token, attempts, generation, lease_until, created_at, expires_at, \
                   status, headers, body";
    let body = "0".repeat(100);
    let now = database::NOW;
    let times = format!("{now}, {now}, {now} + 259200000");
    let last = to - 1;
    match database::NAME {
        "postgres" => format!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, key, {columns}) \
             SELECT '', '', '', lpad(to_hex(n * {spread}), 8, '0') || '-' || lpad(to_hex(n), 27, '0'), \
             sha256(n::text::bytea), 1, 0, '\\x00112233445566778899aabbccddeeff'::bytea, 1, 1, 1, {times}, \
             201, '[]'::bytea, '{body}'::bytea FROM generate_series({from}::bigint, {last}) AS n"
        ),
        "mysql" => format!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, `key`, {columns}) \
             SELECT '', '', '', LOWER(CONCAT(LPAD(HEX(seq * {spread}), 8, '0'), '-', LPAD(HEX(seq), 27, '0'))), \
             UNHEX(SHA2(seq, 256)), 1, 0, X'00112233445566778899aabbccddeeff', 1, 1, 1, {times}, \
             201, '[]', '{body}' FROM seq_{from}_to_{last}"
        ),
        _ => format!(
            "INSERT INTO idempotency_keys (namespace, operation, scope, key, {columns}) \
             WITH RECURSIVE numbers (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last}) \
             SELECT '', '', '', printf('%08x-%027x', n * {spread}, n), \
             randomblob(32), 1, 0, X'00112233445566778899aabbccddeeff', 1, 1, 1, {times}, \
             201, CAST('[]' AS BLOB), CAST('{body}' AS BLOB) FROM numbers"
        ),
    }
}

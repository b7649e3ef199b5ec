//! The same on blocking diesel: a consumer on its own connection, and a job with recovery points.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use diesel::RunQueryDsl;
use idempotent_runtime::blocking::Steps;
use idempotent_runtime::{Error, Idempotency, Scope, idempotent};

use super::database::{self, Blocking};
use crate::Task;

/// Short, so that what a crash leaves can be taken over soon.
const LEASE: Duration = Duration::from_millis(300);

/// Whether a body has run in this process.
static RAN: AtomicBool = AtomicBool::new(false);

fn insert(conn: &mut Blocking, what: &str) -> Result<(), Error> {
    let insert = diesel::sql_query(format!("INSERT INTO effects (what) VALUES ('{what}')"));
    insert.execute(conn).map(drop).map_err(|error| Error::Unavailable(error.into()))
}

#[idempotent(name = "victim.blocking", key = key, ttl = "1h", engine = engine)]
fn consume(engine: &Idempotency<Blocking>, #[tx] conn: &mut Blocking, key: &str) -> Result<String, Error> {
    RAN.store(true, Ordering::SeqCst);
    insert(conn, "effect")?;
    Ok("done".into())
}

#[idempotent(name = "victim.blocking_stepped", key = key, ttl = "1h", lease = LEASE, engine = engine)]
fn pay(
    engine: &Idempotency<Blocking>,
    #[steps] steps: &mut Steps<Blocking>,
    key: &str,
    provider: &Path,
) -> Result<String, Error> {
    RAN.store(true, Ordering::SeqCst);
    steps.tx("start", |conn| insert(conn, "start"))?;
    steps.run("charge", |key| {
        let file = OpenOptions::new().create(true).append(true).open(provider);
        writeln!(file.expect("the provider's file can be opened"), "{key}").expect("it can be written");
        Ok::<_, Error>(())
    })?;
    steps.tx("confirm", |conn| insert(conn, "confirm"))?;
    Ok("done".into())
}

pub(crate) fn run(task: &Task) -> String {
    let pool = database::blocking_pool(&task.location, 4);
    let engine = Idempotency::builder(pool.clone(), Scope::shared()).build();
    let done = match task.mode.as_str() {
        "blocking" => consume(&engine, &mut pool.get().expect("a connection"), &task.key),
        _ => pay(&engine, &task.key, &task.provider),
    };
    match done {
        Ok(done) => format!("201 {} {done}", !RAN.load(Ordering::SeqCst)),
        Err(error) => format!("{} false {}", error.status().as_u16(), error.code()),
    }
}

//! One request to a service of its own, in a process that aborts at the point it is told: what is left is what a crash
//! leaves.
//!
//! `victim DATABASE LOCATION MODE KEY PROVIDER [POINT]` prints the answer's status, whether it was replayed, and its
//! body. `PROVIDER` is a file that stands for another system: each call of it appends a line with the key it was sent.

#![allow(clippy::duplicate_mod, reason = "the service is compiled once for each database")]

mod mysql;
mod postgres;
mod sqlite;

/// What is asked for.
pub(crate) struct Task {
    location: String,
    mode: String,
    key: String,
    provider: std::path::PathBuf,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("DATABASE LOCATION MODE KEY PROVIDER [POINT]");
    let database = next();
    let task = Task { location: next(), mode: next(), key: next(), provider: next().into() };
    if let Some(point) = arguments.next() {
        fail::cfg_callback(point, || std::process::abort()).expect("a point can be set");
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let answer = match database.as_str() {
        "sqlite" => runtime.block_on(sqlite::run(task)),
        "mysql" => runtime.block_on(mysql::run(task)),
        _ => runtime.block_on(postgres::run(task)),
    };
    println!("{answer}");
}

//! How fast the toolkit is: everything against the same work without it, side by side in one run.
//!
//! `scripts/bench` starts the servers, and this with them. What is measured, and how, is said in BENCHMARKS.md.
#![allow(missing_docs, reason = "a program")]
#![allow(clippy::duplicate_mod, reason = "what is measured is compiled for each database")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures")]

mod compile;
mod in_process;
mod load;
mod mysql;
mod options;
mod postgres;
mod report;
mod rounds;
mod sqlite;

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use options::Options;

/// Where the figures are written: beside what cargo builds.
const SUMMARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/summary.json");

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    };
    let summary = match measure(&options) {
        Ok(summary) => summary,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    };
    match write(&Value::Object(summary)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {SUMMARY} cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<Map<String, Value>, String> {
    let mut summary = Map::new();
    summary.insert("quick".to_owned(), json!(options.quick));
    if options.part("in-process") {
        summary.insert("in_process_us".to_owned(), in_process::in_process(options));
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    macro_rules! measure {
        ($database:ident) => {
            if options.database(stringify!($database)) {
                let mut report = report::DatabaseReport::default();
                let mut figures = json!({});
                if options.part("protocol") {
                    report = runtime.block_on($database::on::protocol(options)).unwrap_or_default();
                }
                if options.part("rows") {
                    runtime.block_on($database::on::rows(options, &mut report));
                }
                if options.part("protocol") || options.part("rows") {
                    println!("{}", report.table(stringify!($database)));
                    figures = report.json();
                }
                if options.part("load") {
                    figures["load"] = runtime.block_on($database::on::load(options))?;
                }
                summary.insert(stringify!($database).to_owned(), figures);
            }
        };
    }
    measure!(postgres);
    measure!(mysql);
    measure!(sqlite);
    if options.part("compile") {
        summary.insert("compile".to_owned(), compile::compile(options)?);
    }
    Ok(summary)
}

fn write(summary: &Value) -> std::io::Result<()> {
    let path = std::path::Path::new(SUMMARY);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, format!("{summary:#}\n"))
}

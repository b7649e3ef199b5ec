//! How fast the toolkit is: everything against the same work without it, side by side in one run.
//!
//! `scripts/bench` starts the servers, and this with them. What is measured, and how, is said in BENCHMARKS.md.
#![allow(missing_docs, reason = "a program")]
#![allow(clippy::duplicate_mod, reason = "what is measured is compiled for each database")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures")]

mod compile;
mod floor;
mod in_process;
mod load;
mod mysql;
mod options;
mod postgres;
mod report;
mod rounds;
mod sqlite;

use std::path::Path;
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
    match measure(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures what is asked for, and writes down each figure as soon as it is known.
fn measure(options: &Options) -> Result<(), String> {
    let mut summary = Summary::default();
    summary.add("quick", json!(options.quick))?;
    if options.part("in-process") {
        summary.add("in_process_us", in_process::in_process(options))?;
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
                    summary.add(stringify!($database), figures.clone())?;
                }
                if options.part("load") {
                    figures["load"] = runtime.block_on($database::on::load(options))?;
                    summary.add(stringify!($database), figures)?;
                }
            }
        };
    }
    measure!(postgres);
    measure!(mysql);
    measure!(sqlite);
    if options.database("postgres") && options.part("floor") {
        summary.add("postgres_floor", runtime.block_on(floor::floor(options))?)?;
    }
    if options.part("compile") {
        summary.add("compile", compile::compile(options)?)?;
    }
    Ok(())
}

/// All figures so far.
#[derive(Debug, Default)]
struct Summary(Map<String, Value>);

impl Summary {
    fn add(&mut self, name: &str, figures: Value) -> Result<(), String> {
        self.0.insert(name.to_owned(), figures);
        self.write().map_err(|error| format!("{SUMMARY} cannot be written: {error}"))
    }

    fn write(&self) -> std::io::Result<()> {
        let path = Path::new(SUMMARY);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, format!("{:#}\n", Value::Object(self.0.clone())))
    }
}

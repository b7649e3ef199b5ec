//! What the lock file asks of a compiler.

use std::process::Command;

use serde_json::Value;

/// A version of Rust, without its last number.
fn version(of: &Value) -> Option<(u32, u32)> {
    let mut numbers = of["rust_version"].as_str()?.split('.').map(|number| number.parse::<u32>().expect("a number"));
    Some((numbers.next()?, numbers.next()?))
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn nothing_that_is_locked_needs_a_newer_compiler_than_the_workspace_says() {
    // Packages of other platforms were not fetched to build this.
    let platform = said(Command::new("rustc").args(["--print", "host-tuple"]));
    let metadata = said(Command::new(env!("CARGO")).args([
        "metadata",
        "--locked",
        "--all-features",
        "--format-version=1",
        "--filter-platform",
        platform.trim(),
    ]));
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let ours = packages.iter().find(|package| package["name"] == "idempotent-runtime").and_then(version);
    assert!(ours.is_some(), "the workspace says what it needs");
    let newer: Vec<_> = packages
        .iter()
        .filter(|package| version(package) > ours)
        .map(|package| format!("{} {} needs {}", package["name"], package["version"], package["rust_version"]))
        .collect();
    assert!(newer.is_empty(), "lock an older version: cargo update --precise … {newer:#?}");
}

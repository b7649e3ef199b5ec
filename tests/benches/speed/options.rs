//! What the command line asks for.

use std::time::Duration;

/// How long and how often is measured, and what.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Fewer rounds and fewer rows: for a look, not for a figure.
    pub(crate) quick: bool,
    databases: Vec<String>,
    parts: Vec<String>,
    sides: Vec<String>,
}

const DATABASES: [&str; 3] = ["postgres", "mysql", "sqlite"];
const PARTS: [&str; 6] = ["protocol", "rows", "in-process", "load", "floor", "compile"];

impl Options {
    /// Reads the command line.
    pub(crate) fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { quick: false, databases: Vec::new(), parts: Vec::new(), sides: Vec::new() };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => options.quick = true,
                "--side" => options.sides.extend(args.next()),
                // What cargo adds.
                "--bench" => {}
                database if DATABASES.contains(&database) => options.databases.push(arg),
                part if PARTS.contains(&part) => options.parts.push(arg),
                other => {
                    return Err(format!(
                        "`{other}` is not known; write any of --quick, --side NAME, {}, {}",
                        DATABASES.join(", "),
                        PARTS.join(", ")
                    ));
                }
            }
        }
        Ok(options)
    }

    /// Whether a database is asked for; all are, if none is named.
    pub(crate) fn database(&self, name: &str) -> bool {
        self.databases.is_empty() || self.databases.iter().any(|asked| asked == name)
    }

    /// Whether a part is asked for. If none is named all are, but for what nobody does quickly.
    pub(crate) fn part(&self, name: &str) -> bool {
        match self.parts.is_empty() {
            true => !(self.quick && name == "compile"),
            false => self.parts.iter().any(|asked| asked == name),
        }
    }

    /// Whether a side is asked for; all are, if none is named.
    pub(crate) fn side(&self, name: &str) -> bool {
        self.sides.is_empty() || self.sides.iter().any(|asked| asked == name)
    }

    /// How often each side is measured, in turns.
    pub(crate) fn rounds(&self) -> usize {
        if self.quick { 5 } else { 11 }
    }

    /// How long one side is measured at a time.
    pub(crate) fn slice(&self) -> Duration {
        Duration::from_millis(if self.quick { 120 } else { 250 })
    }

    /// How many records the larger of two databases has.
    pub(crate) fn many_rows(&self) -> u64 {
        if self.quick { 500_000 } else { 10_000_000 }
    }
}

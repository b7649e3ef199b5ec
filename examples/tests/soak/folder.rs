//! The folder of everything that a run leaves behind, gone when the run is over.

use std::path::{Path, PathBuf};
use std::process::Command;

use uuid::Uuid;

use crate::say;

/// How much of each log is shown.
const LINES: usize = 60;

/// A temporary folder. After a failure the ends of its logs are shown before it goes.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Self {
        // The database server refuses to run as root, and its own account may not get into a private TMPDIR.
        let parent = if is_root() { PathBuf::from("/tmp") } else { std::env::temp_dir() };
        let path = parent.join(format!("soak_{}", Uuid::new_v4().simple()));
        std::fs::create_dir(&path).expect("a temporary folder");
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The log of this name.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.path.join(name).with_extension("log")
    }

    fn show_logs(&self) {
        for entry in self.path.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                let bytes = std::fs::read(&path).unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes);
                let lines = text.lines().collect::<Vec<_>>();
                let from = lines.len().saturating_sub(LINES);
                say(&format!("--- {} ({} lines)\n{}", path.display(), lines.len(), lines[from..].join("\n")));
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.show_logs();
        }
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            say(&format!("{} stays: {error}", self.path.display()));
        }
    }
}

/// Whether we are root.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout.trim_ascii() == b"0")
}

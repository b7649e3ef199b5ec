//! A running `checkout` on a database of its own.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use uuid::Uuid;

/// The program, on a free port. When dropped it is killed, and its database gone.
#[derive(Debug)]
pub(crate) struct Checkout {
    child: Child,
    folder: PathBuf,
    url: String,
}

impl Checkout {
    pub(crate) fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("browser_{}", Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).expect("a folder for the database");
        let mut child = Command::new(env!("CARGO_BIN_EXE_checkout"))
            .env("LISTEN", "127.0.0.1:0")
            .env("DATABASE_URL", folder.join("checkout.db"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut ready).expect("a line");
        let url = ready.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("it says {ready:?}")).to_owned();
        Self { child, folder, url }
    }

    /// The address of its page.
    pub(crate) fn page(&self) -> String {
        format!("{}/", self.url)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

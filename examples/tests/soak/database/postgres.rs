//! A server of our own, with a database for each program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Database;
use crate::folder::{self, Folder};
use crate::{port, say};

/// The account that runs the server in root's place.
const ACCOUNT: &str = "postgres";

/// What makes a folder that of a server.
const PROGRAMS: [&str; 4] = ["createdb", "initdb", "pg_ctl", "postgres"];

/// A running server. When dropped it is stopped, and gone.
#[derive(Debug)]
pub(crate) struct Chosen {
    tools: Tools,
    port: u16,
}

impl Database for Chosen {
    const NAME: &'static str = "postgres";

    fn start(folder: &Folder) -> Option<Self> {
        let Some(binaries) = find() else {
            let missing = "skipped: the soak on PostgreSQL, because no server is installed";
            assert!(std::env::var_os("TEST_REQUIRE_ALL").is_none(), "{missing}");
            say(&format!("\n{missing}; `scripts/test` and `scripts/soak` install one\n"));
            return None;
        };
        let mut tools = Tools::new(binaries, folder);
        let init = ["--pgdata=data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"];
        tools.run("initdb", &init).unwrap_or_else(|error| panic!("{error}"));
        tools.sync_at_once = tools.run("postgres", &["-C", "recovery_init_sync_method", "-D", "data"]).is_ok();
        // Somebody else may be faster to take a port.
        let mut refused = String::new();
        let server = (0..5).find_map(|_| {
            let server = Self { tools: tools.clone(), port: port::free() };
            server.up().map_err(|error| refused = error).ok().map(|()| server)
        });
        let server = server.unwrap_or_else(|| panic!("{refused}"));
        for program in ["orders", "charges"] {
            let port = format!("--port={}", server.port);
            let made = server.tools.run("createdb", &["--host=127.0.0.1", &port, "--username=postgres", program]);
            made.unwrap_or_else(|error| panic!("{error}"));
        }
        Some(server)
    }

    fn url(&self, program: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{program}", self.port)
    }

    fn crash(&mut self) -> bool {
        let crashed = self.down().and_then(|()| self.up());
        crashed.unwrap_or_else(|error| panic!("the database server does not start after it was killed: {error}"));
        true
    }
}

impl Chosen {
    fn up(&self) -> Result<(), String> {
        // Nothing here makes the server less safe in a crash.
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories='{}' -c max_connections=100{}",
            self.port,
            self.tools.folder.display(),
            if self.tools.sync_at_once { " -c recovery_init_sync_method=syncfs" } else { "" }
        );
        let log = self.tools.log.display().to_string();
        let start =
            ["start", "--silent", "--wait", "--timeout=60", "--pgdata=data", "--log", &log, "--options", &options];
        self.tools.run("pg_ctl", &start)
    }

    /// Every process of it ends at once, without a checkpoint: as in a crash.
    fn down(&self) -> Result<(), String> {
        self.tools.run("pg_ctl", &["stop", "--silent", "--wait", "--timeout=30", "--pgdata=data", "--mode=immediate"])
    }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        // One that did not start is down.
        if self.tools.folder.join("data/postmaster.pid").exists()
            && let Err(error) = self.down()
        {
            say(&format!("the database server stays: {error}"));
        }
    }
}

/// The server's programs.
#[derive(Debug, Clone)]
struct Tools {
    binaries: PathBuf,
    /// Whether the server can bring all its files to the disk by one call when it starts after a crash. File by file
    /// that takes seconds.
    sync_at_once: bool,
    /// Where the server lives.
    folder: PathBuf,
    /// What the server says.
    log: PathBuf,
    /// What the programs say.
    said: PathBuf,
}

impl Tools {
    fn new(binaries: PathBuf, parent: &Folder) -> Self {
        let folder = parent.path().join("server");
        std::fs::create_dir(&folder).expect("a folder for the server");
        let (log, said) = (parent.log("server"), parent.log("tools"));
        File::create(&log).expect("a log");
        if folder::is_root() {
            let mut chown = Command::new("chown");
            assert!(chown.arg(ACCOUNT).args([&folder, &log]).status().is_ok_and(|status| status.success()));
        }
        Self { binaries, sync_at_once: false, folder, log, said }
    }

    /// Runs one of them, as the account that the server's folder belongs to.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let binary = self.binaries.join(program);
        let mut command = match folder::is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", ACCOUNT, "--"]).arg(binary);
                command
            }
            false => Command::new(binary),
        };
        // Into a file: a pipe would stay open for as long as the server runs.
        let said = || File::options().create(true).append(true).open(&self.said).map_err(|error| error.to_string());
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).stdout(said()?).stderr(said()?);
        let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
        status.success().then_some(()).ok_or_else(|| {
            let said = std::fs::read_to_string(&self.said).unwrap_or_default();
            format!("{command:?}: {status}\n{said}")
        })
    }
}

/// The folder of the server's programs, if it is installed.
fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TEST_POSTGRES_BIN") {
        let named = PathBuf::from(named);
        assert!(is_complete(&named), "TEST_POSTGRES_BIN={} holds no server: {PROGRAMS:?}", named.display());
        return Some(named);
    }
    let mut installed = PathBuf::from("/usr/lib/postgresql")
        .read_dir()
        .into_iter()
        .flatten()
        .filter_map(|version| {
            let version = version.ok()?;
            Some((version.file_name().to_str()?.parse::<u32>().ok()?, version.path().join("bin")))
        })
        .collect::<Vec<_>>();
    installed.sort();
    let newest_first = installed.into_iter().rev().map(|(_, binaries)| binaries);
    let path = std::env::var_os("PATH").unwrap_or_default();
    newest_first.chain(std::env::split_paths(&path)).find(|folder| is_complete(folder))
}

fn is_complete(folder: &Path) -> bool {
    PROGRAMS.iter().all(|program| folder.join(program).is_file())
}

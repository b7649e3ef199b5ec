//! A MariaDB server of our own, with a database for each program.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Database;
use crate::folder::{self, Folder};
use crate::{port, say};

/// The account that runs the server in root's place.
const ACCOUNT: &str = "mysql";
/// Where servers are kept, besides the folders of `PATH`.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/opt/homebrew/opt/mariadb/bin"];
/// How long it may take to start, and what it says then.
const PATIENCE: Duration = Duration::from_secs(60);
const READY: &str = "ready for connections";

/// A running server. When dropped it is killed, and gone.
#[derive(Debug)]
pub(crate) struct Chosen {
    server: Server,
    running: Child,
}

impl Database for Chosen {
    const NAME: &'static str = "mysql";

    fn start(folder: &Folder) -> Option<Self> {
        let (Some(binary), Some(install)) = (find("mariadbd"), find("mariadb-install-db")) else {
            let missing = "skipped: the soak on MySQL, because no MariaDB server is installed";
            assert!(std::env::var_os("TEST_REQUIRE_ALL").is_none(), "{missing}");
            say(&format!("\n{missing}; `scripts/test` installs one\n"));
            return None;
        };
        let (data, log) = (folder.path().join("server"), folder.log("server"));
        let init = folder.path().join("databases.sql");
        fs::write(&init, "CREATE DATABASE IF NOT EXISTS orders;\nCREATE DATABASE IF NOT EXISTS charges;\n")
            .expect("a file for the server");
        let mut server = Server { binary, data, init, log, port: 0 };
        let mut installing = server.command(&install);
        installing.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        let installed = installing.stdout(server.open_log()).status().expect("mariadb-install-db");
        assert!(installed.success(), "{installing:?}: {installed}");
        // Somebody else may be faster to take a port.
        let mut refused = String::new();
        let running = (0..5).find_map(|_| {
            server.port = port::free();
            server.launch().map_err(|error| refused = error).ok()
        });
        let running = running.unwrap_or_else(|| panic!("{refused}"));
        Some(Self { server, running })
    }

    fn url(&self, program: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{program}", self.server.port)
    }

    fn crash(&mut self) -> bool {
        self.end();
        let running = self.server.launch();
        self.running =
            running.unwrap_or_else(|error| panic!("the database server does not start after it was killed: {error}"));
        true
    }
}

impl Chosen {
    fn end(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        self.end();
    }
}

/// How the server is started.
#[derive(Debug)]
struct Server {
    binary: PathBuf,
    data: PathBuf,
    /// What it executes first.
    init: PathBuf,
    /// What it says.
    log: PathBuf,
    port: u16,
}

impl Server {
    /// One of its programs on its data. Started by root, it goes on as another account by itself.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("--no-defaults").arg(named("--datadir", &self.data)).stdin(Stdio::null()).stderr(self.open_log());
        if folder::is_root() {
            command.arg(format!("--user={ACCOUNT}"));
        }
        command
    }

    fn open_log(&self) -> File {
        File::options().create(true).append(true).open(&self.log).expect("a log")
    }

    /// How often it has said that it is ready.
    fn starts(&self) -> usize {
        fs::read_to_string(&self.log).unwrap_or_default().matches(READY).count()
    }

    /// Starts it, and waits until it is ready. Nothing here makes it less safe in a crash.
    fn launch(&self) -> Result<Child, String> {
        let before = self.starts();
        let mut command = self.command(&self.binary);
        command.args([named("--socket", &self.data.join("socket")), named("--init-file", &self.init)]);
        command.args([format!("--port={}", self.port), "--bind-address=127.0.0.1".into()]);
        let mut running = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let begun = Instant::now();
        while self.starts() == before {
            let ended = running.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                let _ = running.kill();
                let _ = running.wait();
                return Err(format!("{command:?}: {ended:?} after {:?}", begun.elapsed()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(running)
    }
}

fn named(option: &str, path: &Path) -> String {
    format!("{option}={}", path.display())
}

/// One of the server's programs, if it is installed.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|binary| binary.is_file())
}

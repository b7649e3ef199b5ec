//! A running program.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::database::Database;

const ORDERS: &str = env!("CARGO_BIN_EXE_orders");
const CHARGES: &str = env!("CARGO_BIN_EXE_charges");
const CHECKOUT: &str = env!("CARGO_BIN_EXE_checkout");
const CONSUMER: &str = env!("CARGO_BIN_EXE_consumer");
const LIKES: &str = env!("CARGO_BIN_EXE_likes");
#[cfg(feature = "blocking")]
const BLOCKING: &str = env!("CARGO_BIN_EXE_blocking");
/// How long a program may take to start, to answer or to stop.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How a program is started.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    binary: &'static str,
    env: Vec<(&'static str, String)>,
}

impl Setup {
    /// `orders` on a database, on a free port.
    pub(crate) fn orders(database: &Database) -> Self {
        Self::of(ORDERS, &database.url())
    }

    /// `charges` on a database, on a free port.
    pub(crate) fn charges(database: &Database) -> Self {
        Self::of(CHARGES, &database.url())
    }

    /// `checkout` on a database, on a free port.
    pub(crate) fn checkout(database: &Database) -> Self {
        Self::of(CHECKOUT, &database.url())
    }

    /// `likes` on a database, on a free port.
    pub(crate) fn likes(database: &Database) -> Self {
        Self::of(LIKES, &database.url())
    }

    /// `consumer` on a database.
    pub(crate) fn consumer(database: &Database) -> Self {
        Self::of(CONSUMER, &database.url())
    }

    /// `blocking` on a database.
    #[cfg(feature = "blocking")]
    pub(crate) fn blocking(database: &Database) -> Self {
        Self::of(BLOCKING, &database.url())
    }

    /// Every program with this `DATABASE_URL`.
    pub(crate) fn all(database_url: &str) -> Vec<Self> {
        let binaries = [
            ORDERS,
            CHARGES,
            CHECKOUT,
            CONSUMER,
            LIKES,
            #[cfg(feature = "blocking")]
            BLOCKING,
        ];
        binaries.into_iter().map(|binary| Self::of(binary, database_url)).collect()
    }

    fn of(binary: &'static str, database_url: &str) -> Self {
        Self { binary, env: Vec::new() }.env("LISTEN", "127.0.0.1:0").env("DATABASE_URL", database_url)
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.retain(|(set, _)| *set != name);
        self.env.push((name, value.into()));
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.binary);
        let own =
            ["BANK", "CHARGES_URL", "CORS_ORIGIN", "CRASH", "DATABASE_URL", "LEASE", "LISTEN", "REDIS_URL", "RUST_LOG"];
        for name in own {
            command.env_remove(name);
        }
        command.envs(self.env.clone());
        command
    }

    /// Starts the program, and waits until it is ready.
    pub(crate) fn start(&self) -> Program {
        let mut child = self.command().stdout(Stdio::piped()).spawn().expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        let (said, hear) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = said.send(line);
            }
        });
        match hear.recv_timeout(PATIENCE) {
            Ok(line) => {
                let url = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("it says {line:?}")).to_owned();
                Program { child, url }
            }
            Err(error) => {
                let _ = child.kill();
                panic!("{} did not get ready: {error}", self.binary);
            }
        }
    }

    /// Runs a program that is not to start: its exit code, and what it says.
    pub(crate) fn fail(&self) -> (Option<i32>, String) {
        let mut child =
            self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let status = wait(&mut child);
        let mut said = String::new();
        child.stderr.take().expect("its errors").read_to_string(&mut said).expect("errors in UTF-8");
        (status.code(), said)
    }
}

/// A running program. When dropped it is killed, and gone.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    url: String,
}

impl Program {
    /// `http://ADDRESS:PORT`
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// `ADDRESS:PORT`
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// `kill -9`: it has no time for anything.
    pub(crate) fn kill(&self) {
        self.signal("-KILL");
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        self.signal("-TERM");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("the command `kill`").success());
    }

    /// Waits for its end.
    pub(crate) fn exit_code(mut self) -> Option<i32> {
        wait(&mut self.child).code()
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a process.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

//! A program that is killed and started again, always on the same port and database.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::folder::Folder;
use crate::port;

/// How long a program may take to get ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running program. When dropped it is killed, and gone.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    binary: &'static str,
    env: Vec<(&'static str, String)>,
    address: String,
    log: PathBuf,
    child: Child,
}

impl Program {
    /// Starts a program on a free port, and waits until it is ready. What it says goes into a log.
    pub(crate) fn start(
        name: &'static str,
        binary: &'static str,
        folder: &Folder,
        env: &[(&'static str, String)],
    ) -> Self {
        let address = format!("127.0.0.1:{}", port::free());
        let mut env = env.to_vec();
        env.push(("LISTEN", address.clone()));
        let log = folder.log(name);
        let child = launch(binary, &env, &log).unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self { name, binary, env, address, log, child }
    }

    /// `http://ADDRESS:PORT`
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// SIGKILL: it has no time for anything. Then it is started again, and ready.
    pub(crate) fn crash(&mut self) {
        self.end();
        self.child = launch(self.binary, &self.env, &self.log)
            .unwrap_or_else(|error| panic!("{} does not start after it was killed: {error}", self.name));
    }

    fn end(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            crate::say(&format!("{} had ended by itself: {status}", self.name));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

fn launch(binary: &str, env: &[(&'static str, String)], log: &PathBuf) -> Result<Child, String> {
    let log = File::options().create(true).append(true).open(log).map_err(|error| error.to_string())?;
    let mut command = Command::new(binary);
    for name in ["CHARGES_URL", "CORS_ORIGIN", "LEASE", "RUST_LOG"] {
        command.env_remove(name);
    }
    command.envs(env.iter().cloned()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().expect("its output");
    let (said, hear) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = said.send(line);
        }
    });
    match hear.recv_timeout(PATIENCE) {
        Ok(line) if line.starts_with("listening on ") => Ok(child),
        said => {
            let _ = child.kill();
            Err(format!("it says {said:?}, and ends with {:?}", child.wait()))
        }
    }
}

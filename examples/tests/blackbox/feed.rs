//! A program that reads lines of JSON, and answers in lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use crate::program::{PATIENCE, Setup, wait};

/// A running program that waits for lines. When dropped it is killed, and gone.
#[derive(Debug)]
pub(crate) struct Feed {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: mpsc::Receiver<Value>,
}

impl Feed {
    pub(crate) fn start(setup: &Setup) -> Self {
        Self::with(setup, Stdio::piped())
    }

    /// The same with nothing redirected to it.
    pub(crate) fn alone(setup: &Setup) -> Self {
        Self::with(setup, Stdio::null())
    }

    fn with(setup: &Setup, stdin: Stdio) -> Self {
        let mut child = setup.command().stdin(stdin).stdout(Stdio::piped()).spawn().expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        let (say, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let answer = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                let _ = say.send(answer);
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, answers }
    }

    pub(crate) fn say(&mut self, lines: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("an open input");
        // A program that was killed does not read.
        let _ = stdin.write_all(lines.as_ref());
    }

    /// Its next line.
    pub(crate) fn answer(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no answer: {error}"))
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("its end");
    }

    /// Ends its input, and waits for its end: what else it said, and how it ended.
    pub(crate) fn end(mut self) -> (Vec<Value>, ExitStatus) {
        drop(self.stdin.take());
        let status = wait(&mut self.child);
        (self.answers.iter().collect(), status)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program over some lines: what it answers.
pub(crate) fn feed(setup: &Setup, lines: impl AsRef<[u8]>) -> Vec<Value> {
    let mut program = Feed::start(setup);
    program.say(lines);
    let (answers, status) = program.end();
    assert!(status.success(), "{status}: {answers:?}");
    answers
}

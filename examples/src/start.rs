//! How a program starts, and what it says when it cannot.

use std::error::Error;
use std::process::ExitCode;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// What is below an error.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why a program cannot start, in words for whoever starts it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An environment variable is missing that has no default.
    #[error("{name} is not set; {fix}")]
    Missing {
        /// The variable.
        name: &'static str,
        /// What to write.
        fix: &'static str,
    },
    /// An environment variable says something that cannot be meant.
    #[error("{name}=`{value}` {problem}")]
    Setting {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
        /// What is wrong with that, and what to write instead.
        problem: String,
    },
    /// The database cannot be opened, or not be written to.
    #[error("the database cannot be used")]
    Database(#[source] Cause),
    /// The Redis for one-time tokens cannot be reached.
    #[error("the Redis of REDIS_URL cannot be used")]
    Redis(#[from] redis::RedisError),
    /// The records of idempotency keys cannot be set up.
    #[error("the idempotency engine cannot be started")]
    Idempotency(#[from] idempotent_runtime::Error),
    /// The address cannot be listened on, or is not served any more.
    #[error("the server failed")]
    Server(#[from] std::io::Error),
    /// What was to be read cannot be, or nobody reads what is written.
    #[error("{what}")]
    Lines {
        /// What could not be done.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The client of another service cannot be set up.
    #[error("the client of the charges service cannot be built")]
    Client(#[source] Cause),
}

impl StartError {
    /// A variable that says something that cannot be meant.
    pub fn setting(name: &'static str, value: &str, problem: impl Into<String>) -> Self {
        Self::Setting { name, value: value.to_owned(), problem: problem.into() }
    }

    /// A database that cannot be used.
    pub fn database(cause: impl Into<Cause>) -> Self {
        Self::Database(cause.into())
    }
}

/// Runs a program to its end. Its log goes to stderr: warnings, or what `RUST_LOG` asks for.
pub async fn program(name: &str, run: impl Future<Output = Result<(), StartError>>) -> ExitCode {
    log();
    exit(name, run.await)
}

/// The same for a program without `async`.
pub fn blocking_program(name: &str, run: impl FnOnce() -> Result<(), StartError>) -> ExitCode {
    log();
    exit(name, run())
}

fn log() {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into()).from_env_lossy();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter).init();
}

fn exit(name: &str, ran: Result<(), StartError>) -> ExitCode {
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error and everything below it, on one line.
fn with_causes(error: &StartError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        // Some errors repeat their cause in their own text.
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

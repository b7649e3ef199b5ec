//! The payment provider as a program of its own.
//!
//! `LISTEN` (default `127.0.0.1:3001`) and `DATABASE_URL` (default: `charges.db` beside the program) say where.

use std::process::ExitCode;

use examples::charges::Charges;
use examples::start::StartError;
use examples::{server, settings, start};

#[tokio::main]
async fn main() -> ExitCode {
    start::program("charges", run()).await
}

async fn run() -> Result<(), StartError> {
    let listen = settings::listen("127.0.0.1:3001")?;
    let charges = Charges::open(&settings::database_url("charges.db")?).await?;
    let listener = server::bind(&listen).await?;
    let _sweeper = charges.sweeper();
    server::serve(listener, charges.router()).await?;
    charges.drain().await;
    Ok(())
}

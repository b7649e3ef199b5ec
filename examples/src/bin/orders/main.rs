//! Orders that are paid, settled and notified, each step once however often it is asked for.
//!
//! `cargo run --bin orders`, then:
//!
//! ```text
//! curl -i localhost:3000/orders -H 'Authorization: Bearer alice' -H 'Idempotency-Key: 2f1c7c0e-order' \
//!      --json '{"item":"book","amount":2000,"currency":"usd"}'
//! curl -i localhost:3000/orders/1/pay -H 'Authorization: Bearer alice' -H 'Idempotency-Key: 9b0d4e52-pay' \
//!      --json '{"card":"tok_ok"}'
//! ```
//!
//! `LISTEN` (default `127.0.0.1:3000`), `DATABASE_URL` (default: `orders.db` beside the program), `CHARGES_URL`
//! (default: a payment provider inside this process), `LEASE` (default `30s`) and `CORS_ORIGIN` (default: none; the origin
//! of a page that may call from a browser) change where and how.

mod app;
mod attempt;
mod caller_key;
mod history;
mod ledger;
mod order;
mod pay;
mod provider;
mod routes;
mod schema;
mod status;

use std::process::ExitCode;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use examples::charges::Charges;
use examples::server::{self, Inner};
use examples::start::{self, StartError};
use examples::user::User;
use examples::{cors, db, settings};
use idempotent_runtime::{Idempotency, Scope, Sweeper};

use crate::app::App;
use crate::provider::Provider;

#[cfg(feature = "sqlite")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/orders/sqlite");
#[cfg(feature = "postgres")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/orders/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/orders/mysql");

#[tokio::main]
async fn main() -> ExitCode {
    start::program("orders", run()).await
}

async fn run() -> Result<(), StartError> {
    let listen = settings::listen("127.0.0.1:3000")?;
    let database_url = settings::database_url("orders.db")?;
    let charges_url = settings::charges_url()?;
    let lease = settings::lease()?;
    let cors_origin = settings::cors_origin()?;

    let pool = db::open(&database_url).await?;
    let idempotency = Idempotency::builder(pool.clone(), Scope::of(User::scope)).build();
    idempotency.migrate().await?;
    idempotency.install()?;
    db::migrate(&pool, MIGRATIONS).await?;

    let listener = server::bind(&listen).await?;
    let (provider, own) = if let Some(url) = charges_url {
        (Provider::at(&url)?, None)
    } else {
        let own = OwnProvider::start(&database_url).await?;
        (Provider::at(&format!("http://{}", own.server.address))?, Some(own))
    };
    let app = App { pool, provider, lease };
    let _sweeper = idempotency.sweeper();
    let router = routes::router(app);
    let router = match cors_origin {
        Some(origin) => router.layer(cors::layer(origin)),
        None => router,
    };
    server::serve(listener, router).await?;
    if !idempotency.drain(server::GRACE).await {
        tracing::warn!("stopped with requests still under way");
    }
    // Last: what was just drained may have been waiting for a charge.
    if let Some(own) = own {
        own.stop().await?;
    }
    Ok(())
}

/// The payment provider inside this process, with a database of its own.
struct OwnProvider {
    charges: Charges,
    server: Inner,
    _sweeper: Sweeper,
}

impl OwnProvider {
    async fn start(database_url: &str) -> Result<Self, StartError> {
        let charges = Charges::open(&db::beside(database_url, "charges").await?).await?;
        let server = Inner::start(charges.router()).await?;
        let sweeper = charges.sweeper();
        Ok(Self { charges, server, _sweeper: sweeper })
    }

    async fn stop(self) -> Result<(), StartError> {
        self.server.stop().await?;
        self.charges.drain().await;
        Ok(())
    }
}

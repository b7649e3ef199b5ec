//! A checkout page: one form is one order, whatever is clicked.
//!
//! `cargo run --bin checkout`, and open <http://127.0.0.1:3002>. Click twice, go back and submit again, duplicate the tab,
//! turn on the slow network, turn off the script. Or without a browser, in two phases:
//!
//! ```text
//! curl -X POST localhost:3002/tokens -H 'Authorization: Bearer alice'           # {"token":"…","expires_in":3600}
//! curl -i localhost:3002/checkout -H 'Authorization: Bearer alice' -H 'Idempotency-Token: …' \
//!      --json '{"item":"book","amount":2000,"currency":"usd"}'
//! ```
//!
//! A browser's form can send no header, so that its key is a token in a hidden field: issued with the page, bound to the
//! visitor and to the operation, and good for one run. Every repeat gets the answer of that run. Since no other site can
//! know a token of the visitor's, it protects the form against forged requests (CSRF) too.
//!
//! - **A double click** sends the same form twice. The second waits for the first, and gets its answer.
//! - **Back, and submit again**: browsers show the page that they have kept, with its token. For that to be so the page
//!   must not say `Cache-Control: no-store`: fetched anew it would have another token, and be another order.
//! - **The answer that is stored** is JSON, and the same for everybody. What a browser gets, a redirect to the order or a
//!   page that says what went wrong, is made of it outside of the handlers: `browser.rs`.
//! - **Whether it is new** only the header of the answer knows, `Idempotent-Replayed`. The redirect takes it along to the
//!   page in a cookie that is shown once: `outcome.rs`.
//! - **To pay** takes a token of its own. **To ship or to cancel** needs none: the machine in `status.rs` lets it happen
//!   once. What keeps other sites from sending these two is the cookie alone, which is `SameSite=Lax`.
//! - **Each form that is shown** is a row in the table of keys, until it has expired and is swept; or with `REDIS_URL` a key
//!   in Redis, until it is used.
//!
//! `LISTEN` (default `127.0.0.1:3002`) and `DATABASE_URL` (default: `checkout.db` beside the program) say where, `REDIS_URL`
//! (default: none) where tokens are kept instead of in the database.

mod app;
mod browser;
mod card;
mod cookie;
mod history;
mod order;
mod outcome;
mod page;
mod routes;
mod schema;
mod status;
mod visitor;

use std::process::ExitCode;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use examples::start::{self, StartError};
use examples::{db, server, settings};
use idempotent_runtime::{Idempotency, RedisTokens, Scope};

use crate::app::App;
use crate::visitor::Visitor;

#[cfg(feature = "sqlite")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/checkout/sqlite");
#[cfg(feature = "postgres")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/checkout/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/checkout/mysql");

#[tokio::main]
async fn main() -> ExitCode {
    start::program("checkout", run()).await
}

async fn run() -> Result<(), StartError> {
    let listen = settings::listen("127.0.0.1:3002")?;
    let pool = db::open(&settings::database_url("checkout.db")?).await?;
    let mut builder = Idempotency::builder(pool.clone(), Scope::of(Visitor::scope));
    if let Some(redis) = settings::redis()? {
        builder = builder.tokens(RedisTokens::new(redis.get_connection_manager().await?));
    }
    let idempotency = builder.build();
    idempotency.migrate().await?;
    db::migrate(&pool, MIGRATIONS).await?;

    let listener = server::bind(&listen).await?;
    let _sweeper = idempotency.sweeper();
    server::serve(listener, routes::router(App { pool, idempotency: idempotency.clone() })).await?;
    if !idempotency.drain(server::GRACE).await {
        tracing::warn!("stopped with requests still under way");
    }
    Ok(())
}

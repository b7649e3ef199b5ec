//! Likes: a state that is set and unset, and an event that counts once for ever.
//!
//! ```text
//! curl -X POST localhost:3002/posts/1/likes -H 'Authorization: Bearer bob'
//! curl -X DELETE localhost:3002/posts/1/likes -H 'Authorization: Bearer bob'
//! curl localhost:3002/posts/1/likes            curl localhost:3002/authors/ann
//! ```
//!
//! That a user likes a post is a **state**, and a state needs no key: a row whose primary key is user and post is there
//! or not, and to set it twice is to set it once. A key that keeps its answer for ever would be wrong there. After an
//! unlike it would replay the old answer to the next like, and no row would come.
//!
//! That a like earns the author a point is an **event**: it happens once for each user and post, whatever is clicked,
//! unclicked and clicked again. No row says so once the like is gone. The record of a natural key that never expires
//! does: `reward` in `routes.rs`.
//!
//! A retry that comes late, after the unlike, is a third thing: the same request again, and not a new wish. Only the
//! client can tell, by sending an `Idempotency-Key`. It is honoured, and not required.
//!
//! `LISTEN` (default `127.0.0.1:3002`) and `DATABASE_URL` (default: `likes.db` beside the program) say where.

mod post;
mod routes;
mod schema;

use std::process::ExitCode;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use examples::start::{self, StartError};
use examples::user::User;
use examples::{db, server, settings};
use idempotent_runtime::{Idempotency, Scope};

#[cfg(feature = "sqlite")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/likes/sqlite");
#[cfg(feature = "postgres")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/likes/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/likes/mysql");

#[tokio::main]
async fn main() -> ExitCode {
    start::program("likes", run()).await
}

async fn run() -> Result<(), StartError> {
    let listen = settings::listen("127.0.0.1:3002")?;
    let pool = db::open(&settings::database_url("likes.db")?).await?;
    let idempotency = Idempotency::builder(pool.clone(), Scope::of(User::scope)).build();
    idempotency.migrate().await?;
    idempotency.install()?;
    db::migrate(&pool, MIGRATIONS).await?;

    let listener = server::bind(&listen).await?;
    let _sweeper = idempotency.sweeper();
    server::serve(listener, routes::router(pool)).await?;
    if !idempotency.drain(server::GRACE).await {
        tracing::warn!("stopped with requests still under way");
    }
    Ok(())
}

//! The payment provider: `POST /v1/charges` charges once for each key, `GET /v1/charges` lists. The caller's name is
//! the account.

mod charge;
mod new_charge;
mod schema;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use idempotent_runtime::{Idempotency, Scope, Sweeper, idempotent};

use crate::db::{self, Db, Pool};
use crate::problem::Problem;
use crate::server;
use crate::start::StartError;
use crate::user::User;
use charge::Charge;
use new_charge::NewCharge;

#[cfg(all(feature = "sqlite", not(any(feature = "postgres", feature = "mysql"))))]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/charges/sqlite");
#[cfg(all(feature = "postgres", not(feature = "mysql")))]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/charges/postgres");
#[cfg(feature = "mysql")]
const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/charges/mysql");

/// The service, and the state of its handlers.
#[derive(Clone)]
pub struct Charges {
    pool: Pool,
    idempotency: Idempotency<Db>,
}

impl Charges {
    /// Opens the service's database.
    pub async fn open(database_url: &str) -> Result<Self, StartError> {
        let pool = db::open(database_url).await?;
        // Not installed as the global engine: inside `orders` there is one of this connection type already. The
        // handler names this one instead.
        let idempotency = Idempotency::builder(pool.clone(), Scope::of(User::scope)).namespace("charges").build();
        idempotency.migrate().await?;
        db::migrate(&pool, MIGRATIONS).await?;
        Ok(Self { pool, idempotency })
    }

    /// Its routes.
    pub fn router(&self) -> Router {
        let reads = Router::new().route("/v1/charges", get(list)).layer(middleware::from_fn(server::to_the_end));
        let writes = Router::new().route("/v1/charges", post(create));
        reads.merge(writes).with_state(self.clone())
    }

    /// Deletes expired keys in the background, until the guard is dropped.
    #[must_use]
    pub fn sweeper(&self) -> Sweeper {
        self.idempotency.sweeper()
    }

    /// Waits for what has begun.
    pub async fn drain(&self) {
        if !self.idempotency.drain(server::GRACE).await {
            tracing::warn!("stopped with charges still under way");
        }
    }
}

/// Charges a card: the claim of the key, the charge and the answer commit in one transaction.
#[idempotent(key = header, ttl = "72h", scope = account.name, engine = app.idempotency)]
async fn create(
    account: User,
    State(app): State<Charges>,
    #[tx] conn: &mut Db,
    new: NewCharge,
) -> Result<(StatusCode, Json<Charge>), Problem> {
    if new.is_declined() {
        return Err(Problem::CardDeclined);
    }
    let charge = Charge::insert(conn, &account.name, &new).await?;
    Ok((StatusCode::CREATED, Json(charge)))
}

async fn list(account: User, State(app): State<Charges>) -> Result<Json<Vec<Charge>>, Problem> {
    let mut conn = app.pool.get().await?;
    Ok(Json(Charge::list(&mut conn, &account.name).await?))
}

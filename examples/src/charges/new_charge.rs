//! What is to be charged, and the test cards.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequest, Request};
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as DatabaseError};
use diesel_async::RunQueryDsl;
use serde::Deserialize;

use super::Charges;
use super::schema::flaky_orders;
use crate::money::{Amount, Currency};
use crate::problem::Problem;
use crate::text::Text;
use crate::user::User;

/// How long `tok_slow` takes.
const SLOW: Duration = Duration::from_secs(2);

/// The body of a request to charge. Further members are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct NewCharge {
    pub(super) amount: Amount,
    pub(super) currency: Currency,
    card: Option<Text>,
    /// What the account calls the order: any JSON value.
    #[serde(default)]
    order: serde_json::Value,
}

impl NewCharge {
    /// Whether the card's bank refuses.
    pub(super) fn is_declined(&self) -> bool {
        self.card() == Some("tok_declined")
    }

    fn card(&self) -> Option<&str> {
        self.card.as_ref().map(Text::as_str)
    }

    /// Whether this is the first time that the order comes with `tok_flaky`.
    async fn fails_first(&self, app: &Charges, account: &str) -> Result<bool, Problem> {
        let mut conn = app.pool.get().await?;
        let row = (flaky_orders::account.eq(account), flaky_orders::reference.eq(self.order.to_string()));
        match diesel::insert_into(flaky_orders::table).values(row).execute(&mut conn).await {
            Ok(_) => Ok(true),
            Err(DatabaseError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads the body, and lets the slow and the flaky test card play their parts: before the key is claimed, so that the
/// waiting holds no transaction open and the failure is not stored.
impl FromRequest<Charges> for NewCharge {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Charges) -> Result<Self, Problem> {
        let account = User::of(request.headers()).ok_or(Problem::Unauthorized)?;
        let Json(new) = Json::<Self>::from_request(request, app).await?;
        match new.card() {
            Some("tok_slow") => tokio::time::sleep(SLOW).await,
            Some("tok_flaky") if new.fails_first(app, &account.name).await? => return Err(Problem::OutOfOrder),
            _ => {}
        }
        Ok(new)
    }
}

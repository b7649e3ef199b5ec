//! The payment provider, as we call it.

use std::time::Duration;

use examples::problem::Problem;
use examples::start::StartError;
use reqwest::{Client, StatusCode, Url};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::attempt::Attempt;

/// How long the provider may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Our account with the provider.
const ACCOUNT: &str = "orders";

/// A client of the charges service.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    client: Client,
    charges: Url,
}

/// What the provider did. Runs remember it as the value of a step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Charged {
    /// It charged; this is the charge's id.
    Succeeded(String),
    /// The card was declined.
    Declined,
}

impl Provider {
    /// The provider at a base URL.
    pub(crate) fn at(base: &str) -> Result<Self, StartError> {
        let charges = format!("{}/v1/charges", base.trim_end_matches('/'));
        let charges = Url::parse(&charges).ok().filter(|url| url.scheme() == "http" && url.has_host());
        let charges = charges
            .ok_or_else(|| StartError::setting("CHARGES_URL", base, "is no address; write `http://HOST:PORT`"))?;
        let client = Client::builder().timeout(PATIENCE).no_proxy().build();
        Ok(Self { client: client.map_err(|error| StartError::Client(error.into()))?, charges })
    }

    /// Charges for an attempt. However often this is called for one attempt, the provider charges once: it knows the
    /// attempt by its key.
    pub(crate) async fn charge(&self, attempt: &Attempt) -> Result<Charged, Problem> {
        #[derive(Deserialize)]
        struct Charge {
            id: String,
        }

        let Attempt { order, amount, currency, card, downstream_key } = attempt;
        let request = self
            .client
            .post(self.charges.clone())
            .bearer_auth(ACCOUNT)
            .header("Idempotency-Key", downstream_key)
            .json(&json!({ "amount": amount, "currency": currency, "order": order, "card": card }));
        let answer = request.send().await.map_err(|error| unavailable(&error))?;
        match answer.status() {
            status if status.is_success() => {
                let charge = answer.json::<Charge>().await.map_err(|error| unavailable(&error))?;
                Ok(Charged::Succeeded(charge.id))
            }
            StatusCode::PAYMENT_REQUIRED => Ok(Charged::Declined),
            // In use: an earlier call for this attempt still runs.
            status if status == StatusCode::CONFLICT || status.is_server_error() => {
                tracing::warn!(%status, order, "the provider did not charge yet");
                Err(Problem::ProviderUnavailable)
            }
            status => {
                tracing::error!(%status, order, "the provider refused to charge");
                Err(Problem::ProviderRefused)
            }
        }
    }
}

fn unavailable(error: &reqwest::Error) -> Problem {
    tracing::warn!(%error, "the provider did not answer");
    Problem::ProviderUnavailable
}

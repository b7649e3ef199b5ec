//! Attempt after attempt, until one settles the call.

use std::time::{Duration, SystemTime};

use reqwest::Request;
use tokio::time::Instant;

use super::attempt;
use super::error::CallError;
use super::idempotent_client::IdempotentClient;
use super::name::Name;
use super::outcome::{Doubt, LastAttempt, Outcome, Unknown};
use super::retry_after::retry_after;
use super::verdict::{Verdict, judge};

impl IdempotentClient {
    /// Sends a request, which carries its key, until there is an answer that settles it or until attempts or time are over.
    pub(super) async fn try_until_settled(&self, name: Name, request: &Request) -> Result<Outcome, CallError> {
        let Name { key, mut in_doubt } = name;
        let start = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let repeated = request.try_clone().ok_or(CallError::Streaming)?;
            let left = self.retries.left_for_attempt(start.elapsed());
            let (last, doubt, pause) = match attempt::send(&self.http, repeated, left).await {
                Ok(received) => {
                    let verdict = judge(received.status, &received.headers, &received.body, in_doubt);
                    let asked = retry_after(&received.headers, SystemTime::now()).unwrap_or_default();
                    let response = received.into_response();
                    let (doubt, pause) = match verdict {
                        Verdict::New => return Ok(Outcome::New(response)),
                        Verdict::Replayed => return Ok(Outcome::Replayed(response)),
                        Verdict::Reused => return Err(CallError::Reused { key, response: response.into() }),
                        Verdict::Unknown(doubt) => (doubt, None),
                        Verdict::Again(doubt) => (doubt, self.retries.pause(attempts, start.elapsed(), asked)),
                    };
                    (LastAttempt::Answered(response.into()), doubt, pause)
                }
                // Of its own address, and not of one that the server sent it on to.
                Err(LastAttempt::Failed(error))
                    if error.is_builder() && !in_doubt && error.url().is_none_or(|url| url == request.url()) =>
                {
                    return Err(CallError::Request(error));
                }
                Err(last) => {
                    let pause = self.retries.pause(attempts, start.elapsed(), Duration::ZERO);
                    (last, Doubt::NoAnswer, pause)
                }
            };
            let Some(pause) = pause else {
                return Ok(Outcome::Unknown(Unknown { key, attempts, doubt, last }));
            };
            tracing::debug!(key, attempts, %last, ?pause, "a call is tried again");
            in_doubt = true;
            tokio::time::sleep(pause).await;
        }
    }
}

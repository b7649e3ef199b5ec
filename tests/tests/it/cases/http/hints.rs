//! What a process remembers of the records that it has met is a hint. Wrong either way, it changes no answer.

use super::app::{MODES, Service, key};
use super::database::NOW;

/// A status, and whether it was given before.
type Outcome = (u16, bool);
const RAN: Outcome = (201, false);
const REPLAYED: Outcome = (201, true);

async fn outcome(service: &Service, mode: &str, key: &str, body: &'static str) -> Outcome {
    let answer = service.post(mode, key, body).await;
    (answer.status, answer.replayed())
}

#[tokio::test]
async fn a_record_that_this_process_has_not_met_is_found() {
    for mode in MODES {
        let Some(service) = Service::new().await else { return };
        let key = key();
        assert_eq!(outcome(&service, mode, &key, "order").await, RAN);
        // Each is the first to ask of its process.
        let same = service.another(|builder| builder).await;
        assert_eq!(outcome(&same, mode, &key, "order").await, REPLAYED);
        let other = service.another(|builder| builder).await;
        other.post(mode, &key, "another").await.expect(409, "idempotency_key_reused");
        assert_eq!((service.runs(), same.runs(), other.runs()), (1, 0, 0));
    }
}

#[tokio::test]
async fn a_record_that_was_met_and_is_gone_lets_the_next_run() {
    let expire = format!("UPDATE idempotency_keys SET expires_at = {NOW} - 100");
    for gone in ["DELETE FROM idempotency_keys", &expire] {
        for mode in MODES {
            let Some(service) = Service::new().await else { return };
            let key = key();
            assert_eq!(outcome(&service, mode, &key, "order").await, RAN);
            service.sql(gone).await;
            assert_eq!(outcome(&service, mode, &key, "another").await, RAN);
            assert_eq!(outcome(&service, mode, &key, "another").await, REPLAYED);
            assert_eq!((service.runs(), service.records().await), (2, 1));
        }
    }
}

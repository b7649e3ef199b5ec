//! What is promised of round trips on `PostgreSQL`.

use super::cases::trips::requests;

#[tokio::test]
async fn a_transactional_handler_waits_for_the_database_no_oftener_than_its_transaction_alone() {
    let Some(found) = requests().await else { return };
    let round_trips = |mode: &str| found.iter().find(|row| row.0 == mode).map(|row| row.1.round_trips);
    assert!(round_trips("bare handler").is_some());
    assert_eq!(round_trips("transactional: fresh key"), round_trips("bare handler"), "{found:#?}");
}

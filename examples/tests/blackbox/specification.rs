//! The transcript of the specification, byte for byte.

use crate::ask::list;
use crate::database::Database;
use crate::program::Setup;
use crate::raw::{exchange, parts};

fn charge(body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /v1/charges HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer acct_1\r\nIdempotency-Key: idem_f47ac10b\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Whether the head has this line, whatever the case of its name.
fn has_line(head: &str, name: &str, value: &str) -> bool {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.any(|(named, said)| named.eq_ignore_ascii_case(name) && said == value)
}

#[tokio::test]
async fn a_retried_charge_is_the_same_charge() {
    let database = Database::new();
    let charges = Setup::charges(&database).start();

    let first = exchange(&charges, &charge(r#"{"amount":2000,"currency":"usd"}"#)).await;
    let (status, head, body) = parts(&first);
    assert_eq!(status, "HTTP/1.1 201 Created");
    assert!(has_line(head, "Content-Type", "application/json"), "{head}");
    assert!(has_line(head, "Idempotency-Key", "idem_f47ac10b"), "{head}");
    assert!(!has_line(head, "Idempotent-Replayed", "true"), "{head}");
    let id = body.strip_prefix(r#"{"id":"ch_"#).and_then(|rest| rest.split_once('"')).expect(body).0;
    assert_eq!(body, format!(r#"{{"id":"ch_{id}","amount":2000,"status":"succeeded"}}"#));

    let again = exchange(&charges, &charge(r#"{"amount":2000,"currency":"usd"}"#)).await;
    let (status, head, repeated) = parts(&again);
    assert_eq!((status, repeated), ("HTTP/1.1 201 Created", body));
    assert!(has_line(head, "Content-Type", "application/json"), "{head}");
    assert!(has_line(head, "Idempotency-Key", "idem_f47ac10b"), "{head}");
    assert!(has_line(head, "Idempotent-Replayed", "true"), "{head}");
    assert_eq!(list("/v1/charges", "acct_1", &charges).await.len(), 1, "no second charge");

    let other = exchange(&charges, &charge(r#"{"amount":9999,"currency":"usd"}"#)).await;
    let (status, head, refusal) = parts(&other);
    assert_eq!(status, "HTTP/1.1 409 Conflict");
    assert!(has_line(head, "Idempotency-Key", "idem_f47ac10b"), "{head}");
    let (kind, code) = (r#""type":"idempotency_error""#, r#""code":"idempotency_key_reused""#);
    let message = r#""message":"Idempotency key already used with different request parameters.""#;
    assert_eq!(refusal, format!(r#"{{"error":{{{kind},{code},{message}}}}}"#));
    assert_eq!(list("/v1/charges", "acct_1", &charges).await.len(), 1, "no charge for a refused request");
}

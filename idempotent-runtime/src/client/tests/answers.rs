//! What is made of each answer, and with which pauses.

use super::*;

const IN_USE: Given = Given {
    headers: &[("Retry-After", "7")],
    body: r#"{"error":{"type":"idempotency_error","code":"idempotency_key_in_use"}}"#,
    ..given(409)
};
const REUSED: Given = Given { body: r#"{"error":{"code":"idempotency_key_reused"}}"#, ..given(409) };
const REUSED_IETF: Given = Given { body: r#"{"code":"idempotency_key_reused","retryable":false}"#, ..given(422) };

#[tokio::test(start_paused = true)]
async fn what_passes_by_itself_is_tried_again() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let server = Server::that_answers([given(status), REPLAY]);
        assert_eq!(replayed(server.client().post(ORDERS)).await.text().await.unwrap(), "order 1");
        assert_eq!(server.keys().len(), 2, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_asked_for_twice() {
    for status in [200, 204, 303, 400, 401, 402, 403, 404, 409, 413, 422] {
        let server = Server::that_answers([Given { body: r#"{"error":{"type":"state_conflict"}}"#, ..given(status) }]);
        let response = new(server.client().post(ORDERS)).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.text().await.unwrap(), r#"{"error":{"type":"state_conflict"}}"#, "it can still be read");
        assert_eq!(server.keys().len(), 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_request_under_the_key_is_an_error_at_once() {
    for refusal in [REUSED, REUSED_IETF] {
        let server = Server::that_answers([given(503), refusal]);
        match server.client().post(ORDERS).send().await.unwrap_err() {
            CallError::Reused { key, response } => {
                assert_eq!(key, server.keys()[0]);
                assert_eq!(response.text().await.unwrap(), refusal.body);
            }
            other => panic!("{other}"),
        }
        assert_eq!(server.keys().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_the_shortest_pause() {
    let server = Server::that_answers([IN_USE, CREATED]);
    new(server.client().post(ORDERS)).await;
    let pause = server.pauses()[0];
    assert!(pause >= Duration::from_secs(7) && pause <= Duration::from_millis(7_210), "{pause:?}");

    let date = Given {
        headers: &[("Retry-After", "Sun, 06 Nov 1994 08:49:57 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")],
        ..given(503)
    };
    let server = Server::that_answers([date, CREATED]);
    new(server.client().post(ORDERS)).await;
    assert!(server.pauses()[0] >= Duration::from_secs(20), "{:?}", server.pauses());
}

#[tokio::test(start_paused = true)]
async fn a_pause_longer_than_the_time_left_is_not_waited_for() {
    let server = Server::that_answers([Given { headers: &[("Retry-After", "3600")], ..given(503) }]);
    let begun = Instant::now();
    let unknown = unknown(server.client().post(ORDERS)).await;
    assert_eq!((unknown.attempts, unknown.doubt), (1, Doubt::NoAnswer));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn when_attempts_are_over_the_last_answer_can_be_read() {
    let server = Server::that_answers([Given { body: "down", ..given(503) }]);
    let unknown = unknown(server.client().post(ORDERS)).await;
    assert_eq!((unknown.attempts, unknown.key.as_str()), (8, server.keys()[7].as_str()));
    let text = unknown.to_string();
    assert!(text.contains(&unknown.key) && text.contains("attempt 8") && text.contains("503"), "{text}");
    match unknown.last {
        LastAttempt::Answered(response) => assert_eq!(response.text().await.unwrap(), "down"),
        last => panic!("{last}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_server_does_not_know_is_not_asked_again() {
    for (code, doubt) in [
        (r#"{"error":{"code":"idempotency_outcome_unknown"}}"#, Doubt::Held),
        (r#"{"error":{"code":"idempotency_response_not_stored"}}"#, Doubt::CarriedOut),
    ] {
        let server = Server::that_answers([Given { body: code, ..given(409) }]);
        assert_eq!(unknown(server.client().post(ORDERS)).await.doubt, doubt);
        assert_eq!(server.keys().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_does_not_settle_what_was_asked_before() {
    let server = Server::that_answers([given(504), given(401)]);
    let unknown = unknown(server.client().post(ORDERS)).await;
    assert_eq!((unknown.attempts, unknown.doubt), (2, Doubt::NoAnswer));
}

//! One request after the other: what `decide` says, over the wire.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::response::IntoResponse;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use futures_util::FutureExt;
use http::StatusCode;
use idempotent_runtime::Deleted;

use super::app::{Gates, MODES, Service, effects, insert, key, post};

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_same_answer_and_runs_nothing() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let key = key();
        let first = service.post(mode, &key, "one").await;
        assert_eq!((first.status, first.replayed()), (201, false));
        assert_eq!(first.headers["idempotency-key"], key.as_str());
        let before = service.runs();
        let again = service.post(mode, &key, "one").await;
        assert!(again.replayed());
        assert_eq!((again.status, &again.body), (201, &first.body));
        assert_eq!(again.headers["idempotency-key"], key.as_str());
        assert_eq!(service.runs(), before);
    }
    assert_eq!(service.effects().await, ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i11_a_missing_or_empty_key_is_refused_and_nothing_is_stored() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        for (sent, code) in [
            (None, "idempotency_key_missing"),
            (Some(""), "idempotency_key_invalid"),
            (Some("  "), "idempotency_key_invalid"),
            (Some("\"\""), "idempotency_key_invalid"),
            (Some("short"), "idempotency_key_invalid"),
            (Some("one-key-here,and-another"), "idempotency_key_invalid"),
        ] {
            let mut request = post(mode, "placeholder", "");
            request.headers_mut().remove("idempotency-key");
            if let Some(sent) = sent {
                request.headers_mut().insert("idempotency-key", sent.parse().unwrap());
            }
            service.send(request).await.expect(400, code);
        }
    }
    assert_eq!((service.records().await, service.runs()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn i46_a_key_has_at_most_255_bytes() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let longest = format!("{mode:-<255}");
        assert_eq!(service.post(mode, &longest, "").await.status, 201);
        service.post(mode, &format!("{longest}x"), "").await.expect(400, "idempotency_key_invalid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_header_lines_and_bytes_outside_ascii_are_no_key() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let mut request = post(mode, &key(), "");
        request.headers_mut().append("idempotency-key", key().parse().unwrap());
        service.send(request).await.expect(400, "idempotency_key_invalid");
        let mut request = post(mode, &key(), "");
        let bytes = http::HeaderValue::from_bytes(b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7").unwrap();
        request.headers_mut().insert("idempotency-key", bytes);
        service.send(request).await.expect(400, "idempotency_key_invalid");
    }
    assert_eq!(service.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_another_body_is_a_conflict() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "amount 10").await;
        let refused = service.post(mode, &key, "amount 20").await.expect(409, "idempotency_key_reused");
        let body: serde_json::Value = serde_json::from_slice(&refused.body).unwrap();
        assert_eq!(body["error"]["type"], "idempotency_error");
        assert_eq!(body["error"]["message"], "Idempotency key already used with different request parameters.");
        assert_eq!(refused.headers["idempotency-key"], key.as_str());
    }
    assert_eq!(service.effects().await, ["amount 10"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i37_another_query_is_a_conflict() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let key = key();
        assert_eq!(service.post(&format!("{mode}?dry_run=1"), &key, "").await.status, 201);
        service.post(mode, &key, "").await.expect(409, "idempotency_key_reused");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_one_key_whatever_the_endpoint() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    assert_eq!(service.post("/tx", &key, "").await.status, 201);
    service.post("/leased", &key, "").await.expect(409, "idempotency_key_reused");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_path_is_the_one_the_client_sent_and_not_what_a_nest_leaves_of_it() {
    let Some(service) = Service::new().await else { return };
    let key = key();
    assert_eq!(service.post("/nested/leased", &key, "").await.status, 201);
    service.post("/leased", &key, "").await.expect(409, "idempotency_key_reused");
    assert!(service.post("/nested/leased", &key, "").await.replayed());
}

#[tokio::test(flavor = "multi_thread")]
async fn i40_another_body_while_the_first_still_runs_is_a_mismatch() {
    let Some(service) = Service::new().await else { return };
    let gates = Gates::new();
    let inside = gates.clone();
    let service = Arc::new(service.on_leased(move |body| {
        let gates = inside.clone();
        async move {
            gates.pass().await;
            (StatusCode::CREATED, body).into_response()
        }
        .boxed()
    }));
    let key = key();
    let first = tokio::spawn({
        let (service, key) = (Arc::clone(&service), key.clone());
        async move { service.post("/leased", &key, "one").await }
    });
    gates.entered().await;
    service.post("/leased", &key, "two").await.expect(409, "idempotency_key_reused");
    let busy = service.post("/leased", &key, "one").await.expect(409, "idempotency_key_in_use");
    assert!((1..=30).contains(&busy.retry_after()), "{busy:?}");
    gates.let_go();
    assert_eq!(first.await.unwrap().status, 201);
    service.post("/leased", &key, "two").await.expect(409, "idempotency_key_reused");
    assert!(service.post("/leased", &key, "one").await.replayed());
    assert_eq!(service.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i41_a_mismatch_is_said_after_a_release_and_after_a_lapsed_lease_too() {
    let Some(mut service) = Service::new().await else { return };
    service.app.lease = Duration::from_millis(1);
    let service = service.on_leased(|_| async { StatusCode::INTERNAL_SERVER_ERROR.into_response() }.boxed());
    let released = key();
    assert_eq!(service.post("/leased", &released, "one").await.status, 500);
    service.post("/leased", &released, "two").await.expect(409, "idempotency_key_reused");

    let lapsed = key();
    assert_eq!(service.post("/leased", &lapsed, "one").await.status, 500);
    service.sql("UPDATE idempotency_keys SET state = 0, lease_until = 0").await;
    service.post("/leased", &lapsed, "two").await.expect(409, "idempotency_key_reused");
    assert_eq!(service.post("/leased", &lapsed, "one").await.status, 500, "taken over");
    assert_eq!(service.runs(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn i59_keys_belong_to_their_user() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let key = key();
        let as_user = |user: &str| {
            let mut request = post(mode, &key, "order");
            request.headers_mut().insert("x-user", user.parse().unwrap());
            request
        };
        let alice = service.send(as_user("alice")).await;
        let bob = service.send(as_user("bob")).await;
        assert!(!alice.replayed() && !bob.replayed());
        assert!(service.send(as_user("bob")).await.replayed());
    }
    assert_eq!(service.runs(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn i58_wrong_then_right_under_one_key_follows_the_classes() {
    let Some(service) = Service::new().await else { return };
    let failing = Arc::new(AtomicBool::new(true));
    for (status, stored) in [
        (400, true),
        (402, true),
        (404, true),
        (422, true),
        (401, false),
        (403, false),
        (408, false),
        (409, false),
        (425, false),
        (429, false),
        (500, false),
        (503, false),
    ] {
        let (tx, leased) = (Arc::clone(&failing), Arc::clone(&failing));
        let answer = move |failing: &AtomicBool| match failing.load(Ordering::SeqCst) {
            true => StatusCode::from_u16(status).unwrap().into_response(),
            false => StatusCode::OK.into_response(),
        };
        let service = service
            .twin()
            .on_tx(move |conn, _| {
                let failing = Arc::clone(&tx);
                async move {
                    insert(conn, "undone").await;
                    answer(&failing)
                }
                .boxed()
            })
            .on_leased(move |_| {
                let failing = Arc::clone(&leased);
                async move { answer(&failing) }.boxed()
            });
        for mode in MODES {
            let key = key();
            failing.store(true, Ordering::SeqCst);
            assert_eq!(service.post(mode, &key, "").await.status, status);
            if mode == "/tx" {
                assert_eq!(service.effects().await, Vec::<String>::new(), "a refusal keeps no writes");
            }
            failing.store(false, Ordering::SeqCst);
            let again = service.post(mode, &key, "").await;
            assert_eq!(
                (again.status, again.replayed()),
                if stored { (status, true) } else { (200, false) },
                "{mode} {status}"
            );
            service.sql("DELETE FROM effects").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i32_every_way_out_completes_or_releases() {
    let Some(service) = Service::new().await else { return };
    let service = service
        .on_tx(|conn, body| {
            async move {
                insert(conn, "effect").await;
                match &body[..] {
                    b"panic" => panic!("on purpose"),
                    b"redirect" => axum::response::Redirect::to("/elsewhere").into_response(),
                    b"error" => StatusCode::BAD_GATEWAY.into_response(),
                    _ => StatusCode::OK.into_response(),
                }
            }
            .boxed()
        })
        .on_leased(|body| {
            async move {
                match &body[..] {
                    b"panic" => panic!("on purpose"),
                    b"redirect" => axum::response::Redirect::to("/elsewhere").into_response(),
                    b"error" => StatusCode::BAD_GATEWAY.into_response(),
                    _ => StatusCode::OK.into_response(),
                }
            }
            .boxed()
        });
    for mode in MODES {
        for (body, status, repeat_is_replayed) in [("fine", 200, true), ("redirect", 303, true), ("error", 502, false)]
        {
            let key = key();
            let first = service.post(mode, &key, body).await;
            let again = service.post(mode, &key, body).await;
            assert_eq!(
                (first.status, again.status, again.replayed()),
                (status, status, repeat_is_replayed),
                "{mode} {body}"
            );
            assert_eq!(first.headers.get("location"), again.headers.get("location"));
        }
        for _ in 0..2 {
            // A panic goes on to the caller, and gives the key back.
            let request = post(mode, "the-key-of-a-panic", "panic");
            service.crash(request).await;
        }
        service.sql("DELETE FROM idempotency_keys WHERE key = 'the-key-of-a-panic'").await;
    }
    assert_eq!(service.effects().await, ["effect", "effect"], "of the good run and the redirect");
}

#[tokio::test(flavor = "multi_thread")]
async fn safe_methods_are_never_claimed_and_idempotent_ones_need_no_key() {
    let Some(service) = Service::new().await else { return };
    for mode in MODES {
        let key = key();
        for _ in 0..2 {
            let get = http::Request::get(mode).header("idempotency-key", &key).body("".into()).unwrap();
            assert!(!service.send(get).await.replayed());
        }
        for method in ["PUT", "DELETE"] {
            let request = |key: Option<&str>| {
                let mut request = http::Request::builder().method(method).uri(mode);
                if let Some(key) = key {
                    request = request.header("idempotency-key", key);
                }
                request.body(axum::body::Body::from(method)).unwrap()
            };
            assert_eq!(service.send(request(None)).await.status, 201);
            assert!(!service.send(request(None)).await.replayed());
            let key = super::app::key();
            assert!(!service.send(request(Some(&key))).await.replayed());
            assert!(service.send(request(Some(&key))).await.replayed(), "a key is honoured");
        }
        let patch = http::Request::patch(mode).body("".into()).unwrap();
        service.send(patch).await.expect(400, "idempotency_key_missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i35_one_megabyte_in_odd_chunks_is_the_same_request() {
    let Some(service) = Service::new().await else { return };
    let service = service.answering(|| StatusCode::CREATED.into_response());
    let megabyte: Vec<u8> = (0..1024 * 1024).map(|n: u32| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
    let chunked = |size: usize| {
        let chunks: Vec<_> = megabyte.chunks(size).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect();
        axum::body::Body::from_stream(futures_util::stream::iter(chunks))
    };
    for mode in MODES {
        let key = key();
        assert_eq!(service.post(mode, &key, chunked(8_191)).await.status, 201);
        assert!(service.post(mode, &key, chunked(77_773)).await.replayed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_beyond_the_limit_is_refused_before_the_claim() {
    let Some(service) = Service::with(8, |builder| builder.body_limit(1_000)).await else { return };
    for mode in MODES {
        let key = key();
        let refused = service.post(mode, &key, vec![b'x'; 1_001]).await.expect(413, "idempotency_body_too_large");
        assert_eq!(refused.headers["idempotency-key"], key.as_str(), "every answer carries the key");
        service.post(mode, &key, vec![b'x'; 4 * 1024 * 1024]).await.expect(413, "idempotency_body_too_large");
        assert_eq!(service.post(mode, &key, vec![b'x'; 1_000]).await.status, 201, "nothing was stored");
    }
    assert_eq!(service.records().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_answered_alike_whether_there_was_something_and_one_of_too_much_is_undone() {
    let Some(service) = Service::new().await else { return };
    let service = service.on_tx(|conn, body| {
        async move {
            let what = std::str::from_utf8(&body).unwrap();
            let rows = diesel::delete(effects::table.filter(effects::what.eq(what))).execute(conn).await;
            Deleted::rows(rows.unwrap()).into_response()
        }
        .boxed()
    });
    for what in ["one", "two", "two"] {
        insert(&mut *service.conn().await, what).await;
    }
    assert_eq!(service.post("/tx", &key(), "one").await.status, 204);
    assert_eq!(service.post("/tx", &key(), "one").await.status, 204);
    assert_eq!(service.post("/tx", &key(), "two").await.status, 500);
    assert_eq!(service.effects().await, ["two", "two"]);
}

//! What is given back, and what is not.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, LINK, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use idempotent_runtime::StoredHeaders;

use super::app::{MODES, Service, key};

fn with_headers(headers: &[(http::HeaderName, &'static str)]) -> Response {
    let mut response = (StatusCode::CREATED, "body").into_response();
    for (name, value) in headers {
        response.headers_mut().append(name, HeaderValue::from_static(value));
    }
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn i51_a_cookie_is_for_one_caller_only() {
    let Some(service) = Service::new().await else { return };
    let service = service.answering(|| with_headers(&[(SET_COOKIE, "session=secret")]));
    for mode in MODES {
        let key = key();
        assert!(service.post(mode, &key, "").await.headers.contains_key(SET_COOKIE));
        let again = service.post(mode, &key, "").await;
        assert!(again.replayed() && !again.headers.contains_key(SET_COOKIE));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i51_a_cookie_is_given_back_by_its_name_alone() {
    let theme = |builder: idempotent_runtime::Builder<_>| builder.headers(StoredHeaders::default().cookie("theme"));
    let Some(service) = Service::with(8, theme).await else { return };
    let service = service.answering(|| {
        with_headers(&[(SET_COOKIE, "theme=dark; Path=/"), (SET_COOKIE, "session=secret"), (SET_COOKIE, "theme=light")])
    });
    for mode in MODES {
        let key = key();
        assert_eq!(service.post(mode, &key, "").await.headers.get_all(SET_COOKIE).iter().count(), 3);
        let again = service.post(mode, &key, "").await;
        assert_eq!(again.headers.get_all(SET_COOKIE).iter().collect::<Vec<_>>(), ["theme=dark; Path=/", "theme=light"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_headers_of_a_list_are_given_back() {
    let list = |builder: idempotent_runtime::Builder<_>| builder.headers(StoredHeaders::only([CONTENT_TYPE]));
    let Some(service) = Service::with(8, list).await else { return };
    let service = service.answering(|| with_headers(&[(LINK, "<a>"), (SET_COOKIE, "a=1")]));
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "").await;
        let again = service.post(mode, &key, "").await;
        assert!(again.replayed() && again.headers.contains_key(CONTENT_TYPE));
        assert!(!again.headers.contains_key(LINK) && !again.headers.contains_key(SET_COOKIE));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_several_values_come_back_in_order_and_once() {
    let allow = |builder: idempotent_runtime::Builder<_>| builder.headers(StoredHeaders::default().allow(&SET_COOKIE));
    let Some(service) = Service::with(8, allow).await else { return };
    let service = service.answering(|| {
        with_headers(&[(LINK, "<b>"), (SET_COOKIE, "b=1"), (LINK, "<a>"), (SET_COOKIE, "a=2"), (LINK, "<b>")])
    });
    for mode in MODES {
        let key = key();
        let first = service.post(mode, &key, "").await;
        let again = service.post(mode, &key, "").await;
        for name in [LINK, SET_COOKIE] {
            let of = |answer: &super::app::Answer| answer.headers.get_all(&name).iter().cloned().collect::<Vec<_>>();
            assert_eq!(of(&first), of(&again));
        }
        assert_eq!(again.headers.get_all(LINK).iter().collect::<Vec<_>>(), ["<b>", "<a>", "<b>"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i53_what_belongs_to_a_connection_is_not_replayed() {
    let Some(service) = Service::new().await else { return };
    let service = service.answering(|| {
        with_headers(&[
            (CONNECTION, "x-hop"),
            (http::HeaderName::from_static("x-hop"), "1"),
            (DATE, "then"),
            (CONTENT_LENGTH, "4"),
        ])
    });
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "").await;
        let again = service.post(mode, &key, "").await;
        assert!(again.replayed());
        for name in ["connection", "x-hop", "date", "transfer-encoding"] {
            assert!(!again.headers.contains_key(name), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i53_a_streamed_answer_is_framed_rightly_over_http_1_and_2() {
    let Some(service) = Service::new().await else { return };
    let service = service.answering(|| {
        let chunks = (0..5).map(|n| Ok::<_, std::io::Error>(vec![b'0' + n; 3_000]));
        Body::from_stream(futures_util::stream::iter(chunks)).into_response()
    });
    let serving = service.serve().await;
    let address = serving.address;
    let clients = [
        reqwest::Client::builder().http1_only().build().unwrap(),
        reqwest::Client::builder().http2_prior_knowledge().build().unwrap(),
    ];
    for mode in MODES {
        let key = key();
        let mut bodies = Vec::new();
        for client in [&clients[0], &clients[0], &clients[1], &clients[1]] {
            let request = client.post(format!("http://{address}{mode}")).header("idempotency-key", &key);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200);
            let length = response.headers().get(CONTENT_LENGTH).map(|length| length.to_str().unwrap().to_owned());
            let replayed = response.headers().contains_key("idempotent-replayed");
            assert_eq!(replayed, !bodies.is_empty());
            assert!(response.headers().get_all(DATE).iter().count() <= 1);
            assert!(length.is_none_or(|length| length == "15000"));
            bodies.push(response.bytes().await.unwrap());
        }
        assert!(bodies[0].len() == 15_000 && bodies.iter().all(|body| *body == bodies[0]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i54_every_byte_comes_back() {
    let Some(service) = Service::new().await else { return };
    let all: Vec<u8> = (0..=255).collect();
    let body = all.clone();
    let service = service.answering(move || {
        // In several chunks, as a stream.
        let chunks: Vec<_> = body.chunks(7).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect();
        ([(CONTENT_TYPE, "application/pdf")], Body::from_stream(futures_util::stream::iter(chunks))).into_response()
    });
    for mode in MODES {
        let key = key();
        let first = service.post(mode, &key, "").await;
        let again = service.post(mode, &key, "").await;
        assert!(again.replayed());
        assert_eq!((&first.body[..], &again.body[..]), (&all[..], &all[..]));
        assert_eq!(again.headers[CONTENT_TYPE], "application/pdf");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i54_an_event_stream_leaves_a_tombstone_and_not_an_empty_answer() {
    let Some(service) = Service::new().await else { return };
    let service =
        service.answering(|| ([(CONTENT_TYPE, "text/event-stream; charset=utf-8")], "data: 1\n\n").into_response());
    for mode in MODES {
        let key = key();
        let first = service.post(mode, &key, "").await;
        assert_eq!((first.status, first.text()), (200, "data: 1\n\n"));
        service.post(mode, &key, "").await.expect(409, "idempotency_response_not_stored");
        service.post(mode, &key, "other").await.expect(409, "idempotency_key_reused");
    }
    assert_eq!((service.runs(), service.effects().await.len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn i54_a_body_that_breaks_off_is_a_server_error_and_releases() {
    let Some(service) = Service::new().await else { return };
    let service = service.answering(|| {
        let broken = [Ok("half"), Err(std::io::Error::other("the source is gone"))];
        Body::from_stream(futures_util::stream::iter(broken)).into_response()
    });
    for mode in MODES {
        let key = key();
        for _ in 0..2 {
            assert_eq!(service.post(mode, &key, "").await.status, 500);
        }
    }
    assert_eq!((service.runs(), service.effects().await.len()), (4, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn i55_no_content_comes_back_as_no_content() {
    let Some(service) = Service::new().await else { return };
    let service = service.answering(|| StatusCode::NO_CONTENT.into_response());
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "").await;
        let again = service.post(mode, &key, "").await;
        assert_eq!((again.status, again.replayed(), again.body.len()), (204, true, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i57_an_answer_beyond_the_limit_is_passed_on_and_never_made_again() {
    let Some(service) = Service::with(8, |builder| builder.response_limit(1_000)).await else { return };
    let service = service.answering(|| {
        let chunks = (0..11).map(|n| Ok::<_, std::io::Error>(vec![b'0' + n; 100]));
        Body::from_stream(futures_util::stream::iter(chunks)).into_response()
    });
    for mode in MODES {
        let key = key();
        let first = service.post(mode, &key, "").await;
        assert_eq!((first.status, first.body.len()), (200, 1_100), "passed on whole");
        assert!(first.body.ends_with(&[b'0' + 10; 100]) && first.body.starts_with(b"000"));
        service.post(mode, &key, "").await.expect(409, "idempotency_response_not_stored");
    }
    assert_eq!((service.runs(), service.effects().await.len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_just_the_limit_is_stored() {
    let Some(service) = Service::with(8, |builder| builder.response_limit(1_000)).await else { return };
    let service = service.answering(|| vec![b'x'; 1_000].into_response());
    for mode in MODES {
        let key = key();
        service.post(mode, &key, "").await;
        assert_eq!(service.post(mode, &key, "").await.body.len(), 1_000);
    }
}

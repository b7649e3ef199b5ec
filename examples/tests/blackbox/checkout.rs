//! A token is issued first, and then good for one run: the specification's two phases, and what else may be tried.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use crate::answer::Answer;
use crate::ask::{Ask, list};
use crate::database::{Database, execute};
use crate::program::{Program, Setup};
use crate::races::at_once;

/// `checkout` with each store of tokens: the database, and the Redis of `TEST_REDIS_URL` if there is one.
fn checkouts() -> Vec<(Database, Program)> {
    let started = |on_redis: Option<String>| {
        let database = Database::new();
        let setup = Setup::checkout(&database);
        let checkout = on_redis.into_iter().fold(setup, |setup, url| setup.env("REDIS_URL", url)).start();
        (database, checkout)
    };
    let redis = std::env::var("TEST_REDIS_URL").ok();
    assert!(
        redis.is_some() || std::env::var_os("TEST_REQUIRE_ALL").is_none(),
        "skipped: redis, because TEST_REDIS_URL is not set"
    );
    std::iter::once(None).chain(redis.map(Some)).map(started).collect()
}

const FIELDS: &str = "item=book&amount=2000&currency=usd";

async fn issued(user: &str, checkout: &Program) -> String {
    let answer = Ask::post("/tokens").by(user).send(checkout).await.expect(201);
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "a token is for one use");
    assert_eq!(answer.json()["expires_in"], 3600);
    answer.json()["token"].as_str().expect("a token").to_owned()
}

/// As a tool submits: JSON, and the token in a header.
fn submit(token: &str) -> Ask {
    let book = json!({ "item": "book", "amount": 2000, "currency": "usd" });
    Ask::post("/checkout").header("Idempotency-Token", token).json(&book)
}

/// As a browser does.
fn submit_form(token: &str, fields: &str) -> Ask {
    Ask::post("/checkout").header("Accept", "text/html").form(&format!("token={token}&{fields}"))
}

async fn orders(user: &str, checkout: &Program) -> usize {
    list("/orders", user, checkout).await.len()
}

/// The values of the fields `token` of a page, in order.
fn tokens_of(page: &str) -> Vec<String> {
    let fields = page.split(r#"name="token" value=""#).skip(1);
    fields.map(|rest| rest.split('"').next().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn assert_refused(answer: Answer, why: &str) {
    assert_eq!(answer.expect(403).code(), "idempotency_token_invalid", "{why}");
}

#[tokio::test]
async fn a_token_is_issued_and_then_submitted_once() {
    for (_database, checkout) in checkouts() {
        let token = issued("alice", &checkout).await;
        assert_eq!(orders("alice", &checkout).await, 0, "nothing has happened yet");
        let first = submit(&token).send(&checkout).await.expect(201).fresh();
        let order = json!({ "id": 1, "item": "book", "amount": 2000, "currency": "usd", "status": "created" });
        assert_eq!((first.json(), first.header("Location")), (order, Some("/?order=1")));
        for _ in 0..3 {
            let again = submit(&token).send(&checkout).await.expect(201).replayed();
            assert_eq!(
                (again.body, again.headers.get("Location")),
                (first.body.clone(), first.headers.get("Location"))
            );
        }
        assert_eq!(orders("alice", &checkout).await, 1);
        submit(&issued("alice", &checkout).await).send(&checkout).await.expect(201).fresh();
        assert_eq!(orders("alice", &checkout).await, 2, "another token, another order");
    }
}

#[tokio::test]
async fn a_form_is_answered_with_a_redirect_and_its_repeat_with_the_same_one() {
    for (_database, checkout) in checkouts() {
        let token = issued("alice", &checkout).await;
        let first = submit_form(&token, FIELDS).send(&checkout).await.expect(303).fresh();
        let again = submit_form(&token, FIELDS).send(&checkout).await.expect(303).replayed();
        for (answer, outcome) in [(first, "new"), (again, "replayed")] {
            assert_eq!(answer.header("Location"), Some("/?order=1"));
            let cookie = answer.header("Set-Cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie");
            assert_eq!(cookie, format!("outcome={outcome}-1"));
            let page = Ask::get("/?order=1").header("Cookie", cookie).send(&checkout).await.expect(200);
            assert!(page.body.contains(&format!(r#"data-outcome="{outcome}""#)), "{page:?}");
            assert!(page.header("Set-Cookie").is_some_and(|cookie| cookie.starts_with("outcome=; ")), "shown once");
        }
        assert_eq!(orders("alice", &checkout).await, 1);
    }
}

#[tokio::test]
async fn another_users_token_is_refused() {
    for (_database, checkout) in checkouts() {
        let token = issued("alice", &checkout).await;
        assert_refused(submit(&token).by("bob").send(&checkout).await, "not used yet");
        submit(&token).send(&checkout).await.expect(201).fresh();
        assert_refused(submit(&token).by("bob").send(&checkout).await, "used, and its answer is not for him");
        assert_eq!((orders("alice", &checkout).await, orders("bob", &checkout).await), (1, 0));
        submit(&token).by_nobody().send(&checkout).await.expect(401);
        Ask::post("/tokens").by_nobody().send(&checkout).await.expect(401);
    }
}

#[tokio::test]
async fn a_token_on_another_route_is_refused() {
    for (_database, checkout) in checkouts() {
        submit(&issued("alice", &checkout).await).send(&checkout).await.expect(201);
        let to_order = issued("alice", &checkout).await;
        let pay = |token: &str| Ask::post("/orders/1/pay").header("Idempotency-Token", token);
        assert_refused(pay(&to_order).send(&checkout).await, "to order, and not to pay");
        let page = Ask::get("/?order=1").send(&checkout).await.expect(200);
        let [to_pay] = &tokens_of(&page.body)[..] else { panic!("{page:?}") };
        assert_refused(submit(to_pay).send(&checkout).await, "to pay, and not to order");
        assert_eq!(pay(to_pay).send(&checkout).await.expect(200).fresh().json()["status"], "paid");
        pay(to_pay).send(&checkout).await.expect(200).replayed();
        submit(&to_order).send(&checkout).await.expect(201).fresh();
        assert_eq!(orders("alice", &checkout).await, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_sent_twenty_times_at_once_is_one_order() {
    for (_database, checkout) in checkouts() {
        let checkout = Arc::new(checkout);
        let token = issued("alice", &checkout).await;
        let answers = at_once(vec![submit(&token); 20], &[&checkout]).await;
        let bodies = answers.iter().map(|answer| answer.clone().expect(201).body).collect::<BTreeSet<_>>();
        assert_eq!(bodies.len(), 1);
        assert_eq!(answers.iter().filter(|answer| !answer.is_replayed()).count(), 1);
        assert_eq!(orders("alice", &checkout).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_click_while_the_first_answer_is_on_its_way_gets_the_same_answer() {
    let database = Database::new();
    let checkout = Setup::checkout(&database).start();
    let fields = format!("token={}&{FIELDS}", issued("alice", &checkout).await);
    let click = || Ask::post("/checkout?network=slow").header("Accept", "text/html").form(&fields).send(&checkout);
    let (first, second) = tokio::join!(click(), async {
        while orders("alice", &checkout).await == 0 {
            tokio::task::yield_now().await;
        }
        click().await
    });
    for answer in [first.expect(303).fresh(), second.expect(303).replayed()] {
        assert_eq!(answer.header("Location"), Some("/?order=1&network=slow"));
    }
    assert_eq!(orders("alice", &checkout).await, 1);
}

#[tokio::test]
async fn a_token_whose_time_is_over_is_refused_used_or_not() {
    let database = Database::new();
    let checkout = Setup::checkout(&database).start();
    let (used, unused) = (issued("alice", &checkout).await, issued("alice", &checkout).await);
    submit(&used).send(&checkout).await.expect(201);
    execute(&database, "UPDATE idempotency_keys SET expires_at = 1").await;
    for token in [&used, &unused] {
        assert_refused(submit(token).send(&checkout).await, "expired");
    }
    assert_eq!(orders("alice", &checkout).await, 1);
}

#[tokio::test]
async fn an_altered_or_guessed_token_is_refused() {
    for (_database, checkout) in checkouts() {
        let token = issued("alice", &checkout).await;
        for place in [0, 21, 42] {
            for bit in [1, 4] {
                let mut altered = token.clone().into_bytes();
                altered[place] ^= bit;
                let altered = String::from_utf8(altered).expect("still ASCII");
                assert_refused(submit(&altered).send(&checkout).await, &altered);
            }
        }
        for guessed in ["A".repeat(43), "x".into(), String::new(), "1".into(), "' OR 1=1 --".into(), "token:00".into()]
        {
            assert_refused(submit(&guessed).send(&checkout).await, &guessed);
        }
        let missing = Ask::post("/checkout").header("Accept", "application/json").form(FIELDS).send(&checkout).await;
        assert_eq!(missing.expect(400).code(), "idempotency_token_missing");
        assert_eq!(orders("alice", &checkout).await, 0);
        submit(&token).send(&checkout).await.expect(201).fresh();
    }
}

#[tokio::test]
async fn a_token_that_was_used_for_another_order_is_refused() {
    for (_database, checkout) in checkouts() {
        let token = issued("alice", &checkout).await;
        submit_form(&token, FIELDS).send(&checkout).await.expect(303);
        let other = submit_form(&token, "item=lamp&amount=2000&currency=usd").send(&checkout).await.expect(409);
        assert!(other.body.contains("This form was sent before, with something else in it."), "{other:?}");
        assert_eq!(orders("alice", &checkout).await, 1);
    }
}

#[tokio::test]
async fn a_form_that_is_filled_in_wrongly_may_be_corrected() {
    for (_database, checkout) in checkouts() {
        let token = issued("alice", &checkout).await;
        for wrong in ["item=book", "item=book&amount=0&currency=usd", "item=book&amount=2000&currency=xxx"] {
            let answer = submit_form(&token, wrong).send(&checkout).await.expect(422);
            assert!(answer.body.contains("That did not work"), "{answer:?}");
        }
        submit_form(&token, FIELDS).send(&checkout).await.expect(303).fresh();
        assert_eq!(orders("alice", &checkout).await, 1);
    }
}

#[tokio::test]
async fn a_visitor_is_known_by_a_cookie_and_nobody_else_can_use_the_pages_form() {
    let database = Database::new();
    let checkout = Setup::checkout(&database).start();
    let page = async || {
        let page = Ask::get("/").by_nobody().send(&checkout).await.expect(200);
        let cache = page.header("Cache-Control").expect("a rule");
        assert!(!cache.contains("no-store"), "Back is to show this form, and no fresh one");
        let cookie = page.header("Set-Cookie").expect("a cookie").to_owned();
        for attribute in ["; HttpOnly", "; SameSite=Lax", "; Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        (cookie.split(';').next().unwrap_or_default().to_owned(), tokens_of(&page.body)[0].clone())
    };
    let ((ann, token), (ben, _)) = (page().await, page().await);
    let by = |cookie: &str| submit_form(&token, FIELDS).by_nobody().header("Cookie", cookie);
    by(&ben).send(&checkout).await.expect(403);
    by("visitor=ann").send(&checkout).await.expect(401);
    submit_form(&token, FIELDS).by_nobody().send(&checkout).await.expect(401);
    by(&ann).send(&checkout).await.expect(303).fresh();
    by(&ben).send(&checkout).await.expect(403);
    let seen_by = async |cookie: &str| {
        Ask::get("/?order=1").by_nobody().header("Cookie", cookie).send(&checkout).await.expect(200).body
    };
    assert!(seen_by(&ann).await.contains("Order 1: book"));
    assert!(!seen_by(&ben).await.contains("Order 1"));
}

#[tokio::test]
async fn the_page_has_the_buttons_that_the_machine_allows_and_what_has_happened() {
    let database = Database::new();
    let checkout = Setup::checkout(&database).start();
    for _ in 0..2 {
        submit(&issued("alice", &checkout).await).send(&checkout).await.expect(201);
    }
    let page = async || Ask::get("/").send(&checkout).await.expect(200).body;
    let has = |page: &str, order: i64| {
        let offers = |event: &&str| page.contains(&format!(r#"action="/orders/{order}/{event}""#));
        ["pay", "ship", "cancel"].into_iter().filter(offers).collect::<Vec<_>>()
    };
    assert_eq!((has(&page().await, 1), has(&page().await, 2)), (vec!["pay", "cancel"], vec!["pay", "cancel"]));
    let pay = tokens_of(&page().await).pop().expect("that of the first order");
    let paid = Ask::post("/orders/1/pay").form(&format!("token={pay}")).send(&checkout).await.expect(303);
    assert_eq!(paid.header("Location"), Some("/?order=1"));
    assert_eq!((has(&page().await, 1), has(&page().await, 2)), (vec!["ship", "cancel"], vec!["pay", "cancel"]));
    let fire = |path: &str| Ask::post(path).header("Accept", "text/html").form("");
    for _ in 0..2 {
        let shipped = fire("/orders/1/ship").send(&checkout).await.expect(303);
        assert_eq!(shipped.header("Set-Cookie"), None, "no token, and no word of new or replayed");
        fire("/orders/2/cancel").send(&checkout).await.expect(303);
    }
    let page = page().await;
    assert_eq!((has(&page, 1), has(&page, 2)), (vec![], vec![]));
    for happened in ["create → created", "pay → paid", "ship → shipped", "cancel → cancelled"] {
        assert!(page.contains(happened), "{happened}: {page}");
    }
    let refused = fire("/orders/2/ship").send(&checkout).await.expect(409);
    assert!(refused.body.contains("The order has moved on in the meantime"), "{refused:?}");
    fire("/orders/1/ship").by("bob").send(&checkout).await.expect(404);
}

#[tokio::test]
async fn what_visitors_write_is_shown_as_text() {
    let database = Database::new();
    let checkout = Setup::checkout(&database).start();
    let attack = "item=%3Cscript%3Ealert(1)%3C/script%3E%22%27&amount=2000&currency=usd";
    submit_form(&issued("alice", &checkout).await, attack).send(&checkout).await.expect(303);
    let page = Ask::get("/").send(&checkout).await.expect(200);
    assert!(page.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;"), "{page:?}");
    assert!(!page.body.contains("<script>"), "{page:?}");
    let policy = page.header("Content-Security-Policy").expect("a policy");
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_an_answer_on_the_slow_network() {
    let database = Database::new();
    let checkout = Setup::checkout(&database).start();
    let token = issued("alice", &checkout).await;
    let slow = Ask::post("/checkout?network=slow").header("Accept", "text/html");
    let (answer, ()) = tokio::join!(slow.form(&format!("token={token}&{FIELDS}")).send(&checkout), async {
        while orders("alice", &checkout).await == 0 {
            tokio::task::yield_now().await;
        }
        checkout.terminate();
    });
    assert_eq!(answer.expect(303).header("Location"), Some("/?order=1&network=slow"));
    assert_eq!(checkout.exit_code(), Some(0));
}

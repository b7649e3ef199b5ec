//! A state that is set and unset, and an event that counts once.

use std::sync::Arc;

use serde_json::json;

use crate::ask::{Ask, new_key};
use crate::database::{Database, number};
use crate::program::{Program, Setup};
use crate::races::at_once;

fn like(post: i64) -> Ask {
    Ask::post(format!("/posts/{post}/likes"))
}

fn unlike(post: i64) -> Ask {
    Ask::delete(format!("/posts/{post}/likes"))
}

async fn likes_of(post: i64, likes: &Program) -> i64 {
    let answer = Ask::get(format!("/posts/{post}/likes")).by_nobody().send(likes).await.expect(200);
    answer.json()["likes"].as_i64().expect("a number")
}

async fn points_of(author: &str, likes: &Program) -> i64 {
    let answer = Ask::get(format!("/authors/{author}")).by_nobody().send(likes).await.expect(200);
    answer.json()["points"].as_i64().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_likes_at_once_are_one_row_and_one_point() {
    let database = Database::new();
    let likes = Arc::new(Setup::likes(&database).start());
    for answer in at_once(vec![like(1); 20], &[&likes]).await {
        assert_eq!(answer.expect(200).json(), json!({ "post": 1, "likes": 1 }));
    }
    assert_eq!((likes_of(1, &likes).await, points_of("ann", &likes).await), (1, 1));
    assert_eq!(number(&database, "COUNT(*) AS number FROM likes").await, 1);
}

#[tokio::test]
async fn liked_again_after_an_unlike_it_counts_and_earns_no_second_point() {
    let database = Database::new();
    let likes = Setup::likes(&database).start();
    for _ in 0..2 {
        like(1).send(&likes).await.expect(200);
        assert_eq!((likes_of(1, &likes).await, points_of("ann", &likes).await), (1, 1));
        for _ in 0..2 {
            unlike(1).send(&likes).await.expect(200);
            assert_eq!((likes_of(1, &likes).await, points_of("ann", &likes).await), (0, 1));
        }
    }
    like(1).by("bob").send(&likes).await.expect(200);
    like(3).by("bob").send(&likes).await.expect(200);
    assert_eq!((likes_of(1, &likes).await, points_of("ann", &likes).await), (1, 3), "other users, other posts");
    assert_eq!(points_of("ben", &likes).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn likes_and_unlikes_at_once_earn_one_point() {
    let database = Database::new();
    let likes = Arc::new(Setup::likes(&database).start());
    let asks = (0..24).map(|n| if n % 2 == 0 { like(2) } else { unlike(2) }).collect();
    for answer in at_once(asks, &[&likes]).await {
        answer.expect(200);
    }
    assert_eq!(points_of("ben", &likes).await, 1);
    unlike(2).send(&likes).await.expect(200);
    assert_eq!(likes_of(2, &likes).await, 0);
}

#[tokio::test]
async fn a_retry_that_comes_after_the_unlike_is_no_new_like() {
    let database = Database::new();
    let likes = Setup::likes(&database).start();
    let key = new_key();
    like(1).key(&key).send(&likes).await.expect(200).fresh();
    unlike(1).send(&likes).await.expect(200);
    like(1).key(&key).send(&likes).await.expect(200).replayed();
    assert_eq!(likes_of(1, &likes).await, 0);
}

#[tokio::test]
async fn what_cannot_be_liked_is_refused() {
    let database = Database::new();
    let likes = Setup::likes(&database).start();
    like(1).by_nobody().send(&likes).await.expect(401);
    like(99).send(&likes).await.expect(404);
    unlike(99).send(&likes).await.expect(404);
    Ask::get("/authors/nobody").send(&likes).await.expect(404);
    assert_eq!((likes_of(1, &likes).await, points_of("ann", &likes).await), (0, 0));
}

//! Nothing of the prelude is taken for granted, and nothing of the user's is taken for ours.
#![no_implicit_prelude]
#![allow(dead_code)]

use ::ui_tests::{Db, Error, Event, Json, Order, StatusCode, User, idempotent};

struct Result;
struct Ok;
struct Err;
struct Some;
struct None;
struct Option;
struct Box;
struct String;
struct Vec;
struct Send;
struct From;
struct Into;
mod core {}
mod std {}
mod axum {}
mod idempotent_runtime {}

#[idempotent(key = header, ttl = "72h", scope = user.id)]
async fn transactional(user: User, #[tx] _conn: &mut Db, Json(_order): Json<Order>) -> StatusCode {
    StatusCode::OK
}

#[idempotent(key = header, ttl = "72h")]
async fn leased() -> StatusCode {
    StatusCode::OK
}

#[idempotent(key = event.id, ttl = "7d")]
async fn consume(#[tx] _conn: &mut Db, event: &Event) -> ::core::result::Result<Order, Error> {
    ::core::result::Result::Ok(Order { id: 1 })
}

#[idempotent(key = event.id, ttl = "7d", lease = "1s")]
async fn job(event: &Event) -> ::core::result::Result<Order, Error> {
    ::core::result::Result::Ok(Order { id: 1 })
}

fn main() {}

//! Nothing of the prelude is taken for granted, and nothing of the user's is taken for ours.
#![no_implicit_prelude]
#![deny(warnings)]
#![allow(dead_code, non_camel_case_types)]

use ::ui_tests::{StateMachine, schema};

struct Result;
struct Ok;
struct Err;
struct Some;
struct None;
struct Option;
struct String;
struct Send;
struct From;
struct Graph;
struct State;
struct str;
struct usize;
struct bool;
struct u8;
mod core {}
mod std {}
mod diesel {}
mod serde {}
mod idempotent_runtime {}

pub struct Order {
    total: i64,
}

fn is_dear(order: &Order) -> ::core::primitive::bool {
    order.total > 100
}

#[derive(StateMachine, ::core::fmt::Debug, ::core::clone::Clone)]
#[state_machine(
    table = schema::orders, column = status, id = id,
    history = schema::order_history, history_id = order_id,
    version = version, entered = entered_at, key = charge_key,
    row = Order,
    initial = Created,
    expires(after = "1h", to = Expired, from = Created),
    transitions(
        pay: Created => Paid if is_dear,
        Created => Expired,
    ),
)]
pub enum OrderStatus {
    Created,
    #[state(alias = "payed")]
    Paid,
    Expired,
    #[state(other)]
    Unknown(::std::string::String),
}

fn main() {
    let _ = OrderStatus::pay();
}

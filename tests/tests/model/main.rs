//! A model of the protocol, over the real [`decide`](idempotent_runtime::decide): every interleaving of a few clients
//! under one key, with crashes, pauses, a clock, a sweep and an operator.
//!
//! What is explored is complete but for the number of clients and for one bound: how often one row is claimed. Times are
//! kept as what is left of them, so that the clock never runs out, and clients ask as often as they like. The statements
//! are those of `store/sql.rs`, of which another test says that they agree with `decide`. Left out are recorded steps,
//! the waiting for a first request, and the connection that is lost: to others that is a crash, before or after.

#![allow(missing_docs, reason = "a test says in its name what it shows")]

mod broken;
mod client;
mod event;
mod properties;
mod protocol;
mod real;
mod row;
mod state;
mod step;
mod symmetry;

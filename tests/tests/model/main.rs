//! A model of the protocol, over the real [`decide`](idempotent_runtime::decide): every interleaving of a few clients
//! under one key, with crashes, pauses, a clock, a sweep and an operator.
//!
//! What is explored is complete but for one bound: how often a row is claimed. Times are kept as what is left of them,
//! so that the clock never runs out, and clients ask as often as they like.

#![allow(missing_docs, reason = "a test says in its name what it shows")]

mod broken;
mod client;
mod event;
mod properties;
mod protocol;
mod real;
mod row;
mod step;
mod symmetry;

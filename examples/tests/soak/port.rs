//! A port to be killed and started on again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::net::TcpListener;

/// A port that nobody uses, below those that the system gives to connections: while its program is down none of them
/// may take it.
pub(crate) fn free() -> u16 {
    for attempt in 0..200_u64 {
        let port = 10_000 + u16::try_from(RandomState::new().hash_one(attempt) % 20_000).expect("a small number");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}

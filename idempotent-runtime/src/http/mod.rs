//! HTTP, whatever the framework: what is read of a request, what is kept of a response, and the toolkit's own answers.

pub(crate) mod answers;
mod capture;
mod request;
pub(crate) mod run;
pub(crate) mod transition;

pub(crate) use capture::{Captured, capture};
pub(crate) use request::{Asked, claim_of, sent_key};

/// An answer of the toolkit itself.
pub(crate) type Response = http::Response<bytes::Bytes>;

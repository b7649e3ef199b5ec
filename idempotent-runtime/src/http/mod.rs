//! HTTP, whatever the framework: what is read of a request, what is kept of a response, and the toolkit's own answers.

pub(crate) mod answers;
mod capture;
mod expiry;
mod request;
pub(crate) mod run;
#[cfg(any(feature = "axum", feature = "tower"))]
mod to_its_end;
pub(crate) mod token;
pub(crate) mod transition;

#[cfg(any(feature = "actix", feature = "tower"))]
pub(crate) use capture::Captured;
pub(crate) use capture::capture;
pub(crate) use expiry::Expiry;
#[cfg(any(feature = "axum", feature = "tower"))]
pub(crate) use request::read;
pub(crate) use request::{Asked, claim_of, sent_key};
#[cfg(feature = "tower")]
pub(crate) use request::{Claimed, runs_unclaimed};
#[cfg(any(feature = "axum", feature = "tower"))]
pub(crate) use to_its_end::to_its_end;

/// An answer of the toolkit itself.
pub(crate) type Response = http::Response<bytes::Bytes>;

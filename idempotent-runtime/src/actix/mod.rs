//! Handlers of actix-web 4. What they are given and answer with stays on its thread: nothing here asks it to be `Send`.

mod answers;
mod body;
mod call;
mod convert;
mod own_task;
mod serve;
mod token;
mod transition;

pub use actix_web::HttpResponse as Response;
pub use answers::respond;
pub use call::{Call, extractor};
pub use serve::{leased, stepped, transactional};

use std::future::Future;

use futures_util::future::LocalBoxFuture;

/// Boxes a future where the user wrote it.
pub fn boxed<'f, F: Future + 'f>(future: F) -> LocalBoxFuture<'f, F::Output> {
    Box::pin(future)
}

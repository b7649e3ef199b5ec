//! Answers as actix-web gives them.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, Responder, ResponseError};

use super::body::{Given, Made};
use super::convert::{headers_of, insert, ours, status_of};
use crate::answer::Keep;
use crate::error::Error;
use crate::global;
use crate::http::{self as shared, Expiry, answers};
use crate::run::Ran;
use crate::settings::{Form, Settings};

/// What an annotated handler of actix-web answers with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no answer of actix-web",
    label = "this cannot be sent",
    note = "return an `HttpResponse`, or what is an `actix_web::Responder`; of a `Result<T, E>` the value is one, and the error an `actix_web::ResponseError`"
)]
pub trait Respond {
    #[doc(hidden)]
    fn respond(self, request: &HttpRequest) -> HttpResponse;
}

#[diagnostic::do_not_recommend]
impl<R: Responder> Respond for R {
    fn respond(self, request: &HttpRequest) -> HttpResponse {
        self.respond_to(request).map_into_boxed_body()
    }
}

/// The response of what a handler has returned.
pub fn respond(answer: impl Respond, request: &HttpRequest) -> HttpResponse {
    answer.respond(request)
}

/// The answer of a request that was refused.
pub(super) fn refuse(error: &Error, form: &Form) -> HttpResponse {
    ours(answers::refuse(error, form))
}

/// What is to be kept of a handler's response, and the response to give.
pub(super) async fn capture(
    response: HttpResponse,
    keep: Keep,
    expiry: Option<Expiry>,
    settings: &Settings,
) -> Ran<HttpResponse> {
    let (status, headers) = (status_of(&response), headers_of(response.headers()));
    let (head, body) = response.into_parts();
    let size = body.size();
    let Ran { value, end } = shared::capture(status, &headers, Made(body), keep, settings).await;
    let value = match value {
        Some(body) => {
            let mut response = head.set_body(BoxBody::new(Given::new(body, size)));
            if let Some((name, value)) = expiry.and_then(|expiry| expiry.header(&end)) {
                insert(&mut response, &name, &value);
            }
            response
        }
        None => HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR),
    };
    Ran { value, end }
}

/// The answer that the toolkit itself gives, in the [`Profile`](crate::Profile) of the first engine that was installed:
/// for handlers whose own errors wrap this one.
impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status_under(global::form().profile).as_u16())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        refuse(self, &global::form())
    }
}

/// As that of the error in a `Result`.
impl Responder for Error {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::from_error(self)
    }
}

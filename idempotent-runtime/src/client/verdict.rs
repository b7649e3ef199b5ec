//! What an answer means for the call: pure, and no I/O.

use http::StatusCode;
use http::header::HeaderMap;
use serde_json::Value;

use super::outcome::Doubt;
use crate::answer::REPLAYED;
use crate::error::Error;
use crate::key::KeyError;

/// What an answer means for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The answer of the run that this attempt began.
    New,
    /// The answer of an earlier run.
    Replayed,
    /// The key names another request. Trying again cannot help.
    Reused,
    /// Neither an answer, nor will there be one.
    Unknown(Doubt),
    /// Not now; and what is known if there is never another.
    Again(Doubt),
}

/// Reads an answer, whichever profile it is in. A replay is final whatever its status: it would only be replayed again.
/// `in_doubt` says whether an earlier attempt may have reached the server: 401 and 403 say who may ask, and nothing of
/// what became of that one; nor do refusals of this toolkit that come before it looks at what is stored.
pub(super) fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8], in_doubt: bool) -> Verdict {
    if headers.get(REPLAYED).is_some_and(|marker| marker == "true") {
        return Verdict::Replayed;
    }
    let said = Said::of(body);
    match status.as_u16() {
        401 | 403 if in_doubt => Verdict::Unknown(Doubt::NoAnswer),
        400..500 if in_doubt && said.is_before_the_record() => Verdict::Unknown(Doubt::NoAnswer),
        503 if said.is(&Error::ResponseUnreadable) => Verdict::Again(Doubt::CarriedOut),
        408 | 425 | 429 | 500.. => Verdict::Again(Doubt::NoAnswer),
        409 if said.is(&Error::OutcomeUnknown) => Verdict::Unknown(Doubt::Held),
        409 if said.is(&Error::ResponseNotStored) => Verdict::Unknown(Doubt::CarriedOut),
        409 if said.is(&Error::LeaseLost) || said.retryable() => Verdict::Again(Doubt::NoAnswer),
        400..500 if said.is(&Error::KeyReused) => Verdict::Reused,
        _ => Verdict::New,
    }
}

/// What a refusal says, as the error object of Stripe's API or as problem details of RFC 9457.
struct Said(Value);

impl Said {
    fn of(body: &[u8]) -> Self {
        Self(serde_json::from_slice(body).unwrap_or_default())
    }

    /// Whether it is this refusal: by its code, or, from another server that follows the IETF's draft, by its title.
    fn is(&self, error: &Error) -> bool {
        match self.code() {
            Some(code) => code == error.code(),
            None => self.0["title"] == error.title(),
        }
    }

    fn code(&self) -> Option<&str> {
        let Self(said) = self;
        said["error"]["code"].as_str().or(said["code"].as_str())
    }

    /// Whether nobody has looked at what is stored.
    fn is_before_the_record(&self) -> bool {
        let refusals = [
            Error::KeyMissing,
            Error::KeyInvalid(KeyError::NotAscii),
            Error::TokenMissing,
            Error::ScopeMissing,
            Error::BodyTooLarge { limit: 0 },
            Error::BodyUnreadable,
        ];
        self.code().is_some_and(|code| refusals.iter().any(|refusal| refusal.code() == code))
    }

    fn retryable(&self) -> bool {
        self.0["retryable"] == true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Profile;
    use std::time::Duration;

    fn of(status: u16, body: &str) -> Verdict {
        judge(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), false)
    }

    fn stripe(error: &Error) -> Verdict {
        let body = format!(r#"{{"error":{{"type":"idempotency_error","code":"{}","message":"…"}}}}"#, error.code());
        of(error.status().as_u16(), &body)
    }

    fn ietf(error: &Error) -> Verdict {
        let (code, retryable) = (error.code(), error.is_retryable());
        let body = format!(r#"{{"type":"about:blank","code":"{code}","retryable":{retryable}}}"#);
        of(error.status_under(Profile::Ietf).as_u16(), &body)
    }

    #[test]
    fn the_refusals_of_this_toolkit_are_understood_in_both_profiles() {
        for (error, expected) in [
            (Error::KeyInUse { retry_after: Duration::ZERO }, Verdict::Again(Doubt::NoAnswer)),
            (Error::LeaseLost, Verdict::Again(Doubt::NoAnswer)),
            (Error::unavailable("down"), Verdict::Again(Doubt::NoAnswer)),
            (Error::ResponseUnreadable, Verdict::Again(Doubt::CarriedOut)),
            (Error::KeyReused, Verdict::Reused),
            (Error::OutcomeUnknown, Verdict::Unknown(Doubt::Held)),
            (Error::ResponseNotStored, Verdict::Unknown(Doubt::CarriedOut)),
            (Error::KeyMissing, Verdict::New),
        ] {
            assert_eq!((stripe(&error), ietf(&error)), (expected, expected), "{error:?}");
        }
    }

    #[test]
    fn refusals_of_others_that_follow_the_draft_are_known_by_their_titles() {
        let outstanding = r#"{"title":"A request is outstanding for this Idempotency-Key"}"#;
        assert_eq!(of(409, outstanding), Verdict::Again(Doubt::NoAnswer));
        assert_eq!(of(422, r#"{"title":"Idempotency-Key is already used"}"#), Verdict::Reused);
    }

    #[test]
    fn what_passes_by_itself_is_tried_again() {
        for status in [408, 425, 429, 500, 502, 503, 504, 599] {
            assert_eq!(of(status, ""), Verdict::Again(Doubt::NoAnswer), "{status}");
        }
    }

    #[test]
    fn any_other_answer_is_the_answer() {
        for status in [200, 201, 204, 303, 400, 402, 404, 409, 410, 412, 413, 422] {
            assert_eq!(of(status, r#"{"error":"state_conflict"}"#), Verdict::New, "{status}");
        }
    }

    #[test]
    fn a_stranger_is_told_nothing_of_what_was_asked_before() {
        for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
            assert_eq!(judge(status, &HeaderMap::new(), b"", false), Verdict::New);
            assert_eq!(judge(status, &HeaderMap::new(), b"", true), Verdict::Unknown(Doubt::NoAnswer));
        }
    }

    #[test]
    fn a_refusal_before_the_record_says_nothing_of_an_earlier_attempt() {
        for error in
            [Error::KeyMissing, Error::KeyInvalid(KeyError::NotAscii), Error::ScopeMissing, Error::TokenMissing]
        {
            for body in
                [format!(r#"{{"error":{{"code":"{}"}}}}"#, error.code()), format!(r#"{{"code":"{}"}}"#, error.code())]
            {
                let judged = |in_doubt| judge(error.status(), &HeaderMap::new(), body.as_bytes(), in_doubt);
                assert_eq!((judged(false), judged(true)), (Verdict::New, Verdict::Unknown(Doubt::NoAnswer)), "{body}");
            }
        }
    }

    #[test]
    fn a_replay_is_final_whatever_its_status() {
        let headers = HeaderMap::from_iter([(REPLAYED, "true".parse().unwrap())]);
        for status in [201, 409, 422, 500, 503] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(judge(status, &headers, b"", true), Verdict::Replayed, "{status}");
        }
    }
}

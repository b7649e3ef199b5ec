//! The published policy of a route: a fragment of `OpenAPI`.
//!
//! The IETF's draft wants every resource to publish how it uses keys, and until when (draft-ietf-httpapi-idempotency-key-
//! header-07, section 2.4).

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::answer::Keep;
use crate::engine::Idempotency;
use crate::error::Error;
use crate::key::{KeyError, MAX_KEY_BYTES};
use crate::operations::Place;
use crate::settings::{ExpiryHeader, Profile, Settings};
use crate::terms::{InFlight, KeySource, Need, Policy, Print, Repeat};

/// What an annotated handler promises its clients, written by `policy = NAME` into a constant beside the handler.
///
/// [`openapi`](Self::openapi) turns it into JSON, which goes into a document of any generator: with utoipa, parameters
/// and responses are read with serde into its own types.
///
/// ```
/// # #[cfg(all(feature = "axum", feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::doc::Sqlite as Db;
/// use http::{Method, StatusCode};
/// use idempotent_runtime::{Idempotency, idempotent};
///
/// #[idempotent(key = header, ttl = "72h", policy = CREATE_ORDER)]
/// async fn create_order(body: String) -> StatusCode {
/// #   let _ = body;
///     StatusCode::CREATED
/// }
///
/// fn describe(engine: &Idempotency<Db>) {
///     let operation = CREATE_ORDER.openapi(engine, &Method::POST);
///     assert_eq!(operation["parameters"][0]["name"], "Idempotency-Key");
///     assert_eq!(operation["x-idempotency"]["ttlSeconds"], 259_200);
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RoutePolicy {
    policy: Policy,
    kept: Kept,
}

/// How long answers are kept, as far as the attribute says.
#[derive(Debug, Clone, Copy)]
pub enum Kept {
    /// So many milliseconds.
    Millis(i64),
    /// Until they are deleted by hand.
    Forever,
    /// An expression of each call.
    Computed,
}

/// That of a handler with mistakes: what names it causes no other error.
pub const UNKNOWN_POLICY: RoutePolicy = RoutePolicy {
    policy: Policy {
        operation: "",
        place: Place { function: "", at: ("", 0, 0) },
        key: KeySource::Expression,
        fingerprint: Print::Nothing,
        in_flight: InFlight::Reject,
        keep: Keep::Default,
    },
    kept: Kept::Computed,
};

/// What `policy = NAME` writes.
#[must_use]
pub const fn route_policy(policy: Policy, kept: Kept) -> RoutePolicy {
    RoutePolicy { policy, kept }
}

impl RoutePolicy {
    /// A fragment of an Operation Object of `OpenAPI` 3: `parameters` (the header with the key), `responses` (what the
    /// toolkit itself answers) and `x-idempotency` (`ttlSeconds`, `fingerprint`, `inFlight`, …), for the handler under
    /// `method` of a route. Under a safe method, which is never claimed, it is empty.
    ///
    /// ```
    /// # #[cfg(all(feature = "axum", feature = "sqlite", feature = "deadpool"))] mod example {
    /// # use idempotent_runtime::{Idempotency, RoutePolicy, doc::Sqlite as Db};
    /// fn responses(policy: RoutePolicy, engine: &Idempotency<Db>) -> serde_json::Value {
    ///     policy.openapi(engine, &http::Method::POST)["responses"].take()
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn openapi<C: Send + 'static>(&self, engine: &Idempotency<C>, method: &Method) -> Value {
        operation(*self, &engine.inner().settings, method)
    }
}

fn operation(route: RoutePolicy, settings: &Settings, method: &Method) -> Value {
    let RoutePolicy { policy: Policy { operation: _, place: _, key, fingerprint, in_flight, keep }, kept } = route;
    let (parameters, errors) = match key {
        KeySource::Header(name, need) => {
            let required = need.asks(method);
            let missing = required.then_some(Error::KeyMissing);
            let invalid = Error::KeyInvalid(KeyError::Empty);
            (vec![key_parameter(name, required, settings)], missing.into_iter().chain([invalid]).collect())
        }
        KeySource::Token(name, repeat) => {
            let used = (repeat == Repeat::Refuse).then_some(Error::TokenUsed);
            let errors = [Error::TokenMissing, Error::TokenInvalid].into_iter().chain(used);
            (vec![token_parameter(name)], errors.collect())
        }
        KeySource::Expression => (Vec::new(), Vec::new()),
    };
    if method.is_safe() && !matches!(key, KeySource::Header(_, Need::Always)) {
        return json!({});
    }
    let (ttl, forever) = match kept {
        Kept::Millis(millis) => (Some(millis.max(0) / 1_000), false),
        Kept::Forever => (None, true),
        Kept::Computed => (None, false),
    };
    json!({
        "parameters": parameters,
        "responses": responses(errors, settings),
        "x-idempotency": {
            "ttlSeconds": ttl,
            "keptForever": forever,
            "expiryHeader": match settings.expiry_header {
                ExpiryHeader::Given => Some("Idempotency-Key-Expiry"),
                ExpiryHeader::Absent => None,
            },
            "fingerprint": match fingerprint {
                Print::Bytes => "bytes",
                Print::Json => "json",
                Print::Nothing => "none",
                Print::Value => "value",
            },
            "inFlight": match in_flight {
                InFlight::Reject => "reject",
                InFlight::Wait { .. } => "wait",
            },
            "longestWaitSeconds": match in_flight {
                InFlight::Reject => None,
                InFlight::Wait { millis } => Some(millis.div_ceil(1_000)),
            },
            "stored": match keep {
                Keep::Default => "default",
                Keep::Success => "success",
                Keep::All => "all",
                Keep::By(_) => "rule",
            },
        },
    })
}

/// A Parameter Object. Not required: a form may carry the token in its field `token`.
fn token_parameter(name: &str) -> Value {
    json!({
        "name": header_name(name),
        "in": "header",
        "required": false,
        "description": "The one-time token that was issued for this operation; or in the field `token` of a form.",
        "schema": { "type": "string", "minLength": 43, "maxLength": 43, "pattern": "^[A-Za-z0-9_-]{43}$" },
    })
}

/// A Parameter Object.
fn key_parameter(name: &str, required: bool, settings: &Settings) -> Value {
    let fewest = settings.key_policy.min_bytes().max(1);
    let (description, schema) = match settings.form.profile {
        Profile::Stripe => (
            "One key for each operation, best a fresh UUID; the same in every retry.",
            json!({
                "type": "string",
                "minLength": fewest,
                "maxLength": MAX_KEY_BYTES,
                "pattern": r"^[!#-+\--~]+$",
            }),
        ),
        Profile::Ietf => (
            "One key for each operation, best a fresh UUID, as a string of RFC 9651, in double quotes; the same in every retry.",
            json!({
                "type": "string",
                "minLength": fewest + 2,
                // Every character may have to be escaped.
                "maxLength": 2 * MAX_KEY_BYTES + 2,
                "pattern": r#"^"([ !#-\[\]-~]|\\["\\])*"$"#,
            }),
        ),
    };
    json!({
        "name": header_name(name),
        "in": "header",
        "required": required,
        "description": description,
        "schema": schema,
    })
}

/// The name of a header, as its readers know it.
fn header_name(name: &str) -> String {
    name.split('-').map(capitalized).collect::<Vec<_>>().join("-")
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// A Responses Object: one response for each status, with the codes that it may have.
fn responses(mut errors: Vec<Error>, settings: &Settings) -> Value {
    use std::time::Duration;
    errors.extend([
        Error::ScopeMissing,
        Error::BodyUnreadable,
        Error::KeyReused,
        Error::KeyInUse { retry_after: Duration::ZERO },
        Error::OutcomeUnknown,
        Error::ResponseNotStored,
        Error::BodyTooLarge { limit: settings.body_limit },
        Error::unavailable("unreachable"),
    ]);
    let mut responses: Map<String, Value> = Map::new();
    let profile = settings.form.profile;
    let mut statuses: Vec<StatusCode> = errors.iter().map(|error| error.status_under(profile)).collect();
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        let errors: Vec<_> = errors.iter().filter(|error| error.status_under(profile) == status).collect();
        responses.insert(status.as_u16().to_string(), response(&errors, settings));
    }
    Value::Object(responses)
}

/// A Response Object.
fn response(errors: &[&Error], settings: &Settings) -> Value {
    let codes: Vec<_> = errors.iter().map(|error| error.code()).collect();
    let titles: Vec<_> = errors.iter().map(|error| error.title()).collect();
    let (media_type, schema) = match settings.form.profile {
        Profile::Stripe => {
            let error = json!({
                "type": "object",
                "required": ["type", "code", "message"],
                "properties": {
                    "type": { "type": "string", "enum": ["idempotency_error"] },
                    "code": { "type": "string", "enum": codes },
                    "message": { "type": "string" },
                },
            });
            ("application/json", json!({ "type": "object", "required": ["error"], "properties": { "error": error } }))
        }
        Profile::Ietf => (
            "application/problem+json",
            json!({
                "type": "object",
                "required": ["type", "title", "status", "detail", "code", "retryable"],
                "properties": {
                    "type": { "type": "string", "format": "uri-reference", "enum": [*settings.form.problem_type] },
                    "title": { "type": "string" },
                    "status": { "type": "integer" },
                    "detail": { "type": "string" },
                    "code": { "type": "string", "enum": codes },
                    "retryable": { "type": "boolean" },
                },
            }),
        ),
    };
    let mut response = json!({
        "description": titles.join(", or: "),
        "content": { media_type: { "schema": schema } },
    });
    if errors.iter().any(|error| error.is_retryable()) {
        response["headers"] = json!({
            "Retry-After": {
                "description": "Seconds to wait before the same request is sent again.",
                "schema": { "type": "integer" },
            },
        });
    }
    response
}

//! What a layer is told: the arguments of the attribute, for every route under it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::HeaderName;
use http::request::Parts;
use tower_layer::Layer;

use super::service::IdempotencyService;
use crate::answer::Keep;
use crate::engine::{Engine, Idempotency};
use crate::error::Error;
use crate::lifetime::{Term, Ttl};
use crate::operations::Place;
use crate::terms::{InFlight, KeySource, Need, Policy, Print, Terms};

/// Makes every route under it idempotent: the attribute's leased mode, for whole routers.
///
/// The first request under a key runs, every repeat gets its answer; what is refused, stored and replayed, and what a
/// crash leaves, is that of a [leased handler](macro@crate::idempotent). GET, HEAD, OPTIONS and TRACE pass untouched, and so
/// do requests without a key where none is needed; POST and PATCH need one. Whose key it is says the engine's
/// [`Scope`](crate::Scope), so that the layer stands inside of what authenticates: in axum, the layer that is added last
/// runs first.
///
/// ```
/// # #[cfg(all(feature = "axum", feature = "sqlite", feature = "deadpool"))] mod example {
/// # use idempotent_runtime::doc::SqlitePool;
/// use std::time::Duration;
///
/// use axum::extract::Request;
/// use axum::middleware::{Next, from_fn};
/// use axum::response::Response;
/// use axum::routing::post;
/// use axum::{Router, http::StatusCode};
/// use idempotent_runtime::{Caller, Idempotency, Scope};
///
/// async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
///     // … look the session up
///     let user = request.headers().get("x-session").ok_or(StatusCode::UNAUTHORIZED)?;
///     let caller = Caller::new(user.to_str().map_err(|_| StatusCode::UNAUTHORIZED)?);
///     request.extensions_mut().insert(caller);
///     Ok(next.run(request).await)
/// }
///
/// # async fn pay() -> StatusCode { StatusCode::CREATED }
/// # async fn webhook() -> StatusCode { StatusCode::OK }
/// # fn build(pool: SqlitePool) -> Result<Router, idempotent_runtime::Error> {
/// let engine = Idempotency::builder(pool, Scope::caller()).build();
/// let idempotency = engine
///     .layer(Duration::from_secs(72 * 3_600))?
///     .lease(Duration::from_secs(30))?
///     .except(|parts| parts.uri.path().starts_with("/webhooks"));
/// let app = Router::new()
///     .route("/payments", post(pay))
///     .route("/webhooks/provider", post(webhook))
///     .layer(idempotency)
///     .layer(from_fn(authenticate)); // outside, and so before
/// # Ok(app)
/// # }
/// # }
/// ```
///
/// The handlers may run more than once, as leased ones do; effects that must happen exactly once belong into a handler
/// with `#[tx]`. A route that has `#[idempotent]` itself needs an [`except`](Self::except): it would claim its key a second
/// time, and is answered with 500 instead.
#[derive(Clone)]
pub struct IdempotencyLayer {
    pub(super) rules: Arc<Rules>,
}

/// A rule of which requests pass.
type Except = Arc<dyn Fn(&Parts) -> bool + Send + Sync>;

#[derive(Clone)]
pub(super) struct Rules {
    pub(super) engine: Arc<dyn Engine>,
    header: &'static str,
    need: Need,
    ttl: Ttl,
    lease: Term,
    hold: bool,
    max_attempts: Option<u32>,
    fingerprint: Print,
    in_flight: InFlight,
    pub(super) keep: Keep,
    except: Vec<Except>,
}

impl Rules {
    pub(super) fn policy(&self) -> Policy {
        let key = KeySource::Header(self.header, self.need);
        let place = Place { function: "IdempotencyLayer", at: ("", 0, 0) };
        let Self { fingerprint, in_flight, keep, .. } = *self;
        Policy { operation: "", place, key, fingerprint, in_flight, keep }
    }

    pub(super) fn terms(&self) -> Terms {
        let terms = Terms::for_millis(self.ttl.millis()).lease_millis(self.lease.millis());
        let terms = if self.hold { terms.hold() } else { terms };
        match self.max_attempts {
            Some(attempts) => terms.max_attempts(attempts),
            None => terms,
        }
    }

    /// Whether a request passes untouched.
    pub(super) fn excepts(&self, head: &Parts) -> bool {
        self.except.iter().any(|except| except(head))
    }
}

impl fmt::Debug for IdempotencyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyLayer").field("settings", self.rules.engine.settings()).finish_non_exhaustive()
    }
}

impl<C: Send + 'static> Idempotency<C> {
    /// A layer for whole routers, whose answers are kept for `ttl`. A ttl of zero, or of more than 1,000 years, is an error.
    ///
    /// ```
    /// # fn build(engine: idempotent_runtime::Idempotency<idempotent_runtime::doc::Sqlite>) -> Result<(), idempotent_runtime::Error> {
    /// let layer = engine.layer(std::time::Duration::from_secs(72 * 3_600))?;
    /// # let _ = layer; Ok(())
    /// # }
    /// ```
    pub fn layer(&self, ttl: Duration) -> Result<IdempotencyLayer, Error> {
        let ttl = Ttl::new(ttl)?;
        let rules = Rules {
            engine: self.erased(),
            header: "idempotency-key",
            need: Need::ByMethod,
            ttl,
            lease: Term::default_for(ttl),
            hold: false,
            max_attempts: None,
            fingerprint: Print::Bytes,
            in_flight: InFlight::Reject,
            keep: Keep::Default,
            except: Vec::new(),
        };
        Ok(IdempotencyLayer { rules: Arc::new(rules) })
    }
}

impl IdempotencyLayer {
    /// The header that carries the key; `Idempotency-Key` unless given. What is no header name is an error.
    ///
    /// ```
    /// # use idempotent_runtime::{Error, IdempotencyLayer};
    /// # fn set(layer: IdempotencyLayer) -> Result<IdempotencyLayer, Error> {
    /// layer.header("X-Request-Id")
    /// # }
    /// ```
    pub fn header(self, name: &'static str) -> Result<Self, Error> {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(Error::misconfigured(format!(
                "`{name}` is no header name; write one such as `.header(\"X-Request-Id\")`"
            )));
        }
        Ok(self.with(|rules| rules.header = name))
    }

    /// No method needs a key; one that is sent is honoured.
    ///
    /// ```
    /// # fn set(layer: idempotent_runtime::IdempotencyLayer) {
    /// let layer = layer.optional();
    /// # let _ = layer;
    /// # }
    /// ```
    #[must_use]
    pub fn optional(self) -> Self {
        self.with(|rules| rules.need = Need::Optional)
    }

    /// How long an unfinished claim is believed; 30 s, or the ttl if that is shorter, unless given. Renewed while the
    /// handler runs. A lease of zero, or one that is longer than the ttl, is an error.
    ///
    /// ```
    /// # use idempotent_runtime::{Error, IdempotencyLayer};
    /// # fn set(layer: IdempotencyLayer) -> Result<IdempotencyLayer, Error> {
    /// layer.lease(std::time::Duration::from_secs(10))
    /// # }
    /// ```
    pub fn lease(self, lease: Duration) -> Result<Self, Error> {
        let lease = Term::new(lease)?.within(self.rules.ttl)?;
        Ok(self.with(|rules| rules.lease = lease))
    }

    /// After a crash nobody runs the request again until somebody decides ([`Resolution`](crate::Resolution)): `on_crash =
    /// hold`. Otherwise the next request under its key takes it over, once the lease is over.
    ///
    /// ```
    /// # fn set(layer: idempotent_runtime::IdempotencyLayer) {
    /// let layer = layer.hold_on_crash();
    /// # let _ = layer;
    /// # }
    /// ```
    #[must_use]
    pub fn hold_on_crash(self) -> Self {
        self.with(|rules| rules.hold = true)
    }

    /// Attempts after which an abandoned claim is held; 10 unless given, 0 = no limit.
    ///
    /// ```
    /// # fn set(layer: idempotent_runtime::IdempotencyLayer) {
    /// let layer = layer.max_attempts(3);
    /// # let _ = layer;
    /// # }
    /// ```
    #[must_use]
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with(|rules| rules.max_attempts = Some(attempts))
    }

    /// Which answers are kept.
    ///
    /// ```
    /// # fn set(layer: idempotent_runtime::IdempotencyLayer) {
    /// let layer = layer.store(idempotent_runtime::Keep::Success);
    /// # let _ = layer;
    /// # }
    /// ```
    #[must_use]
    pub fn store(self, keep: Keep) -> Self {
        self.with(|rules| rules.keep = keep)
    }

    /// Bodies that say the same in JSON are one request: `fingerprint = json`. Otherwise bytes are compared.
    ///
    /// ```
    /// # fn set(layer: idempotent_runtime::IdempotencyLayer) {
    /// let layer = layer.fingerprint_json();
    /// # let _ = layer;
    /// # }
    /// ```
    #[must_use]
    pub fn fingerprint_json(self) -> Self {
        self.with(|rules| rules.fingerprint = Print::Json)
    }

    /// A repeat that comes while the first request runs waits for its answer, for so long, and is refused then:
    /// `in_flight = wait(…)`. Otherwise it is refused at once. A time of zero, or one that is longer than the ttl, is an
    /// error.
    ///
    /// ```
    /// # use idempotent_runtime::{Error, IdempotencyLayer};
    /// # fn set(layer: IdempotencyLayer) -> Result<IdempotencyLayer, Error> {
    /// layer.wait(std::time::Duration::from_secs(5))
    /// # }
    /// ```
    pub fn wait(self, longest: Duration) -> Result<Self, Error> {
        let millis = Term::new(longest)?.within(self.rules.ttl)?.millis().unsigned_abs();
        Ok(self.with(|rules| rules.in_flight = InFlight::Wait { millis }))
    }

    /// Requests that pass as if there were no layer: nothing is read, claimed or stored of them. With several calls, what
    /// any of them names. `parts.uri` is what is left of it where the layer stands.
    ///
    /// ```
    /// # fn set(layer: idempotent_runtime::IdempotencyLayer) {
    /// let layer = layer.except(|parts| parts.uri.path().starts_with("/webhooks"));
    /// # let _ = layer;
    /// # }
    /// ```
    #[must_use]
    pub fn except(self, rule: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.with(|rules| rules.except.push(Arc::new(rule)))
    }

    fn with(mut self, set: impl FnOnce(&mut Rules)) -> Self {
        set(Arc::make_mut(&mut self.rules));
        self
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = IdempotencyService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        IdempotencyService::new(inner, Arc::clone(&self.rules))
    }
}

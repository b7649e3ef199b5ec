//! What an attribute says: the policy, known at compile time, and the terms, computed from a call's arguments.

use serde::Serialize;

use crate::answer::Keep;
use crate::claim::{Address, By, Claim};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::global::Global;
use crate::key::{Key, KeyError};
use crate::key_part::{KeyPart, storable};
use crate::lifetime::{Term, Ttl};
use crate::operations::Place;
use crate::settings::Settings;
use crate::vault::Part;

/// Attempts after which an abandoned claim is held.
const MAX_ATTEMPTS: i64 = 10;

/// What is the same for every call of an annotated function.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The function's name: part of the address of natural keys.
    pub operation: &'static str,
    /// Where the function stands.
    pub place: Place,
    /// Where the key comes from.
    pub key: KeySource,
    /// What of an HTTP request is fingerprinted.
    pub fingerprint: Print,
    /// What a repeat does while the first run is under way.
    pub in_flight: InFlight,
    /// Which answers are kept.
    pub keep: Keep,
}

/// Where the key comes from.
#[derive(Debug, Clone, Copy)]
pub enum KeySource {
    /// A header of this (lower-case) name.
    Header(&'static str, Need),
    /// The attribute's expression.
    Expression,
    /// A token that the engine has issued: in a header of this (lower-case) name, or in the field `token` of a form.
    Token(&'static str, Repeat),
}

/// What the second use of a token is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The stored answer.
    Replay,
    /// That it was used.
    Refuse,
}

/// Whether a request without a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// POST and PATCH need a key; PUT and DELETE are idempotent by nature.
    ByMethod,
    /// No method needs one.
    Optional,
    /// Every method needs one, and is claimed: steps are kept under it.
    Always,
}

impl Need {
    /// Whether a request with this method is refused without a key. PUT and DELETE are idempotent by nature (RFC 9110,
    /// section 9.2.2): there it is honoured, not required.
    pub(crate) fn asks(self, method: &http::Method) -> bool {
        match self {
            Self::ByMethod => !method.is_idempotent(),
            Self::Optional => false,
            Self::Always => true,
        }
    }
}

/// What a repeat does while the first run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// It is refused.
    Reject,
    /// It waits, and is refused then.
    Wait {
        /// At most so long.
        millis: u64,
    },
}

/// What of an HTTP request is fingerprinted, beside method and path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Print {
    /// Query and body as sent.
    Bytes,
    /// Query as sent, and the body by what it says.
    Json,
    /// Nothing.
    Nothing,
    /// The attribute's expression.
    Value,
}

/// Whom the attribute's scope names.
#[derive(Debug)]
enum Named {
    Scope(String),
    /// It was empty.
    Nobody,
}

/// What the attribute's expressions gave for one call.
#[derive(Debug)]
pub struct Terms<E = Global> {
    pub(crate) engine: E,
    key: Option<Result<Key, KeyError>>,
    scope: Option<Named>,
    value: Option<Result<Vec<u8>, serde_json::Error>>,
    ttl: Result<Ttl, Error>,
    lease: Option<Result<Term, Error>>,
    hold: bool,
    max_attempts: i64,
    arguments: Option<Result<Vec<u8>, serde_json::Error>>,
}

impl Terms {
    /// Terms with a ttl that was checked at compile time.
    #[must_use]
    pub fn for_millis(millis: i64) -> Self {
        Self::lasting(Ok(Ttl::of_millis(millis)))
    }

    /// Terms that never expire.
    #[must_use]
    pub fn forever() -> Self {
        Self::lasting(Ok(Ttl::FOREVER))
    }

    /// Terms with a computed ttl.
    #[must_use]
    pub fn for_duration(ttl: std::time::Duration) -> Self {
        Self::lasting(Ttl::new(ttl))
    }

    fn lasting(ttl: Result<Ttl, Error>) -> Self {
        Self {
            engine: Global,
            key: None,
            scope: None,
            value: None,
            ttl,
            lease: None,
            hold: false,
            max_attempts: MAX_ATTEMPTS,
            arguments: None,
        }
    }
}

impl<E> Terms<E> {
    /// `key = expression`.
    #[must_use]
    pub fn key<K: KeyPart + ?Sized>(mut self, key: &K) -> Self {
        self.key = Some(Key::natural(key));
        self
    }

    /// `scope = expression`.
    #[must_use]
    pub fn scope<S: KeyPart + ?Sized>(mut self, scope: &S) -> Self {
        self.scope = Some(storable(scope).map_or(Named::Nobody, Named::Scope));
        self
    }

    /// `fingerprint = expression`.
    #[must_use]
    pub fn fingerprint<V: Serialize + ?Sized>(mut self, value: &V) -> Self {
        self.value = Some(serde_json::to_vec(value));
        self
    }

    /// `lease = "30s"`, checked at compile time.
    #[must_use]
    pub fn lease_millis(mut self, millis: i64) -> Self {
        self.lease = Some(Ok(Term::of_millis(millis)));
        self
    }

    /// `lease = expression`.
    #[must_use]
    pub fn lease_duration(mut self, lease: std::time::Duration) -> Self {
        self.lease = Some(Term::new(lease));
        self
    }

    /// `on_crash = hold`.
    #[must_use]
    pub fn hold(mut self) -> Self {
        self.hold = true;
        self
    }

    /// `max_attempts = expression`.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = i64::from(attempts);
        self
    }

    /// `arguments = expression`.
    #[must_use]
    pub fn arguments<V: Serialize + ?Sized>(mut self, arguments: &V) -> Self {
        self.arguments = Some(serde_json::to_vec(arguments));
        self
    }

    /// `engine = expression`.
    #[must_use]
    pub fn engine<C>(self, engine: &crate::Idempotency<C>) -> Terms<crate::Idempotency<C>> {
        let (_, terms) = self.split();
        terms.with(engine.clone())
    }

    /// Takes the engine out.
    pub(crate) fn split(self) -> (E, Terms<()>) {
        let Self { engine, key, scope, value, ttl, lease, hold, max_attempts, arguments } = self;
        (engine, Terms { engine: (), key, scope, value, ttl, lease, hold, max_attempts, arguments })
    }

    fn with<F>(self, engine: F) -> Terms<F> {
        let Self { engine: _, key, scope, value, ttl, lease, hold, max_attempts, arguments } = self;
        Terms { engine, key, scope, value, ttl, lease, hold, max_attempts, arguments }
    }
}

impl Terms<()> {
    /// The claim of a call. `header_key` is the key of an HTTP request that carries one; `caller` names whose key it
    /// is where the attribute does not; `fingerprint` gets the serialised value of the attribute's expression.
    pub(crate) fn into_claim(
        self,
        settings: &Settings,
        policy: &Policy,
        header_key: Option<Key>,
        caller: impl FnOnce() -> Option<String>,
        fingerprint: impl FnOnce(Option<Vec<u8>>) -> Fingerprint,
    ) -> Result<Claim, Error> {
        let (operation, key) = match (header_key, self.key) {
            (Some(key), _) if matches!(policy.key, KeySource::Token(..)) => {
                settings.operations.check(policy.operation, policy.place)?;
                (policy.operation.to_owned(), key)
            }
            (Some(key), _) => (String::new(), key),
            (None, Some(key)) => {
                settings.operations.check(policy.operation, policy.place)?;
                (policy.operation.to_owned(), key?)
            }
            (None, None) => return Err(Error::KeyMissing),
        };
        let scope = match self.scope {
            Some(Named::Scope(scope)) => Some(scope),
            Some(Named::Nobody) => None,
            None => caller(),
        };
        let scope = scope.ok_or(Error::ScopeMissing)?;
        let value = self.value.transpose().map_err(Error::Unserializable)?;
        let arguments = self.arguments.transpose().map_err(Error::Unserializable)?;
        let ttl = self.ttl?;
        let lease = self.lease.transpose()?.unwrap_or(Term::default_for(ttl)).within(ttl)?;
        let (namespace, vault) = (settings.namespace.clone(), settings.vault.clone());
        let address = Address { namespace, operation, scope, key, vault };
        let arguments = arguments.map(|plain| address.vault.seal(&address, Part::Arguments, plain.into()));
        Ok(Claim {
            fingerprint: fingerprint(value),
            ttl,
            lease,
            hold: self.hold,
            max_attempts: self.max_attempts,
            arguments: arguments.transpose().map_err(Error::unavailable)?,
            address,
            by: match policy.key {
                KeySource::Token(_, repeat) => By::Token(repeat),
                KeySource::Header(..) | KeySource::Expression => By::Key,
            },
            known: false,
        })
    }
}

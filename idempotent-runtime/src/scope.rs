//! The scope: whose key it is.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;

use crate::caller::Caller;
use crate::key_part::storable;

/// The engine's rule for whose key a request carries, used where an attribute has no `scope = …`.
///
/// It is an argument of [`Idempotency::builder`](crate::Idempotency::builder), so that nobody forgets it: without a
/// scope one user's key would replay another user's answer. Derive it from who the caller *is* (what your
/// authentication put into the request's extensions), not from the `Authorization` header itself: a refreshed token
/// would be a new caller and run everything twice.
///
/// ```
/// use idempotent_runtime::Scope;
///
/// #[derive(Clone)]
/// struct User { id: i64 }
///
/// let by_user = Scope::of(|parts| parts.extensions.get::<User>().map(|user| user.id.to_string()));
/// let one_for_all = Scope::shared();
/// # let _ = (by_user, one_for_all);
/// ```
#[derive(Clone)]
pub struct Scope(Rule);

/// Reads whose key it is from the head of a request.
type Reader = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;

#[derive(Clone)]
enum Rule {
    Shared,
    Caller,
    Of(Reader),
}

impl Scope {
    /// Whose key it is, read from the head of the request; `None` or an empty string refuses the request.
    ///
    /// ```
    /// # use idempotent_runtime::Scope;
    /// let rule = Scope::of(|parts| Some(parts.headers.get("x-tenant")?.to_str().ok()?.to_owned()));
    /// # let _ = rule;
    /// ```
    pub fn of(rule: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Rule::Of(Arc::new(rule)))
    }

    /// All callers share one key space: for services with one client, or behind a gateway that makes keys unique.
    ///
    /// ```
    /// # use idempotent_runtime::Scope;
    /// let rule = Scope::shared();
    /// # let _ = rule;
    /// ```
    #[must_use]
    pub fn shared() -> Self {
        Self(Rule::Shared)
    }

    /// Whose key it is, as authentication has said: the [`Caller`] in the extensions of the request. Without one the
    /// request is refused.
    ///
    /// ```
    /// # use idempotent_runtime::Scope;
    /// let rule = Scope::caller();
    /// # let _ = rule;
    /// ```
    #[must_use]
    pub fn caller() -> Self {
        Self(Rule::Caller)
    }

    /// The stored scope of a request; `None` when the rule names nobody. A shared scope is `""`, never NULL.
    pub(crate) fn resolve(&self, parts: &Parts) -> Option<String> {
        match &self.0 {
            Rule::Shared => Some(String::new()),
            Rule::Caller => storable(parts.extensions.get::<Caller>()?),
            Rule::Of(rule) => storable(&rule(parts)?),
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Rule::Shared => "Scope::shared()",
            Rule::Caller => "Scope::caller()",
            Rule::Of(_) => "Scope::of(…)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        http::Request::new(()).into_parts().0
    }

    #[test]
    fn a_rule_that_names_nobody_refuses() {
        assert_eq!(Scope::of(|_| None).resolve(&parts()), None);
        assert_eq!(Scope::of(|_| Some(String::new())).resolve(&parts()), None);
        assert_eq!(Scope::caller().resolve(&parts()), None);
        assert_eq!(Scope::shared().resolve(&parts()), Some(String::new()));
    }

    #[test]
    fn the_caller_is_whom_authentication_has_named() {
        let mut parts = parts();
        parts.extensions.insert(Caller::new("alice"));
        assert_eq!(Scope::caller().resolve(&parts).as_deref(), Some("alice"));
        parts.extensions.insert(Caller::new(""));
        assert_eq!(Scope::caller().resolve(&parts), None);
    }
}

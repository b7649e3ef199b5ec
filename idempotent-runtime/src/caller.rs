//! Who sends a request, as authentication has found out.

use crate::key_part::KeyPart;

/// Who sends a request: a tenant or a user, by a name that stays the same from one session to the next.
///
/// Authentication puts one into the extensions of the request, those of `http` (axum, tower) or those of actix-web, and
/// an engine of [`Scope::caller`](crate::Scope::caller) reads it there: one rule, whatever the framework.
///
/// ```
/// use idempotent_runtime::{Caller, Scope};
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(Caller::new("user 42"));
/// let rule = Scope::caller();
/// # let _ = rule;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller(String);

impl Caller {
    /// The caller of this name. An empty one is nobody, and is refused.
    ///
    /// ```
    /// let caller = idempotent_runtime::Caller::new("tenant-7");
    /// # let _ = caller;
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    ///
    /// ```
    /// assert_eq!(idempotent_runtime::Caller::new("tenant-7").name(), "tenant-7");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// So that a handler which extracts its caller may write `scope = caller`.
impl KeyPart for Caller {
    fn encode(&self, out: &mut String) {
        self.0.encode(out);
    }
}

//! Which keys of clients are accepted.

use crate::key::KeyError;

/// Which keys of clients are accepted. Natural keys are the server's own and are not subject to it.
///
/// ```
/// use idempotent_runtime::KeyPolicy;
///
/// assert!(KeyPolicy::default().check("idem_f47").is_ok());
/// assert!(KeyPolicy::default().check("order-1").is_err());
/// assert!(KeyPolicy::strict().check("idem_f47").is_err());
/// ```
#[derive(Debug, Clone)]
pub struct KeyPolicy {
    min_bytes: usize,
    strict: bool,
}

impl Default for KeyPolicy {
    /// At least 8 characters: short keys collide and can be guessed.
    fn default() -> Self {
        Self { min_bytes: 8, strict: false }
    }
}

impl KeyPolicy {
    /// At least 128 bits (a UUID, or 22 random characters), and nothing that looks like an e-mail address.
    ///
    /// ```
    /// # use idempotent_runtime::KeyPolicy;
    /// assert!(KeyPolicy::strict().check("8e03978e-40d5-43e8-bc93-6894a57f9324").is_ok());
    /// ```
    #[must_use]
    pub fn strict() -> Self {
        Self { min_bytes: 22, strict: true }
    }

    /// Whether `key` (decoded) is accepted.
    ///
    /// ```
    /// # use idempotent_runtime::KeyPolicy;
    /// assert!(KeyPolicy::strict().check("somebody.or.other@example.org").is_err());
    /// ```
    pub fn check(&self, key: &str) -> Result<(), KeyError> {
        if key.len() < self.min_bytes {
            return Err(KeyError::TooShort { min: self.min_bytes });
        }
        if self.strict && key.contains('@') {
            return Err(KeyError::Personal);
        }
        Ok(())
    }
}

//! Which keys of clients are accepted.

use std::fmt;
use std::sync::Arc;

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
#[derive(Clone)]
pub struct KeyPolicy {
    min_bytes: usize,
    strict: bool,
    rule: Option<Rule>,
}

/// A rule of the service's own: why a key is refused.
type Rule = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

impl Default for KeyPolicy {
    /// At least 8 characters: short keys collide and can be guessed.
    fn default() -> Self {
        Self { min_bytes: 8, strict: false, rule: None }
    }
}

impl KeyPolicy {
    /// At least 128 bits, and no personal data: a UUID of any version, or 22 characters of letters, digits and
    /// `-._~+/=:`, in which Base64 writes 128 bits (32 if all of them are hexadecimal digits, 39 if all are decimal).
    ///
    /// Refused are what looks like an e-mail address, the nil and the max UUID, and keys that nobody draws by lot: fewer
    /// than six different characters, a part repeated, ascending or descending characters. A random key is refused in
    /// one of more than a million cases; a client cannot be kept from sending a bad one that looks random.
    ///
    /// ```
    /// # use idempotent_runtime::KeyPolicy;
    /// let strict = KeyPolicy::strict();
    /// assert!(strict.check("8e03978e-40d5-43e8-bc93-6894a57f9324").is_ok());
    /// assert!(strict.check("n0Wq3Yx7Kc-LmT2vBd_8Rz").is_ok());
    /// assert!(strict.check("00000000-0000-0000-0000-000000000000").is_err());
    /// ```
    #[must_use]
    pub fn strict() -> Self {
        Self { min_bytes: CHARACTERS, strict: true, rule: None }
    }

    /// At least this many bytes.
    ///
    /// ```
    /// # use idempotent_runtime::KeyPolicy;
    /// assert!(KeyPolicy::default().min_length(16).check("idem_f47ac10b").is_err());
    /// ```
    #[must_use]
    pub fn min_length(mut self, bytes: usize) -> Self {
        self.min_bytes = bytes;
        self
    }

    /// A rule of the service's own besides; its error is shown to the client.
    ///
    /// ```
    /// # use idempotent_runtime::KeyPolicy;
    /// let ours = KeyPolicy::default().with(|key| match key.starts_with("idem_") {
    ///     true => Ok(()),
    ///     false => Err("begin it with `idem_`".into()),
    /// });
    /// assert!(ours.check("idem_f47ac10b").is_ok() && ours.check("f47ac10b").is_err());
    /// ```
    #[must_use]
    pub fn with(mut self, rule: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.rule = Some(Arc::new(rule));
        self
    }

    /// Whether `key` (decoded) is accepted.
    ///
    /// ```
    /// # use idempotent_runtime::KeyPolicy;
    /// assert!(KeyPolicy::strict().check("somebody.or.other@example.org").is_err());
    /// ```
    pub fn check(&self, key: &str) -> Result<(), KeyError> {
        if self.strict && key.contains('@') {
            return Err(KeyError::Personal);
        }
        if key.len() < self.min_bytes {
            return Err(KeyError::TooShort { min: self.min_bytes });
        }
        if self.strict && !(has_room(key) && looks_drawn(key)) {
            return Err(KeyError::Guessable);
        }
        match &self.rule {
            Some(rule) => rule(key).map_err(|reason| KeyError::Refused { reason }),
            None => Ok(()),
        }
    }

    /// The fewest bytes accepted.
    pub(crate) fn min_bytes(&self) -> usize {
        self.min_bytes
    }
}

/// Characters in which Base64 writes 128 bits, and hexadecimal and decimal digits that hold as many.
const CHARACTERS: usize = 22;
const HEX_DIGITS: usize = 32;
const DECIMAL_DIGITS: usize = 39;
/// The fewest different characters of a key that is believed to be random.
const DIFFERENT: usize = 6;

/// Whether 128 random bits fit.
fn has_room(key: &str) -> bool {
    let digits = key.bytes().filter(|byte| *byte != b'-');
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=:".contains(&byte);
    // Chance may give a UUID decimal digits only.
    if uuid::Uuid::try_parse(key).is_ok() {
        true
    } else if digits.clone().all(|byte| byte.is_ascii_digit()) {
        digits.count() >= DECIMAL_DIGITS
    } else if digits.clone().all(|byte| byte.is_ascii_hexdigit()) {
        digits.count() >= HEX_DIGITS
    } else {
        key.len() >= CHARACTERS && key.bytes().all(known)
    }
}

/// Whether chance may have written this: no repetition and no sequence.
fn looks_drawn(key: &str) -> bool {
    let bytes: Vec<u8> = key.bytes().filter(|byte| *byte != b'-').collect();
    let different = (0..=u8::MAX).filter(|byte| bytes.contains(byte)).count();
    let repeats = (1..=bytes.len() / 2).any(|period| bytes.iter().zip(&bytes[period..]).all(|(a, b)| a == b));
    let steps = bytes.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count();
    different >= DIFFERENT && !repeats && steps * 2 < bytes.len()
}

impl fmt::Debug for KeyPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min_bytes, strict, rule } = self;
        f.debug_struct("KeyPolicy")
            .field("min_bytes", min_bytes)
            .field("strict", strict)
            .field("has_rule", &rule.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strict(key: &str) -> Result<(), KeyError> {
        KeyPolicy::strict().check(key)
    }

    #[test]
    fn a_strict_policy_takes_uuids_and_random_characters() {
        for key in [
            "8e03978e-40d5-43e8-bc93-6894a57f9324",
            "8E03978E40D543E8BC936894A57F9324",
            "018f3f3c-7b1a-7c3d-9e2b-5a4c6d8e0f12",
            "n0Wq3Yx7Kc-LmT2vBd_8Rz",
            "01HV6Z3K8QW2XN5RJ7YB4TDMCF",
            "idem_7Hq2xWn4Rk9TzLb3VcMdYs",
            "83920571648392017465920183746529018374659",
        ] {
            assert_eq!(strict(key), Ok(()), "{key}");
        }
    }

    #[test]
    fn a_strict_policy_refuses_what_can_be_guessed() {
        for key in [
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "11111111-1111-4111-8111-111111111111",
            "01234567-89ab-cdef-0123-456789abcdef",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "abcdefghijklmnopqrstuvwxyz",
            "zyxwvutsrqponmlkjihgfedcba",
            "order-order-order-order-order-",
            "8e03978e40d543e8bc93",
            "8e03978e40d543e8bc936894",
            "839205716483920174659201",
            "the answer to everything",
        ] {
            assert!(matches!(strict(key), Err(KeyError::Guessable | KeyError::TooShort { .. })), "{key}");
        }
        assert_eq!(strict("a@b.example"), Err(KeyError::Personal));
    }

    #[test]
    fn a_rule_of_the_service_comes_besides() {
        let policy = KeyPolicy::default().min_length(4).with(|key| match key.len() {
            5 => Err("not five".into()),
            _ => Ok(()),
        });
        assert_eq!(policy.check("1234"), Ok(()));
        assert_eq!(policy.check("123"), Err(KeyError::TooShort { min: 4 }));
        assert_eq!(policy.check("12345"), Err(KeyError::Refused { reason: "not five".into() }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn random_keys_are_taken(bits: u128, letters in "[A-Za-z0-9_-]{24,64}") {
            prop_assert_eq!(strict(&uuid::Builder::from_random_bytes(bits.to_le_bytes()).into_uuid().to_string()), Ok(()));
            prop_assert_eq!(strict(&letters), Ok(()));
        }
    }
}

//! Seals what is stored, if the engine has a key for it.

use std::sync::Arc;

use bytes::Bytes;

use crate::claim::Address;
#[cfg(feature = "encryption")]
pub use encryption::Encryption;

/// Begins everything that is sealed: no header line and no JSON begins so.
const SEALED: u8 = 0x01;

/// Turns stored bytes into others, and back: those of one part of one record, and of no other.
trait Cipher: Send + Sync {
    /// The bytes to store; `None` if they cannot be made.
    fn seal(&self, context: &[u8], plain: &[u8]) -> Option<Vec<u8>>;
    /// The bytes that were sealed; `None` without their key, or if anything was altered.
    fn open(&self, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>>;
}

/// A part of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Headers,
    /// The body of an answer of this status.
    Body(i64),
    /// The value of the step of this name.
    Step(&'a str),
    Arguments,
}

/// Something that cannot be sealed, or sealed that cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is sealed with a key that this engine does not have, or was altered")]
pub(crate) struct Unreadable;

/// The keys of an engine; without any, everything is stored as it is.
#[derive(Clone, Default)]
pub(crate) struct Vault(Option<Arc<dyn Cipher>>);

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Vault(sealing)" } else { "Vault" })
    }
}

impl Vault {
    /// Whether stored bytes are sealed.
    pub(crate) fn is_sealed(stored: &[u8]) -> bool {
        stored.first() == Some(&SEALED)
    }

    /// The bytes to store.
    pub(crate) fn seal(&self, address: &Address, part: Part<'_>, plain: Bytes) -> Result<Bytes, Unreadable> {
        let Some(cipher) = &self.0 else { return Ok(plain) };
        let Some(sealed) = cipher.seal(&context(address, part), &plain) else {
            tracing::error!(
                operation = address.operation,
                ?part,
                "a part of a record cannot be sealed, and is not stored"
            );
            return Err(Unreadable);
        };
        Ok([&[SEALED], &sealed[..]].concat().into())
    }

    /// What was stored. What was stored without a key is read as it is.
    pub(crate) fn open(&self, address: &Address, part: Part<'_>, stored: Bytes) -> Result<Bytes, Unreadable> {
        let [SEALED, sealed @ ..] = &stored[..] else { return Ok(stored) };
        let opened = self.0.as_ref().and_then(|cipher| cipher.open(&context(address, part), sealed));
        if opened.is_none() {
            tracing::error!(
                operation = address.operation,
                ?part,
                "a stored part of a record is sealed with a key that this engine does not have, or was altered"
            );
        }
        opened.map(Into::into).ok_or(Unreadable)
    }
}

/// What is sealed with the bytes: whose they are. Moved to another record, or to another part, they do not open.
fn context(address: &Address, part: Part<'_>) -> Vec<u8> {
    let (kind, name) = match part {
        Part::Headers => ("headers", String::new()),
        Part::Body(status) => ("body", status.to_string()),
        Part::Step(name) => ("step", name.to_owned()),
        Part::Arguments => ("arguments", String::new()),
    };
    address.digest_of(&[kind, &name]).to_vec()
}

#[cfg(feature = "encryption")]
mod encryption {
    use std::sync::Arc;

    use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
    use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};

    use super::{Cipher, Vault};

    const ID_BYTES: usize = 4;
    const NONCE_BYTES: usize = 24;

    /// Keys with which stored answers, recorded steps and kept arguments are encrypted: XChaCha20-Poly1305, an AEAD
    /// (RFC 8439 with the nonce of 192 bits of draft-irtf-cfrg-xchacha-03), with a random nonce for each value.
    ///
    /// Each value is bound to its record and its place in it. Keys, scopes, fingerprints, status codes and times are
    /// stored as they are: the protocol works on them. A fingerprint is an unkeyed SHA-256 of the request, so that
    /// somebody who reads the table can confirm a guess of a short one.
    ///
    /// The key of [`new`](Self::new) writes; every one given reads. To change keys, let all services read with the new one
    /// first, then write with it, and take the old one away after the longest ttl.
    ///
    /// ```
    /// use idempotent_runtime::Encryption;
    ///
    /// # let (today, yesterday) = ([7; 32], [8; 32]);
    /// let encryption = Encryption::new(2, &today).and_reads(1, &yesterday);
    /// # let _ = encryption;
    /// ```
    #[derive(Clone)]
    pub struct Encryption {
        writes: u32,
        keys: Vec<(u32, XChaCha20Poly1305)>,
    }

    impl std::fmt::Debug for Encryption {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let ids: Vec<u32> = self.keys.iter().map(|(id, _)| *id).collect();
            f.debug_struct("Encryption").field("writes", &self.writes).field("reads", &ids).finish()
        }
    }

    impl Encryption {
        /// Writes and reads with a key of 256 random bits. The number names it in every value that is stored.
        ///
        /// ```
        /// # use idempotent_runtime::Encryption;
        /// let encryption = Encryption::new(1, &[7; 32]);
        /// # let _ = encryption;
        /// ```
        #[must_use]
        pub fn new(id: u32, key: &[u8; 32]) -> Self {
            Self { writes: id, keys: vec![(id, XChaCha20Poly1305::new(&Key::from(*key)))] }
        }

        /// Reads with another key too: an older one, or the one to come. Of two with one number the first counts.
        ///
        /// ```
        /// # use idempotent_runtime::Encryption;
        /// let encryption = Encryption::new(2, &[7; 32]).and_reads(1, &[8; 32]);
        /// # let _ = encryption;
        /// ```
        #[must_use]
        pub fn and_reads(mut self, id: u32, key: &[u8; 32]) -> Self {
            self.keys.push((id, XChaCha20Poly1305::new(&Key::from(*key))));
            self
        }

        fn key(&self, id: u32) -> Option<&XChaCha20Poly1305> {
            self.keys.iter().find(|(known, _)| *known == id).map(|(_, key)| key)
        }
    }

    /// The number of the key, the nonce, and what the AEAD makes.
    impl Cipher for Encryption {
        fn seal(&self, context: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
            let nonce = XNonce::try_generate().ok()?;
            let sealed = self.key(self.writes)?.encrypt(&nonce, Payload { msg: plain, aad: context }).ok()?;
            Some([&self.writes.to_be_bytes(), &nonce[..], &sealed[..]].concat())
        }

        fn open(&self, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
            let (id, rest) = sealed.split_first_chunk::<ID_BYTES>()?;
            let (nonce, sealed) = rest.split_first_chunk::<NONCE_BYTES>()?;
            let key = self.key(u32::from_be_bytes(*id))?;
            key.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: context }).ok()
        }
    }

    impl From<Encryption> for Vault {
        fn from(encryption: Encryption) -> Self {
            Self(Some(Arc::new(encryption)))
        }
    }

    #[cfg(test)]
    mod tests {
        use bytes::Bytes;

        use super::*;
        use crate::claim::Address;
        use crate::key::Key as Name;
        use crate::vault::{Part, Unreadable};

        fn address(key: &str) -> Address {
            Address {
                namespace: String::new(),
                operation: "a".into(),
                scope: "b".into(),
                key: Name::natural(key).unwrap(),
                vault: Vault::default(),
            }
        }

        fn vault(id: u32, byte: u8) -> Vault {
            Encryption::new(id, &[byte; 32]).into()
        }

        #[test]
        fn what_is_sealed_opens_where_it_was_sealed_and_nowhere_else() {
            let (vault, here) = (vault(1, 7), address("k"));
            let sealed = vault.seal(&here, Part::Body(200), "secret".into()).unwrap();
            assert!(Vault::is_sealed(&sealed) && !sealed.windows(6).any(|bytes| bytes == b"secret"));
            let open = |vault: &Vault, address: &Address, part| vault.open(address, part, sealed.clone());
            assert_eq!(open(&vault, &here, Part::Body(200)).unwrap(), "secret");
            for (other, part) in [
                (address("l"), Part::Body(200)),
                (here.clone(), Part::Body(201)),
                (here.clone(), Part::Headers),
                (here.clone(), Part::Step("200")),
                (here.clone(), Part::Arguments),
            ] {
                assert_eq!(open(&vault, &other, part), Err(Unreadable), "{part:?}");
            }
        }

        #[test]
        fn no_bit_can_be_altered_unseen() {
            let (vault, here) = (vault(1, 7), address("k"));
            let sealed = vault.seal(&here, Part::Headers, "x".into()).unwrap();
            for n in 8..sealed.len() * 8 {
                let mut altered = sealed.to_vec();
                altered[n / 8] ^= 1 << (n % 8);
                assert_eq!(vault.open(&here, Part::Headers, altered.into()), Err(Unreadable), "bit {n}");
            }
            assert_eq!(
                vault.open(&here, Part::Headers, Bytes::from_static(&[super::super::SEALED])),
                Err(Unreadable),
                "cut short"
            );
        }

        #[test]
        fn keys_are_changed_without_losing_what_is_stored() {
            let (old, here) = (vault(1, 7), address("k"));
            let sealed = old.seal(&here, Part::Arguments, "x".into()).unwrap();
            let both: Vault = Encryption::new(2, &[8; 32]).and_reads(1, &[7; 32]).into();
            assert_eq!(both.open(&here, Part::Arguments, sealed.clone()).unwrap(), "x");
            assert_eq!(vault(2, 8).open(&here, Part::Arguments, sealed.clone()), Err(Unreadable));
            assert_eq!(vault(1, 8).open(&here, Part::Arguments, sealed.clone()), Err(Unreadable));
            assert_eq!(Vault::default().open(&here, Part::Arguments, sealed), Err(Unreadable));
            assert_eq!(both.open(&here, Part::Arguments, "{}".into()).unwrap(), "{}", "stored before there was a key");
        }

        #[test]
        fn the_same_value_is_never_sealed_the_same() {
            let (vault, here) = (vault(1, 7), address("k"));
            let seal = || vault.seal(&here, Part::Headers, "x".into()).unwrap();
            assert_ne!(seal(), seal());
        }
    }
}

//! What natural keys and scopes are made of.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::hex::hex;
use crate::key::MAX_KEY_BYTES;

/// The stored text of a natural key or scope; `None` when it is empty.
pub(crate) fn storable(value: &(impl KeyPart + ?Sized)) -> Option<String> {
    const HASHED: &str = "sha256:";
    let mut text = String::new();
    value.encode(&mut text);
    if text.is_empty() {
        return None;
    }
    // A literal that looks like a digest is hashed too, so that nobody can name another's digest.
    if text.len() > MAX_KEY_BYTES || text.contains('\0') || text.starts_with(HASHED) {
        let digest = Sha256::digest(text.as_bytes());
        return Some(format!("{HASHED}{}", hex(&digest)));
    }
    Some(text)
}

/// What may stand in `key = …` and `scope = …`: strings, integers, `bool`, UUIDs, references to them, and tuples,
/// whose members are encoded with their lengths, so that `("a", "bc")` and `("ab", "c")` differ.
///
/// ```
/// use idempotent_runtime::{Key, KeyPart};
///
/// struct PostId(i64);
/// impl KeyPart for PostId {
///     fn encode(&self, out: &mut String) {
///         self.0.encode(out);
///     }
/// }
/// assert_eq!(Key::natural(&PostId(7)).unwrap().as_str(), "7");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key or a scope",
    label = "expected a string, an integer, a `Uuid` or a tuple of them",
    note = "implement `KeyPart` for `{Self}`, or name the field that identifies it, such as `user.id`"
)]
pub trait KeyPart {
    /// Appends the text of this value.
    ///
    /// ```
    /// use idempotent_runtime::KeyPart;
    ///
    /// let mut text = String::new();
    /// (1, "a").encode(&mut text);
    /// assert_eq!(text, "1:11:a");
    /// ```
    fn encode(&self, out: &mut String);
}

impl KeyPart for str {
    fn encode(&self, out: &mut String) {
        out.push_str(self);
    }
}

impl KeyPart for String {
    fn encode(&self, out: &mut String) {
        out.push_str(self);
    }
}

impl KeyPart for Cow<'_, str> {
    fn encode(&self, out: &mut String) {
        out.push_str(self);
    }
}

impl KeyPart for uuid::Uuid {
    fn encode(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl<T: KeyPart + ?Sized> KeyPart for &T {
    fn encode(&self, out: &mut String) {
        (**self).encode(out);
    }
}

macro_rules! displayed {
    ($($type:ty),*) => {$(
        impl KeyPart for $type {
            fn encode(&self, out: &mut String) {
                let _ = write!(out, "{self}");
            }
        }
    )*};
}
displayed!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, bool);

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: KeyPart),*> KeyPart for ($($name,)*) {
            fn encode(&self, out: &mut String) {
                #[allow(non_snake_case, reason = "the type parameters name their values")]
                let ($($name,)*) = self;
                $(
                    let mut part = String::new();
                    $name.encode(&mut part);
                    let _ = write!(out, "{}:{part}", part.len());
                )*
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

//! Which function has which operation name: two of one name would give each other's answers back.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Error;

/// Where an annotated function stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its path.
    pub function: &'static str,
    /// The file, line and column of its attribute.
    pub at: (&'static str, u32, u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, at: (file, line, _) } = self;
        write!(f, "`{function}` ({file}:{line})")
    }
}

/// The operations that an engine was called for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operations(Arc<RwLock<HashMap<&'static str, Place>>>);

impl Operations {
    /// Notes whose name this is; an error if it is another function's.
    pub(crate) fn check(&self, name: &'static str, place: Place) -> Result<(), Error> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let known = known
            .unwrap_or_else(|| *self.0.write().unwrap_or_else(PoisonError::into_inner).entry(name).or_insert(place));
        if known == place {
            return Ok(());
        }
        Err(Error::misconfigured(format!(
            "{place} and {known} are both named `{name}`, and would give each other's answers back; give one of them \
             another name (`name = …`)"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_function_of_a_name_is_refused_and_both_are_named() {
        let operations = Operations::default();
        let place = |function, line| Place { function, at: ("src/a.rs", line, 1) };
        for _ in 0..2 {
            operations.check("likes.add", place("a::like", 3)).unwrap();
        }
        operations.check("likes.remove", place("a::like", 3)).unwrap();
        let refused = operations.check("likes.add", place("b::like", 9)).unwrap_err().to_string();
        for said in ["`a::like` (src/a.rs:3)", "`b::like` (src/a.rs:9)", "`likes.add`", "name = "] {
            assert!(refused.contains(said), "{refused}");
        }
        operations.check("likes.add", place("a::like", 3)).unwrap();
    }
}

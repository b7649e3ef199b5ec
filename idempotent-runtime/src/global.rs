//! The installed engines: one for each connection type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use once_cell::sync::{Lazy, OnceCell};

use crate::engine::{Engine, Idempotency};
use crate::error::Error;
use crate::settings::Form;

type Installed = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

static ENGINES: Lazy<RwLock<Installed>> = Lazy::new(RwLock::default);
static FIRST: OnceCell<Arc<dyn Engine>> = OnceCell::new();

pub(crate) fn install<C: Send + 'static>(engine: &Idempotency<C>) -> Result<(), Error> {
    let mut engines = ENGINES.write().unwrap_or_else(PoisonError::into_inner);
    if engines.contains_key(&TypeId::of::<C>()) {
        return Err(Error::misconfigured(format!(
            "an engine for `{}` is installed already; keep this one in your state and write `engine = …`",
            type_name::<C>()
        )));
    }
    engines.insert(TypeId::of::<C>(), Box::new(engine.clone()));
    let _ = FIRST.set(engine.erased());
    Ok(())
}

/// Where an annotated function finds its engine.
#[derive(Debug, Clone, Copy)]
pub struct Global;

/// An engine for connections of one type.
pub trait EngineFor<C: 'static> {
    #[doc(hidden)]
    fn find(self) -> Result<Idempotency<C>, Error>;
}

impl<C: Send + 'static> EngineFor<C> for Global {
    fn find(self) -> Result<Idempotency<C>, Error> {
        let engines = ENGINES.read().unwrap_or_else(PoisonError::into_inner);
        let engine = engines.get(&TypeId::of::<C>()).and_then(|engine| engine.downcast_ref::<Idempotency<C>>());
        engine.cloned().ok_or_else(|| not_installed(&format!(" for `{}`", type_name::<C>())))
    }
}

impl<C: Send + 'static> EngineFor<C> for Idempotency<C> {
    fn find(self) -> Result<Self, Error> {
        Ok(self)
    }
}

/// An engine of any connection type, for runs that hold no connection.
pub trait AnyEngine {
    #[doc(hidden)]
    fn find_any(self) -> Result<ErasedEngine, Error>;
}

/// An engine whose connection type is forgotten.
pub struct ErasedEngine(pub(crate) Arc<dyn Engine>);

impl std::fmt::Debug for ErasedEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ErasedEngine")
    }
}

impl AnyEngine for Global {
    fn find_any(self) -> Result<ErasedEngine, Error> {
        FIRST.get().cloned().map(ErasedEngine).ok_or_else(|| not_installed(""))
    }
}

impl<C: Send + 'static> AnyEngine for Idempotency<C> {
    fn find_any(self) -> Result<ErasedEngine, Error> {
        Ok(ErasedEngine(self.erased()))
    }
}

/// The form of answers that are given before an engine is known: that of the first one installed.
pub(crate) fn form() -> Form {
    FIRST.get().map(|engine| engine.settings().form.clone()).unwrap_or_default()
}

fn not_installed(of: &str) -> Error {
    Error::misconfigured(format!(
        "no engine{of} is installed; call `.install()` on one at start, or write `engine = …` in the attribute"
    ))
}

use super::database;

mod actix;
mod agreement;
pub(crate) mod app;
mod axum;
mod contested;
mod dropped;
mod graphs;
mod identity;
mod interleavings;
mod layer;
pub(crate) mod machines;
mod plain;
mod pools;

//! Everything between the socket and a route.

pub mod address_budgets;
pub(crate) mod assets;
pub(crate) mod edge;
pub(crate) mod extract;
pub(crate) mod fast_path;
pub(crate) mod language;
pub mod listener;
pub(crate) mod openapi;
pub(crate) mod problem;
pub(crate) mod proxies;
pub(crate) mod respond;

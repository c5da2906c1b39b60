//! Payment companies.

pub mod sandbox;

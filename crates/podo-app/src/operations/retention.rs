//! Retention: which rows are deleted after how long, and which stay.

pub mod cleanup;
pub mod erasure;

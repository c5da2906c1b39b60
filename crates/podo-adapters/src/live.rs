//! Engines for volatile state, which may lose everything: in memory, and on Redis.

pub mod memory;
pub mod redis;
mod waiting_index;

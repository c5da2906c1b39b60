//! Entering, polling and streaming the waiting room.

pub(crate) mod admin;
pub(crate) mod admin_log;
pub(crate) mod course;
pub(crate) mod history;
pub(crate) mod queue;
pub(crate) mod stream;
pub mod streams;

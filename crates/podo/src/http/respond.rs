//! Parts of responses: answers of hot routes, cookies, CSV, compressed bodies, event streams, stored idempotent responses.

pub(crate) mod answer;
pub(crate) mod cookies;
pub(crate) mod csv;
pub(crate) mod encodings;
pub(crate) mod events;
pub(crate) mod idempotent;

//! Parts of responses: cookies, CSV, compressed bodies, stored idempotent responses.

pub(crate) mod cookies;
pub(crate) mod csv;
pub(crate) mod encodings;
pub(crate) mod idempotent;

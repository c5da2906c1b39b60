//! Attacks that worked once, replayed against the server over HTTP.

mod log_in;
mod redirects;
mod sessions;
mod step_up;

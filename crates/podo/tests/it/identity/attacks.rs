//! Attacks that worked once, replayed against the server over HTTP.

#[path = "attacks/log_in.rs"]
mod log_in;

#[path = "attacks/redirects.rs"]
mod redirects;

#[path = "attacks/sessions.rs"]
mod sessions;

#[path = "attacks/step_up.rs"]
mod step_up;

#[path = "attacks/transfers.rs"]
mod transfers;

//! Attacks that worked once, replayed against the server over HTTP.

mod step_up;

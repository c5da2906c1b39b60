//! The sandbox's server, which can be killed.

use crate::cli::stage::own_server::{OwnServer, program};
use anyhow::Result;
use std::path::Path;

/// Starts the server on a free port.
pub(super) fn start(data: &Path) -> Result<OwnServer> {
    start_at("127.0.0.1:0", data)
}

/// Kills the server without a shutdown: nothing is flushed or finished.
pub(super) fn kill_and_restart(server: &mut OwnServer, data: &Path) -> Result<()> {
    server.process.kill()?;
    server.process.wait()?;
    let place = server.url.trim_start_matches("http://").to_owned();
    *server = start_at(&place, data)?;
    Ok(())
}

/// Clears all real settings: the real store, gateways and mail stay out of reach.
fn start_at(listen: &str, data: &Path) -> Result<OwnServer> {
    let mut program = program()?;
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("PODO_")) {
            program.env_remove(&name);
        }
    }
    program.env("PODO_LIMITS", "off").env("RUST_LOG", "error");
    OwnServer::start(program, listen, data)
}

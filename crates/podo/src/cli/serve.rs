//! `podo serve`.

use crate::bootstrap;
use crate::config::Config;
use crate::http::listener;
use crate::server::Server;
use anyhow::Result;
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Args)]
pub(super) struct Serve {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// Roles of this node: api, or any of queue, booking, payment, catalog, admin; admitter;
    /// worker. All of them by default.
    #[arg(long, value_name = "ROLE,ROLE…")]
    pub(super) roles: Option<String>,
}

pub(super) async fn run(config: Config) -> Result<ExitCode> {
    crate::cli::start_log(&config);
    warn_of_shared_file(&config);
    // Before the node announces itself: an earlier signal would end the process immediately.
    let mut signals = Signals::listen()?;
    raise_open_files();
    let listener = listener::bind(&config.listen)?;
    let bootstrapped = bootstrap::context(&config).await?;
    let running = Box::pin(Server::start(&config, bootstrapped, listener)).await?;
    println!("{}", running.url());
    tracing::info!(address = %running.address, roles = %config.roles, "Podo is ready");
    if let Some(address) = running.inner {
        tracing::info!(%address, "Serving metrics and health");
    }
    signals.wait().await;
    tracing::info!("Shutting down; requests in flight may finish");
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Raises the limit of open files as far as the system allows, because each connection is one.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    if limit.maximum.is_some() && setrlimit(Resource::Nofile, raised).is_err() {
        tracing::debug!("Could not raise the limit of open files");
    }
}

/// Several processes can share a SQLite file, but each waits for the others' writes.
fn warn_of_shared_file(config: &Config) {
    if !config.roles.is_complete() && config.store_url.starts_with("sqlite:") {
        tracing::warn!("Nodes with different roles should share a PostgreSQL store_url");
    }
}

/// Requests to shut down, from the operator or the system.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From here on, a signal no longer ends the process by itself.
    fn listen() -> Result<Signals> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Signals { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Waits for a request to shut down.
pub(super) async fn wait_for_signal() -> Result<()> {
    Signals::listen()?.wait().await;
    Ok(())
}

//! `podo serve`.

use crate::config::Config;
use crate::running::Running;
use crate::{web, wire};
use anyhow::Result;
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Args)]
pub(super) struct Serve {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// What this node does: api, or any of queue, booking, payment, catalog, admin; admitter;
    /// worker. Everything unless said otherwise.
    #[arg(long, value_name = "ROLE,ROLE…")]
    pub(super) roles: Option<String>,
}

pub(super) async fn run(config: Config) -> Result<ExitCode> {
    super::start_log(&config);
    warn_of_shared_file(&config);
    // Before anybody can know that we run: a signal that comes earlier would end us at once.
    let mut signals = Signals::listen()?;
    raise_open_files();
    let listener = web::bind(&config.listen)?;
    let wired = wire::platform(&config).await?;
    let running = Box::pin(Running::start(&config, wired, listener)).await?;
    println!("{}", running.url());
    tracing::info!(address = %running.address, roles = %config.roles, "Podo is ready");
    if let Some(address) = running.inner {
        tracing::info!(%address, "Metrics and health are here");
    }
    signals.wait().await;
    tracing::info!("Stopping: running requests may finish");
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// A connection is an open file: as many as the system allows.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    if limit.maximum.is_some() && setrlimit(Resource::Nofile, raised).is_err() {
        tracing::debug!("The limit of open files stays as it is");
    }
}

/// Several processes can share a SQLite file, but each waits for the other's writes.
fn warn_of_shared_file(config: &Config) {
    if !config.roles.is_complete() && config.store_url.starts_with("sqlite:") {
        tracing::warn!("Nodes that share the roles should share a store_url of postgres://…");
    }
}

/// The operator or the system asks us to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From here on a signal does not end the process: it is waited for.
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

/// Waits until the operator or the system asks us to stop.
pub(super) async fn wait_for_signal() -> Result<()> {
    Signals::listen()?.wait().await;
    Ok(())
}

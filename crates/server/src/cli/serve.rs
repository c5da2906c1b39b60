//! `podo serve`.

use crate::config::Config;
use crate::running::Running;
use crate::{web, wire};
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args)]
pub(super) struct Serve {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
}

pub(super) async fn run(config: Config) -> Result<ExitCode> {
    super::start_log(&config);
    let listener = web::bind(&config.listen)?;
    let running = Running::start(&config, wire::platform(&config)?, listener).await?;
    println!("{}", running.url());
    tracing::info!(address = %running.address, "Podo is ready");
    wait_for_signal().await?;
    tracing::info!("Stopping: running requests may finish");
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Waits until the operator or the system asks us to stop.
pub(super) async fn wait_for_signal() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

//! The process from an operator's view: start, kill, backup, deployments.

#[path = "process/backup.rs"]
pub(crate) mod backup;
#[path = "process/bad_items.rs"]
pub(crate) mod bad_items;
#[path = "process/cli.rs"]
pub(crate) mod cli;
#[path = "process/cycles_embedded.rs"]
pub(crate) mod cycles_embedded;
#[path = "process/deploy.rs"]
pub(crate) mod deploy;
#[path = "process/disk.rs"]
pub(crate) mod disk;
#[path = "process/kill.rs"]
pub(crate) mod kill;
#[path = "process/power_cuts.rs"]
pub(crate) mod power_cuts;
#[path = "process/readiness.rs"]
pub(crate) mod readiness;
#[path = "process/rehearsal.rs"]
pub(crate) mod rehearsal;
#[path = "process/secrets.rs"]
pub(crate) mod secrets;
#[path = "process/simulation.rs"]
pub(crate) mod simulation;

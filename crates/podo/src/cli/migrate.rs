//! `podo migrate`: the schema, and on PostgreSQL the roles with their privileges.

use crate::bootstrap;
use crate::bootstrap::Store;
use crate::config::{Config, StoreRoles};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use podo_adapters::sql::{Roles, SqlStore};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Migrate {
    /// Leave PostgreSQL's roles and privileges unchanged.
    #[arg(long)]
    no_roles: bool,
    /// Print the statements without running them.
    #[arg(long)]
    plan: bool,
}

pub(super) async fn run(migrate: Migrate, config: Config) -> Result<ExitCode> {
    if migrate.plan {
        return plan(&config).await;
    }
    match Store::named_by(&config.store_url, &config.data)? {
        // Opening the store migrates its schema.
        Store::Sqlite(_) => drop(bootstrap::context(&config).await?),
        Store::Postgres(url) => {
            let settings = config.postgres(&url)?;
            let roles = SqlStore::migrate_postgres(&settings, !migrate.no_roles).await;
            tell(&roles.map_err(|error| anyhow!(error))?, config.store_roles)?;
        }
    }
    println!("The schema is up to date.");
    Ok(ExitCode::SUCCESS)
}

/// Prints a commented script, so that someone else can review, keep or run it.
async fn plan(config: &Config) -> Result<ExitCode> {
    let plan = match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(path) => SqlStore::plan_sqlite(&path),
        Store::Postgres(url) => SqlStore::plan_postgres(&config.postgres(&url)?).await,
    };
    let plan = plan.map_err(|error| anyhow!(error))?;
    match plan.steps.last() {
        None => {
            println!("-- The schema is up to date (V{}); nothing to do.", plan.known);
        }
        Some(last) => println!("-- From V{} to V{}.", plan.known, last.version),
    }
    for step in &plan.steps {
        println!("\n-- V{} {}\n{}", step.version, step.name, step.sql.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Missing roles are an error only if the settings ask for them.
fn tell(roles: &Roles, wanted: StoreRoles) -> Result<()> {
    match (roles, wanted) {
        (Roles::Ready, _) => println!("The roles have the privileges of this version."),
        (Roles::LeftAlone, _) => {}
        (Roles::Missing(names), wanted) => {
            let what = format!(
                "this user may not create roles, and these are missing: {}. Ask an administrator \
                 run `create role NAME nologin` for each (a login of a service: `create role NAME \
                 login password …` and `grant podo_… to NAME`), then run `podo migrate` again",
                names.join(", ")
            );
            match wanted {
                StoreRoles::On | StoreRoles::Logins => {
                    bail!("{what}, or set store_roles = \"auto\" or \"off\".")
                }
                StoreRoles::Off | StoreRoles::Auto => {
                    println!("Without roles: {what}; `--no-roles` skips this.");
                }
            }
        }
    }
    Ok(())
}

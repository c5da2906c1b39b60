//! `podo migrate`: the schema, and on PostgreSQL the roles with their rights.

use crate::config::{Config, StoreRoles};
use crate::wire::{self, Store};
use adapters::sql::{Roles, SqlStore};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Migrate {
    /// Leave PostgreSQL's roles and rights as they are.
    #[arg(long)]
    no_roles: bool,
    /// Print the statements that would be run, and run none.
    #[arg(long)]
    plan: bool,
}

pub(super) async fn run(migrate: Migrate, config: Config) -> Result<ExitCode> {
    if migrate.plan {
        return plan(&config).await;
    }
    match Store::named_by(&config.store_url, &config.data)? {
        // Opening the store brings its schema up to date.
        Store::Sqlite(_) => drop(wire::platform(&config).await?),
        Store::Postgres(url) => {
            let settings = config.postgres(&url)?;
            let roles = SqlStore::migrate_postgres(&settings, !migrate.no_roles).await;
            tell(&roles.map_err(|error| anyhow!(error))?, config.store_roles)?;
        }
    }
    println!("The schema is up to date.");
    Ok(ExitCode::SUCCESS)
}

/// A script that says what it is, so that it can be read, kept or run by somebody else.
async fn plan(config: &Config) -> Result<ExitCode> {
    let plan = match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(path) => SqlStore::plan_sqlite(&path),
        Store::Postgres(url) => SqlStore::plan_postgres(&config.postgres(&url)?).await,
    };
    let plan = plan.map_err(|error| anyhow!(error))?;
    match plan.steps.last() {
        None => {
            println!("-- The schema is up to date (V{}); nothing would be changed.", plan.known);
        }
        Some(last) => println!("-- From V{} to V{}.", plan.known, last.version),
    }
    for step in &plan.steps {
        println!("\n-- V{} {}\n{}", step.version, step.name, step.sql.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Missing roles are a failure only for those who want to use them.
fn tell(roles: &Roles, wanted: StoreRoles) -> Result<()> {
    match (roles, wanted) {
        (Roles::Ready, _) => println!("The roles have the rights of this version."),
        (Roles::LeftAlone, _) => {}
        (Roles::Missing(names), wanted) => {
            let what = format!(
                "this user may not create roles, and these are missing: {}. Let an administrator \
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

//! Bringing the schema and the rights up to date.

use super::complaints::{self, explain_any};
use super::logins::Login;
use super::settings::PostgresSettings;
use super::target::Target;
use crate::sql::DatabaseRole;
use crate::sql::plan::Plan;
use postgres_protocol::password::scram_sha_256;
use std::time::Duration;
use tokio_postgres::Client;

mod migrations {
    refinery::embed_migrations!("migrations/postgres");
}

/// What each role may do.
const GRANTS: &str = include_str!("roles.sql");

/// The key of the lock under which nodes that start together migrate one after the other.
const LOCK: i64 = 0x706f_646f;

/// What became of the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roles {
    /// They exist and have the rights of this version.
    Ready,
    /// Nobody asked for them.
    LeftAlone,
    /// These are missing, and this user may not create them.
    Missing(Vec<String>),
}

/// How often a node looks whether another has migrated.
const LOOK_EVERY: Duration = Duration::from_millis(100);

type Result<T> = std::result::Result<T, String>;

/// What a node does at its start: nothing when the schema is up to date, which takes no more
/// rights than a role has.
pub(super) async fn catch_up(settings: &PostgresSettings, extra: Option<&str>) -> Result<()> {
    let has_roles = settings.connections.has_roles();
    in_session(settings, settings.session()?, async |client| {
        if !answered(settings, is_up_to_date(client)).await? {
            migrate(client).await.map_err(|error| {
                format!("the schema is not up to date, run `podo migrate` as its owner: {error}")
            })?;
            if has_roles {
                let roles = make_roles(client, settings).await?;
                if !settings.are_roles_optional {
                    refuse_missing(roles)?;
                }
            }
        }
        match extra {
            Some(sql) => client.batch_execute(sql).await.map_err(explain),
            None => Ok(()),
        }
    })
    .await
}

/// Everything, for the owner of the schema.
pub(super) async fn migrate_all(settings: &PostgresSettings, with_roles: bool) -> Result<Roles> {
    in_session(settings, settings.primary(None)?, async |client| {
        migrate(client).await?;
        match with_roles {
            true => make_roles(client, settings).await,
            false => Ok(Roles::LeftAlone),
        }
    })
    .await
}

/// The schema as it was at a version.
#[cfg(feature = "mutants")]
pub(super) async fn migrate_to(settings: &PostgresSettings, version: i32) -> Result<()> {
    in_session(settings, settings.primary(None)?, async |client| {
        let schema = "create schema if not exists common";
        client.batch_execute(schema).await.map_err(explain)?;
        let runner =
            migrations::migrations::runner().set_target(refinery::Target::Version(version));
        runner.run_async(client).await.map_err(|error| explain_any(&error))?;
        Ok(())
    })
    .await
}

fn refuse_missing(roles: Roles) -> Result<()> {
    match roles {
        Roles::Ready | Roles::LeftAlone => Ok(()),
        Roles::Missing(names) => Err(format!(
            "the roles {} are missing and this user may not create them; create them, or set \
             store_roles = \"auto\" or \"off\"",
            names.join(", ")
        )),
    }
}

/// Whether the services act in their roles. A login that may not is found here, and not by the first
/// fan whose command is refused.
pub(super) async fn choose_roles(settings: &PostgresSettings) -> Result<PostgresSettings> {
    let mut chosen = settings.clone();
    if !settings.connections.has_roles() || settings.logins.is_some() {
        return Ok(chosen);
    }
    let tried = connected(settings.primary(None)?, async |client| {
        for role in DatabaseRole::ALL {
            let sql = format!("set role {}; reset role", role.as_str());
            client.batch_execute(&sql).await.map_err(explain)?;
        }
        Ok(())
    });
    match answered(settings, tried).await {
        Ok(()) => Ok(chosen),
        Err(why) if settings.are_roles_optional => {
            tracing::warn!(why, "All services share one login that may touch every table");
            chosen.connections = settings.connections.shared();
            Ok(chosen)
        }
        Err(why) => Err(format!("the services cannot act in their roles: {why}")),
    }
}

/// What this version would change, with nothing changed.
pub(super) async fn plan(settings: &PostgresSettings) -> Result<Plan> {
    let look = connected(settings.primary(None)?, async |client| version(client).await);
    let known = answered(settings, look).await?;
    Ok(Plan::after(known, migrations::migrations::runner().get_migrations()))
}

/// What the server's clock says, in milliseconds since 1970.
pub(super) async fn clock_ms(settings: &PostgresSettings) -> Result<i64> {
    let sql = "select (extract(epoch from clock_timestamp()) * 1000)::bigint";
    let ask = connected(settings.session()?, async |client| {
        Ok(client.query_one(sql, &[]).await.map_err(explain)?.get(0))
    });
    answered(settings, ask).await
}

/// Runs on one connection, with the lock that others wait for.
async fn in_session<T>(
    settings: &PostgresSettings,
    target: Target,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    connected(target, async |client| {
        // Another node may migrate for longer than one of our statements may wait. The lock goes
        // with the connection.
        answered(settings, async {
            let patience = "set statement_timeout = 0; set lock_timeout = 0";
            client.batch_execute(patience).await.map_err(explain)
        })
        .await?;
        while !answered(settings, take_lock(client)).await? {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        work(client).await
    })
    .await
}

/// Asks for the lock instead of waiting for it: an answer that does not come means that nobody is
/// there, not that another node still migrates.
async fn take_lock(client: &Client) -> Result<bool> {
    let taken = client.query_one("select pg_try_advisory_lock($1)", &[&LOCK]).await;
    Ok(taken.map_err(explain)?.get(0))
}

/// What the server says, if it says it in time. A migration itself may take as long as it likes:
/// only the kernel notices that the server has gone in the middle of one.
pub(super) async fn answered<T>(
    settings: &PostgresSettings,
    ask: impl Future<Output = Result<T>>,
) -> Result<T> {
    let answer = tokio::time::timeout(settings.deadline, ask).await;
    answer.map_err(|_late| "the database does not answer".to_owned())?
}

/// Runs on one connection.
pub(super) async fn connected<T>(
    target: Target,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    let connected = target.connect().await;
    let (mut client, connection) =
        connected.map_err(|error| format!("cannot connect to the database: {error}"))?;
    let work = async move { work(&mut client).await };
    // The connection works only while it is polled; it ends when the client is dropped.
    let (result, _) = futures::join!(work, connection);
    result
}

async fn is_up_to_date(client: &Client) -> Result<bool> {
    let known = version(client).await?;
    Ok(Plan::after(known, migrations::migrations::runner().get_migrations()).steps.is_empty())
}

/// The version of the schema; 0 where there is none.
async fn version(client: &Client) -> Result<i64> {
    let exists = "select to_regclass('common.refinery_schema_history') is not null";
    if !client.query_one(exists, &[]).await.map_err(explain)?.get::<_, bool>(0) {
        return Ok(0);
    }
    let latest = "select coalesce(max(version), 0)::bigint from common.refinery_schema_history";
    Ok(client.query_one(latest, &[]).await.map_err(explain)?.get(0))
}

async fn migrate(client: &mut Client) -> Result<()> {
    let schema = "create schema if not exists common";
    client.batch_execute(schema).await.map_err(explain)?;
    let runner = migrations::migrations::runner();
    runner.run_async(client).await.map_err(|error| explain_any(&error))?;
    Ok(())
}

async fn make_roles(client: &mut Client, settings: &PostgresSettings) -> Result<Roles> {
    let may = "select rolsuper or rolcreaterole from pg_roles where rolname = current_user";
    let may_create: bool = client.query_one(may, &[]).await.map_err(explain)?.get(0);
    let mut missing = Vec::new();
    for role in DatabaseRole::ALL {
        match may_create {
            true => create_role(client, role).await?,
            false if exists(client, role.as_str()).await? => {}
            false => missing.push(role.as_str().to_owned()),
        }
    }
    for role in DatabaseRole::ALL {
        let Some(login) = settings.logins.as_ref().map(|logins| logins.of(role)) else { break };
        match may_create {
            true => create_login(client, role, login).await?,
            false if exists(client, &login.name).await? => {}
            false => missing.push(login.name.clone()),
        }
    }
    if !missing.is_empty() {
        return Ok(Roles::Missing(missing));
    }
    // All of it or nothing: running nodes never find themselves without a right.
    let transaction = client.transaction().await.map_err(explain)?;
    transaction.batch_execute(GRANTS).await.map_err(explain)?;
    transaction.commit().await.map_err(explain)?;
    Ok(Roles::Ready)
}

async fn exists(client: &Client, role: &str) -> Result<bool> {
    let sql = "select 1 from pg_roles where rolname = $1";
    Ok(client.query_opt(sql, &[&role]).await.map_err(explain)?.is_some())
}

/// Roles belong to the whole server: a node that migrates another database may be faster. Who creates
/// them may act in them, which a superuser may in any case. From PostgreSQL 16 on a member by creation
/// may only hand the role on, so `usage` is what counts; roles that an administrator made are theirs to
/// give.
async fn create_role(client: &Client, role: DatabaseRole) -> Result<()> {
    let name = role.as_str();
    let sql = format!(
        "do $$ begin create role {name} nologin;
            exception when duplicate_object or unique_violation then null; end $$;
         do $$ begin
            if not pg_has_role(current_user, '{name}', 'usage') then
                grant {name} to current_user;
            end if;
            exception when insufficient_privilege then null;
         end $$"
    );
    client.batch_execute(&sql).await.map_err(explain)
}

/// A login that has the rights of one role and no other. The password is sent as the server keeps it,
/// so that no log of statements shows it.
async fn create_login(client: &Client, role: DatabaseRole, login: &Login) -> Result<()> {
    let (name, role) = (&login.name, role.as_str());
    let password = scram_sha_256(login.password.as_bytes());
    let sql = format!(
        "do $$ begin create role {name};
            exception when duplicate_object or unique_violation then null; end $$;
         alter role {name} with login inherit password '{password}';
         grant {role} to {name}"
    );
    client.batch_execute(&sql).await.map_err(explain)
}

pub(super) fn explain(error: tokio_postgres::Error) -> String {
    complaints::explain(&error)
}

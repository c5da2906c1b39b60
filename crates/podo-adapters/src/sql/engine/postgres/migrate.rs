//! Migrates the schema and the grants.

use crate::sql::DatabaseRole;
use crate::sql::engine::plan::MigrationPlan;
use crate::sql::engine::postgres::connect::logins::Login;
use crate::sql::engine::postgres::connect::settings::PostgresSettings;
use crate::sql::engine::postgres::connect::target::Target;
use crate::sql::engine::postgres::error_text;
use crate::sql::engine::postgres::error_text::explain_any;
use postgres_protocol::password::scram_sha_256;
use std::time::Duration;
use tokio_postgres::Client;

mod migrations {
    refinery::embed_migrations!("migrations/postgres");
}

/// The grants of each role.
const GRANTS: &str = include_str!("roles.sql");

/// The advisory lock that serialises migrations of nodes that start together.
const LOCK: i64 = 0x706f_646f;

/// The state of the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roles {
    /// They exist and have this version's grants.
    Ready,
    /// Not requested.
    LeftAlone,
    /// These are missing, and this user can't create them.
    Missing(Vec<String>),
}

/// Poll interval while another node migrates.
const LOOK_EVERY: Duration = Duration::from_millis(100);

type Result<T> = std::result::Result<T, String>;

/// Migrates at a node's start. Needs no more than a role's grants if the schema is up to date.
pub(crate) async fn catch_up(settings: &PostgresSettings) -> Result<()> {
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
        Ok(())
    })
    .await
}

/// The full migration, for the schema's owner.
pub(crate) async fn migrate_all(settings: &PostgresSettings, with_roles: bool) -> Result<Roles> {
    in_session(settings, settings.primary(None)?, async |client| {
        migrate(client).await?;
        match with_roles {
            true => make_roles(client, settings).await,
            false => Ok(Roles::LeftAlone),
        }
    })
    .await
}

/// The schema at a given version.
#[cfg(feature = "mutants")]
pub(crate) async fn migrate_to(settings: &PostgresSettings, version: i32) -> Result<()> {
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

/// Runs a statement of a test on the migrated schema.
#[cfg(feature = "mutants")]
pub(crate) async fn run_as_owner(settings: &PostgresSettings, sql: &str) -> Result<()> {
    catch_up(settings).await?;
    in_session(settings, settings.session()?, async |client| {
        client.batch_execute(sql).await.map_err(explain)
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

/// Whether services use their roles. Finds a login that lacks them at start-up, before a fan's
/// command fails.
pub(crate) async fn choose_roles(settings: &PostgresSettings) -> Result<PostgresSettings> {
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
            tracing::warn!(why, "All services share one login with access to every table");
            chosen.connections = settings.connections.shared();
            Ok(chosen)
        }
        Err(why) => Err(format!("the services cannot act in their roles: {why}")),
    }
}

/// What this version would change. Changes nothing.
pub(crate) async fn plan(settings: &PostgresSettings) -> Result<MigrationPlan> {
    let look = connected(settings.primary(None)?, async |client| version(client).await);
    let known = answered(settings, look).await?;
    Ok(MigrationPlan::after(known, migrations::migrations::runner().get_migrations()))
}

/// The server's clock, in milliseconds since 1970.
pub(crate) async fn clock_ms(settings: &PostgresSettings) -> Result<i64> {
    let sql = "select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms";
    let ask = connected(settings.session()?, async |client| {
        Ok(client.query_one(sql, &[]).await.map_err(explain)?.get("now_ms"))
    });
    answered(settings, ask).await
}

/// Runs on one connection, under the migration lock.
async fn in_session<T>(
    settings: &PostgresSettings,
    target: Target,
    command: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    connected(target, async |client| {
        // Another node may migrate for longer than a statement may wait. The lock ends with the
        // connection.
        answered(settings, async {
            let patience = "set statement_timeout = 0; set lock_timeout = 0";
            client.batch_execute(patience).await.map_err(explain)
        })
        .await?;
        while !answered(settings, take_lock(client)).await? {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        command(client).await
    })
    .await
}

/// Polls for the lock instead of blocking on it, so a missing answer means a dead server and not a
/// slow migration.
async fn take_lock(client: &Client) -> Result<bool> {
    let taken = client.query_one("select pg_try_advisory_lock($1) as is_taken", &[&LOCK]).await;
    Ok(taken.map_err(explain)?.get("is_taken"))
}

/// The server's answer, within the deadline. The migration itself has no deadline; TCP keepalives
/// detect a server that dies during it.
pub(crate) async fn answered<T>(
    settings: &PostgresSettings,
    ask: impl Future<Output = Result<T>>,
) -> Result<T> {
    let answer = tokio::time::timeout(settings.deadline, ask).await;
    answer.map_err(|_late| "the database does not answer".to_owned())?
}

/// Runs on one connection.
pub(crate) async fn connected<T>(
    target: Target,
    command: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    let connected = target.connect().await;
    let (mut client, connection) =
        connected.map_err(|error| format!("cannot connect to the database: {error}"))?;
    let command = async move { command(&mut client).await };
    // The connection makes progress only while polled, and ends when the client is dropped.
    let (result, _) = futures::join!(command, connection);
    result
}

async fn is_up_to_date(client: &Client) -> Result<bool> {
    let known = version(client).await?;
    Ok(MigrationPlan::after(known, migrations::migrations::runner().get_migrations())
        .steps
        .is_empty())
}

/// The schema's version; 0 if there is none.
async fn version(client: &Client) -> Result<i64> {
    let exists = "select to_regclass('common.refinery_schema_history') is not null as is_there";
    if !client.query_one(exists, &[]).await.map_err(explain)?.get::<_, bool>("is_there") {
        return Ok(0);
    }
    let latest = "select coalesce(max(version), 0)::bigint as version
                    from common.refinery_schema_history";
    Ok(client.query_one(latest, &[]).await.map_err(explain)?.get("version"))
}

async fn migrate(client: &mut Client) -> Result<()> {
    let schema = "create schema if not exists common";
    client.batch_execute(schema).await.map_err(explain)?;
    let runner = migrations::migrations::runner();
    runner.run_async(client).await.map_err(|error| explain_any(&error))?;
    Ok(())
}

async fn make_roles(client: &mut Client, settings: &PostgresSettings) -> Result<Roles> {
    let may = "select rolsuper or rolcreaterole as may_create
                 from pg_roles where rolname = current_user";
    let may_create: bool = client.query_one(may, &[]).await.map_err(explain)?.get("may_create");
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
    // One transaction, so running nodes never lack a grant.
    let transaction = client.transaction().await.map_err(explain)?;
    transaction.batch_execute(GRANTS).await.map_err(explain)?;
    transaction.commit().await.map_err(explain)?;
    Ok(Roles::Ready)
}

async fn exists(client: &Client, role: &str) -> Result<bool> {
    let sql = "select 1 from pg_roles where rolname = $1";
    Ok(client.query_opt(sql, &[&role]).await.map_err(explain)?.is_some())
}

/// Roles belong to the whole server, so a node that migrates another database may create them
/// concurrently. The creator is granted the role, which a superuser has anyway. From PostgreSQL 16
/// on, membership by creation only allows granting the role further, so `usage` is the test. An
/// administrator grants the roles that they created.
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

/// A login with the rights of exactly one role. The password is sent as its SCRAM verifier, so
/// statement logs don't show it.
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

pub(crate) fn explain(error: tokio_postgres::Error) -> String {
    error_text::explain(&error)
}

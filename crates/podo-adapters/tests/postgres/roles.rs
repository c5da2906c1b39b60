//! Each service in its own role: what it may access, and who may create the roles.

use crate::engine::{alone, settings};
use crate::payments::refund::cancel_command;
use crate::world::at;
use podo_adapters::clock::SystemRng;
use podo_adapters::sql::{DatabaseRole, Roles, SqlStore};
use podo_app::Error;
use podo_app::identity::port::accounts::Accounts;
use podo_app::payments::port::payments::Payments;
use podo_app::payments::port::wallets::Wallets;
use podo_testbed::Postgres;
use std::sync::Arc;

/// The server's answer to a statement in a role.
fn as_role(server: &Postgres, role: DatabaseRole, sql: &str) -> Result<String, String> {
    let sql = format!("set role {}; {sql}", role.as_str());
    server.psql("postgres", &sql).map_err(|error| error.to_string())
}

fn may(server: &Postgres, role: DatabaseRole, sql: &str) {
    as_role(server, role, sql).unwrap_or_else(|error| panic!("{role:?}: {sql}\n{error}"));
}

fn may_not(server: &Postgres, role: DatabaseRole, sql: &str) {
    let error = as_role(server, role, sql).expect_err(sql);
    assert!(error.contains("permission denied"), "{role:?}: {sql}\n{error}");
}

#[tokio::test]
async fn a_service_reads_and_writes_its_own_tables_and_no_others() {
    use DatabaseRole::{Event, ReadOnly, Sales, User, Worker};
    let world = alone().await;
    let server = &world.engine.server;
    let check = |sql: &str, allowed: &[DatabaseRole]| {
        for role in DatabaseRole::ALL {
            if allowed.contains(&role) {
                may(server, role, sql);
            } else {
                may_not(server, role, sql);
            }
        }
    };
    check("select password_hash from user_service.users", &[User]);
    check("select refresh_hash from user_service.auth_tokens", &[User]);
    check("select session_id from user_service.auth_tokens", &[User, ReadOnly]);
    check("update user_service.users set status = status", &[User]);
    check("select ip from user_service.login_history", &[User]);
    check("select key_hash from user_service.api_keys", &[User]);
    check("delete from user_service.api_keys where false", &[]);
    check("update user_service.team_members set role = role", &[User]);
    check("select role from user_service.invitations", &[User]);
    check("update user_service.consents set version = version", &[]);
    check("delete from user_service.legal_pages where false", &[]);
    check("select body from user_service.support_notes", &[User]);
    check("select hash from user_service.name_prefixes", &[User]);
    check("select ip from user_service.login_history_other", &[]);
    check("select user_service.keep_login_months(now(), now(), 0)", &[Worker]);
    check("create table user_service.mine (id int)", &[]);
    check("select code_hash from event_service.phase_codes", &[Event, Sales]);
    check("select key_hash from event_service.phase_members", &[Event, Sales]);
    check("select secret from event_service.phase_webhooks", &[Event, User]);
    check("select id from event_service.phase_webhooks", &[Event, User, Sales, ReadOnly]);
    check("update event_service.phase_codes set uses_max = uses_max", &[Event]);
    check("delete from event_service.phase_eligibilities where false", &[Event]);
    check("update event_service.draws set apply_until = apply_until", &[Event, Worker]);
    check("update event_service.draw_grades set quantity = quantity", &[Event, Worker]);
    check("delete from event_service.draw_applications where false", &[Event, Worker]);
    check("update event_service.events set title = title", &[Event]);
    check("update event_service.seats set price = price", &[Event]);
    check("update event_service.seats set claim = claim", &[Event, Sales, Worker]);
    check("select code from payment_service.tickets", &[Sales, ReadOnly]);
    check("select email from payment_service.ticket_claims", &[User, Sales]);
    check("select token_hash from payment_service.ticket_claims", &[Sales]);
    check("select account from payment_service.refund_accounts", &[User, Sales, Worker]);
    check("select name from reservation_service.issued_orders", &[User, Sales]);
    check("delete from reservation_service.issued_orders where false", &[Worker]);
    check("select hash from reservation_service.issued_lookups", &[Sales]);
    check("update reservation_service.reseats set reason = reason", &[]);
    check("update event_service.allocations set name = name", &[Event, Sales]);
    check("update payment_service.wallets set balance = balance", &[Sales, Worker]);
    check("update payment_service.wallet_ledger set amount = amount", &[]);
    check("delete from payment_service.payments where false", &[Worker]);
    check("delete from payment_service.wallet_ledger where false", &[]);
    check("delete from common.audit_log where false", &[]);
    check("select 1 from common.outbox", &[Worker, ReadOnly]);
    check("delete from common.outbox where false", &[Worker]);
    check("update common.audit_log set details = details", &[]);
    check("create table common.mine (id int)", &[]);
    world.finish().await;
}

#[tokio::test]
async fn no_role_deletes_a_record_of_the_last_five_years() {
    let world = alone().await;
    let server = &world.engine.server;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    world
        .store
        .cancel_payment(cancel_command(&world, &fan, sold.confirmed.payment_id))
        .await
        .unwrap();
    let tables = [
        ("payment_service.refunds", "updated_at"),
        ("payment_service.payment_history", "created_at"),
        ("payment_service.payments", "updated_at"),
        ("reservation_service.reservations", "updated_at"),
    ];
    for (table, _) in tables {
        let refused = as_role(server, DatabaseRole::Worker, &format!("delete from {table}"));
        let refused = refused.expect_err(table);
        assert!(refused.contains("records of purchases are kept for five years"), "{refused}");
    }
    // With the foreign key out of the way, old enough records can be deleted.
    let seats = "delete from reservation_service.reservation_seats";
    may(server, DatabaseRole::Worker, seats);
    for (table, column) in tables {
        let age = format!("update {table} set {column} = now() - interval '1826 days'");
        server.psql("postgres", &age).unwrap();
        may(server, DatabaseRole::Worker, &format!("delete from {table}"));
    }
    world.abandon("its records are deleted by hand");
}

#[tokio::test]
async fn the_reader_can_change_no_table_and_no_role_can_empty_one() {
    let world = alone().await;
    let server = &world.engine.server;
    let tables = "from pg_tables where (schemaname like '%\\_service' or schemaname = 'common')";
    let count = |condition: &str| -> u32 {
        let sql = format!("select count(*) {tables} {condition}");
        server.psql("postgres", &sql).unwrap().parse().unwrap()
    };
    assert!(count("") > 20);
    let name = "format('%I.%I', schemaname, tablename)";
    let changes = format!(
        "and (has_table_privilege('podo_readonly', {name}, 'insert, update, delete, truncate')
              or has_any_column_privilege('podo_readonly', {name}, 'insert, update'))"
    );
    assert_eq!(count(&changes), 0);
    for role in DatabaseRole::ALL {
        let empties =
            format!("and has_table_privilege('{}', {name}, 'truncate, trigger')", role.as_str());
        assert_eq!(count(&empties), 0, "{role:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn the_store_runs_each_command_in_the_role_of_its_service() {
    let world = alone().await;
    let fan = world.fan().await;
    assert!(world.store.balance(fan.id).await.unwrap().is_zero());
    let revoke = "revoke select on payment_service.wallets from podo_sales";
    world.engine.server.psql("postgres", revoke).unwrap();
    match world.store.balance(fan.id).await {
        Err(Error::Broken(what)) => assert!(what.contains("permission denied"), "{what}"),
        other => panic!("{other:?}"),
    }
    assert!(world.store.user(fan.id).await.unwrap().is_some(), "another role reads accounts");
    SqlStore::migrate_postgres(&world.engine.settings(), true).await.unwrap();
    assert!(world.store.balance(fan.id).await.unwrap().is_zero(), "migrating restores the grant");
    world.finish().await;
}

/// A database that belongs to an ordinary user.
fn owned_database(server: &Postgres) -> String {
    server.psql("postgres", "create role owner login").unwrap();
    server.psql("postgres", "create database hall owner owner").unwrap();
    server.url("hall").replace("podo@", "owner@")
}

#[tokio::test]
async fn migrating_without_the_right_to_create_roles_reports_the_missing_ones() {
    let server = Postgres::start().unwrap();
    let owner = settings(&owned_database(&server));
    let roles = SqlStore::migrate_postgres(&owner, true).await.unwrap();
    let names: Vec<String> = DatabaseRole::ALL.iter().map(|it| it.as_str().to_owned()).collect();
    assert_eq!(roles, Roles::Missing(names.clone()));
    assert_eq!(SqlStore::migrate_postgres(&owner, false).await, Ok(Roles::LeftAlone));
    for name in names {
        server.psql("postgres", &format!("create role {name} nologin")).unwrap();
    }
    assert_eq!(SqlStore::migrate_postgres(&owner, true).await, Ok(Roles::Ready));
}

/// The login that docs/postgresql.md describes: a member of the roles, owner of nothing.
#[tokio::test]
async fn a_login_that_owns_nothing_runs_a_node_once_the_schema_is_there() {
    let server = Postgres::start().unwrap();
    server.create_database("hall").unwrap();
    server.psql("postgres", "create role app login").unwrap();
    let (admin, app) = (server.url("hall"), server.url("hall").replace("podo@", "app@"));
    let rng = || Arc::new(SystemRng::new());
    let refused = SqlStore::postgres(&settings(&app), rng()).await.err().unwrap();
    assert!(refused.contains("podo migrate") && refused.contains("permission denied"), "{refused}");
    assert_eq!(SqlStore::migrate_postgres(&settings(&admin), true).await, Ok(Roles::Ready));
    for role in DatabaseRole::ALL {
        server.psql("postgres", &format!("grant {} to app", role.as_str())).unwrap();
    }
    let store = SqlStore::postgres(&settings(&app), rng()).await.unwrap();
    assert!(store.user_by_email([0; 32]).await.unwrap().is_none());
}

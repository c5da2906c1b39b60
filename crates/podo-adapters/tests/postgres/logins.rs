//! Logins of the services: owners of every kind, and a login per service.

use crate::engine::settings;
use crate::identity::login_history::{DAY, today};
use crate::world::{Plan, World, at, dice};
use podo_adapters::clock::SystemRng;
use podo_adapters::sql::{DatabaseRole, Logins, PostgresSettings, Roles, SqlStore};
use podo_app::Error;
use podo_app::identity::port::accounts::Accounts;
use podo_app::payments::port::wallets::Wallets;
use podo_domain::UserId;
use podo_testbed::Postgres;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use uuid::Uuid;

const SERVICES: [&str; 5] = ["user", "event", "sales", "worker", "readonly"];

/// A database of `owner`, who was created with these options; returns its URL.
fn hall_of(server: &Postgres, words: &str) -> String {
    server.psql("postgres", &format!("create role owner login {words}")).unwrap();
    server.psql("postgres", "create database hall owner owner").unwrap();
    server.url("hall").replace("podo@", "owner@")
}

async fn open(settings: &PostgresSettings) -> Result<SqlStore, String> {
    SqlStore::postgres(settings, Arc::new(SystemRng::new())).await
}

/// Commands of three services; the worker's changes the schema.
async fn works(store: &SqlStore) {
    static N_CALLS: AtomicU32 = AtomicU32::new(0);
    let years = N_CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let (before, now) = (today().minus(DAY * 92), today().plus(DAY * 365 * years));
    assert_eq!(store.apply_login_retention(before, 10, now).await.unwrap().made, 3);
    assert!(store.user_by_email([0; 32]).await.unwrap().is_none());
    assert!(store.balance(UserId::new(Uuid::from_u128(1))).await.unwrap().is_zero());
}

#[tokio::test]
async fn an_owner_who_may_create_roles_acts_in_them() {
    let server = Postgres::start().unwrap();
    let owner = settings(&hall_of(&server, "createrole"));
    assert_eq!(SqlStore::migrate_postgres(&owner, true).await, Ok(Roles::Ready));
    works(&open(&owner).await.unwrap()).await;
}

#[tokio::test]
async fn an_ordinary_owner_starts_when_roles_are_optional_and_gets_the_reason_otherwise() {
    let server = Postgres::start().unwrap();
    let strict = settings(&hall_of(&server, ""));
    let optional = PostgresSettings { are_roles_optional: true, ..strict.clone() };
    works(&open(&optional).await.unwrap()).await;
    let refused = open(&strict).await.err().unwrap();
    assert!(refused.contains("podo_user") && refused.contains("SQLSTATE 22023"), "{refused}");
    // An administrator created the roles, but didn't grant them to the owner.
    for role in DatabaseRole::ALL {
        server.psql("postgres", &format!("create role {} nologin", role.as_str())).unwrap();
    }
    works(&open(&optional).await.unwrap()).await;
    let refused = open(&strict).await.err().unwrap();
    assert!(refused.contains("permission denied to set role"), "{refused}");
    assert!(refused.contains("grant podo_user, podo_event"), "{refused}");
}

#[tokio::test]
async fn what_the_server_says_about_a_migration_is_shown() {
    let server = Postgres::start().unwrap();
    let owner = settings(&hall_of(&server, ""));
    server.psql("hall", "create schema common").unwrap();
    server.psql("hall", "grant usage on schema common to owner").unwrap();
    let refused = SqlStore::migrate_postgres(&owner, true).await.unwrap_err();
    assert!(refused.contains("permission denied for schema common"), "{refused}");
    let nowhere = settings(&server.url("nowhere"));
    let refused = SqlStore::migrate_postgres(&nowhere, true).await.unwrap_err();
    assert!(refused.contains("\"nowhere\" does not exist; create it"), "{refused}");
}

fn logins(password: &str) -> Logins {
    let login = |service: &&str| format!("{service}=app_{service}:{password}-{service}");
    Logins::read(&SERVICES.iter().map(login).collect::<Vec<_>>()).unwrap()
}

/// Requires passwords for the services' logins from now on.
fn ask_for_passwords(server: &Postgres) {
    let path = server.folder().join("data/pg_hba.conf");
    let rules = std::fs::read_to_string(&path).unwrap();
    let names = SERVICES.map(|service| format!("app_{service}")).join(",");
    let rule = format!("host all {names} 127.0.0.1/32 scram-sha-256\n");
    std::fs::write(&path, rule + &rules).unwrap();
    server.psql("postgres", "select pg_reload_conf()").unwrap();
}

#[tokio::test]
async fn every_service_has_a_login_that_reaches_its_own_tables_only() {
    let server = Postgres::start().unwrap();
    server.create_database("hall").unwrap();
    ask_for_passwords(&server);
    let owner = settings(&server.url("hall"));
    // Nodes don't know the owner: the URL has no user.
    let url = server.url("hall").replace("podo@", "");
    let node = PostgresSettings { url, logins: Some(logins("right")), ..owner.clone() };
    let early = open(&node).await.err().unwrap();
    assert!(early.contains("app_worker") && early.contains("SQLSTATE 28P01"), "{early}");
    let with_logins = PostgresSettings { logins: node.logins.clone(), ..owner };
    for _ in 0..2 {
        assert_eq!(SqlStore::migrate_postgres(&with_logins, true).await, Ok(Roles::Ready));
    }
    let kept = "select count(*) from pg_authid where rolname like 'app\\_%' and not rolsuper
                   and rolpassword like 'SCRAM-SHA-256$%'";
    assert_eq!(server.psql("postgres", kept).unwrap(), "5");
    let wrong = PostgresSettings { logins: Some(logins("wrong")), ..node.clone() };
    let refused = open(&wrong).await.err().unwrap();
    assert!(refused.contains("password authentication failed"), "{refused}");

    let store = open(&node).await.unwrap();
    works(&store).await;
    for service in SERVICES {
        let others = SERVICES.iter().filter(|other| **other != service);
        for other in others {
            let member = format!("select pg_has_role('app_{service}', 'podo_{other}', 'member')");
            assert_eq!(server.psql("hall", &member).unwrap(), "f", "{service} {other}");
        }
    }
    let revoke = "revoke select on payment_service.wallets from podo_sales";
    server.psql("hall", revoke).unwrap();
    match store.balance(UserId::new(Uuid::from_u128(1))).await {
        Err(Error::Broken(what)) => assert!(what.contains("permission denied"), "{what}"),
        other => panic!("{other:?}"),
    }
    assert!(store.user_by_email([0; 32]).await.unwrap().is_none(), "another login reads accounts");
}

#[tokio::test]
async fn a_sale_runs_with_a_login_for_each_service() {
    let server = Postgres::start().unwrap();
    let owner = settings(&server.url("postgres"));
    let node = PostgresSettings { logins: Some(logins("right")), ..owner };
    SqlStore::migrate_postgres(&node, true).await.unwrap();
    let rng = dice();
    let store = SqlStore::postgres(&node, rng.clone()).await.unwrap();
    let engine = crate::engine::Engine::of(server);
    let world = World::on(engine, store, rng, Plan::default()).await;
    let fan = world.fan().await;
    world.buy(&fan, &[0, 10], at(1)).await;
    world.finish().await;
}

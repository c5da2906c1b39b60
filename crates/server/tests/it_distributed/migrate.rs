//! `podo migrate` on PostgreSQL: who may do what, in words.

use std::process::{Command, Output};
use tempfile::TempDir;
use testbed::Postgres;

/// Runs `podo migrate` on a database, with more arguments and settings.
fn migrate(url: &str, arguments: &[&str], settings: &[(&str, &str)]) -> (bool, String) {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let mut podo = Command::new(env!("CARGO_BIN_EXE_podo"));
    podo.env_clear().env("PODO_STORE_URL", url).envs(settings.iter().copied());
    podo.arg("migrate").args(arguments).arg("--data").arg(folder.path());
    let Output { status, stdout, stderr } = podo.output().unwrap();
    (status.success(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

#[test]
fn an_administrator_gets_schema_and_roles_as_often_as_they_like() {
    let server = Postgres::start().unwrap();
    let (is_done, plan) = migrate(&server.url("postgres"), &["--plan"], &[]);
    assert!(is_done && plan.starts_with("-- From V0 to V"), "{plan}");
    assert!(plan.contains("create schema if not exists user_service"), "{plan}");
    let schemas = "select count(*) from pg_namespace where nspname in ('common', 'user_service')";
    assert_eq!(server.psql("postgres", schemas).unwrap(), "0", "a plan makes nothing");
    for _ in 0..2 {
        let (is_done, said) = migrate(&server.url("postgres"), &[], &[]);
        assert!(is_done && said.contains("The roles have the rights of this version."), "{said}");
        assert!(said.contains("The schema is up to date."), "{said}");
    }
    let (_, plan) = migrate(&server.url("postgres"), &["--plan"], &[]);
    assert!(plan.starts_with("-- The schema is up to date (V"), "{plan}");
}

#[test]
fn an_owner_who_may_not_create_roles_is_told_what_to_do() {
    let server = Postgres::start().unwrap();
    server.psql("postgres", "create role owner login").unwrap();
    server.psql("postgres", "create database hall owner owner").unwrap();
    let url = server.url("hall").replace("podo@", "owner@");
    let (is_done, said) = migrate(&url, &[], &[]);
    assert!(is_done && said.contains("missing: podo_user, podo_event"), "{said}");
    let (is_done, said) = migrate(&url, &[], &[("PODO_STORE_ROLES", "on")]);
    assert!(!is_done && said.contains("create role NAME nologin"), "{said}");
    let (is_done, said) = migrate(&url, &["--no-roles"], &[]);
    assert!(is_done && !said.contains("missing"), "{said}");
}

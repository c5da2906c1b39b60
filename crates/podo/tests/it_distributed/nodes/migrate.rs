//! `podo migrate` on PostgreSQL: privileges, and their error messages.

use podo_testbed::{Launch, Postgres, RedisCluster};
use std::process::{Command, Output};
use tempfile::TempDir;
use yaml_rust2::YamlLoader;

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
        assert!(
            is_done && said.contains("The roles have the privileges of this version."),
            "{said}"
        );
        assert!(said.contains("The schema is up to date."), "{said}");
    }
    let (_, plan) = migrate(&server.url("postgres"), &["--plan"], &[]);
    assert!(plan.starts_with("-- The schema is up to date (V"), "{plan}");
}

#[test]
fn an_owner_who_may_not_create_roles_gets_instructions() {
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

/// The settings that deploy/kubernetes ships, except the engines' addresses. The broker in the test
/// environment is too old for them.
fn kubernetes(store_url: &str, live_url: &str) -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/kubernetes/1-settings.yaml");
    let objects = YamlLoader::load_from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let map = objects.iter().find(|it| it["kind"].as_str() == Some("ConfigMap")).unwrap();
    let shipped = map["data"].as_hash().unwrap().iter();
    let text = |it: &yaml_rust2::Yaml| it.as_str().unwrap().to_owned();
    let mut settings: Vec<(String, String)> =
        shipped.map(|(name, value)| (text(name), text(value))).collect();
    for (name, value) in [
        ("PODO_LISTEN", "127.0.0.1:0"),
        ("PODO_LISTEN_ADMIN", "127.0.0.1:0"),
        ("PODO_BUS_URL", "memory:"),
        ("PODO_STORE_URL", store_url),
        ("PODO_LIVE_URL", live_url),
    ] {
        settings.retain(|(other, _)| other != name);
        settings.push((name.to_owned(), value.to_owned()));
    }
    settings
}

#[test]
fn the_settings_for_kubernetes_start_with_an_ordinary_owner_and_with_a_login_for_each_service() {
    let (server, redis) = (Postgres::start().unwrap(), RedisCluster::start().unwrap());
    server.psql("postgres", "create role owner login").unwrap();
    server.psql("postgres", "create database hall owner owner").unwrap();
    let owner = server.url("hall").replace("podo@", "owner@");
    let start = |settings: &[(String, String)]| {
        let settings = settings.iter().filter(|(name, _)| name != "PODO_LISTEN");
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo"));
        let launch = settings.fold(launch, |launch, (name, value)| launch.env(name, value));
        launch.start()
    };
    let shipped = kubernetes(&owner, &redis.url());
    let pairs: Vec<(&str, &str)> = shipped.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let (is_done, said) = migrate(&owner, &[], &pairs);
    assert!(is_done && said.contains("The schema is up to date."), "{said}");
    let node = start(&shipped).unwrap();
    let log = std::fs::read_to_string(node.log_path()).unwrap();
    assert!(log.contains("All services share one login"), "{log}");
    drop(node);

    let strict: Vec<(String, String)> = [("PODO_STORE_ROLES", "on")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .chain(shipped.iter().filter(|(name, _)| name != "PODO_STORE_ROLES").cloned())
        .collect();
    let refused = start(&strict).err().unwrap().to_string();
    assert!(refused.contains("the services cannot act in their roles"), "{refused}");

    let logins = ["user", "event", "sales", "worker", "readonly"]
        .map(|service| format!("{service}=app_{service}:secret"))
        .join(",");
    let with_logins = |url: String| {
        let mut settings = kubernetes(&url, &redis.url());
        settings.retain(|(name, _)| name != "PODO_STORE_ROLES");
        settings.push(("PODO_STORE_ROLES".to_owned(), "logins".to_owned()));
        settings.push(("PODO_STORE_LOGINS".to_owned(), logins.clone()));
        settings
    };
    let admin = with_logins(server.url("hall"));
    let pairs: Vec<(&str, &str)> = admin.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let (is_done, said) = migrate(&server.url("hall"), &[], &pairs);
    assert!(is_done && said.contains("The roles have the privileges of this version."), "{said}");
    start(&with_logins(server.url("hall").replace("podo@", ""))).unwrap();
}

//! TLS to the server: encrypted, and verified if the settings require it.

use crate::engine::settings;
use podo_adapters::clock::SystemRng;
use podo_adapters::sql::{PostgresSettings, SqlStore};
use podo_app::identity::port::accounts::Accounts;
use podo_testbed::Postgres;
use std::sync::Arc;
use std::time::Duration;

/// `host` is the name used to connect; the certificate is valid for `localhost` only.
fn settings_for(server: &Postgres, host: &str, mode: &str) -> PostgresSettings {
    let url = server.url("postgres").replace("127.0.0.1", host);
    settings(&format!("{url}{mode}"))
}

async fn open(settings: &PostgresSettings) -> Result<SqlStore, String> {
    SqlStore::postgres(settings, Arc::new(SystemRng::new())).await
}

/// Waits until this many connections of stores use TLS, and this many don't: the migration's
/// connection takes a moment to close.
async fn wait_for_connections(server: &Postgres, expected: &str) {
    let sql = "select count(*) filter (where ssl), count(*) filter (where not ssl)
                 from pg_stat_ssl join pg_stat_activity using (pid)
                where client_port is not null and pid <> pg_backend_pid()";
    for _ in 0..500 {
        if server.psql("postgres", sql).unwrap() == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.psql("postgres", sql).unwrap(), expected, "with TLS | without");
}

#[tokio::test]
async fn a_server_that_proves_its_name_is_trusted_and_every_connection_encrypted() {
    let server = Postgres::with_tls().unwrap();
    let asked = PostgresSettings {
        ca: Some(server.ca_path()),
        ..settings_for(&server, "localhost", "?sslmode=verify-full")
    };
    let store = open(&asked).await.unwrap();
    assert!(store.user_by_email([0; 32]).await.unwrap().is_none());
    wait_for_connections(&server, "1|0").await;
}

#[tokio::test]
async fn a_server_under_another_name_or_of_another_authority_is_refused() {
    let server = Postgres::with_tls().unwrap();
    let stranger = Postgres::with_tls().unwrap();
    let other_name =
        PostgresSettings { ca: Some(server.ca_path()), ..settings_for(&server, "127.0.0.1", "") };
    let other_authority =
        PostgresSettings { ca: Some(stranger.ca_path()), ..settings_for(&server, "localhost", "") };
    let of_the_system = settings_for(&server, "localhost", "?sslmode=verify-full");
    for asked in [other_name, other_authority, of_the_system] {
        let refused = open(&asked).await.err().unwrap();
        assert!(refused.contains("invalid peer certificate"), "{refused}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_when_tls_is_required() {
    let server = Postgres::start().unwrap();
    let refused = open(&settings_for(&server, "localhost", "?sslmode=require")).await;
    let refused = refused.err().unwrap();
    assert!(refused.contains("TLS"), "{refused}");
    open(&settings_for(&server, "localhost", "")).await.unwrap();
}

#[tokio::test]
async fn require_encrypts_without_verification() {
    let server = Postgres::with_tls().unwrap();
    let store = open(&settings_for(&server, "127.0.0.1", "?sslmode=require")).await.unwrap();
    assert!(store.user_by_email([0; 32]).await.unwrap().is_none());
    wait_for_connections(&server, "1|0").await;
    let plain = open(&settings_for(&server, "127.0.0.1", "?sslmode=disable")).await.unwrap();
    assert!(plain.user_by_email([0; 32]).await.unwrap().is_none());
    // The control: plain text on request.
    wait_for_connections(&server, "1|1").await;
}

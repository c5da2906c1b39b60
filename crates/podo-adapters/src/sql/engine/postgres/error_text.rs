//! Error texts for PostgreSQL errors, with the server's hint and our advice.

use std::error::Error;
use tokio_postgres::error::DbError;

/// The server's message without the driver's `db error` prefix, or the driver's error with its
/// source.
pub(crate) fn explain(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => words_of(said),
        None => with_sources(error),
    }
}

/// Like `explain`, for any error that may have a server error among its sources.
pub(crate) fn explain_any(error: &(dyn Error + 'static)) -> String {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(error) = error.downcast_ref::<tokio_postgres::Error>() {
            return explain(error);
        }
        at = error.source();
    }
    with_sources(error)
}

fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut at = error.source();
    while let Some(source) = at {
        text = format!("{text}: {source}");
        at = source.source();
    }
    text
}

fn words_of(said: &DbError) -> String {
    let mut text = said.message().to_owned();
    let advice = advice(said.code().code(), said.message());
    for more in [said.detail(), said.hint(), advice].into_iter().flatten() {
        text = format!("{text}; {more}");
    }
    format!("{text} (SQLSTATE {})", said.code().code())
}

/// Advice for common errors.
fn advice(code: &str, message: &str) -> Option<&'static str> {
    match code {
        "28P01" | "28000" => Some("check the user, the password and the server's pg_hba.conf"),
        "3D000" => Some("create it: `create database NAME owner USER`"),
        "42501" if message.contains("set role") => Some(
            "let an administrator run `grant podo_user, podo_event, podo_sales, podo_worker, \
             podo_readonly to LOGIN`, or set store_roles = \"auto\" (docs/postgresql.md)",
        ),
        "22023" if message.contains("\"role\"") => {
            Some("the role is missing: run `podo migrate` as a user who may create roles")
        }
        "42501" => Some("run `podo migrate` as the owner of the schema"),
        "53300" => Some("raise max_connections, or lower store_connections"),
        _ => None,
    }
}

#[test]
fn what_usually_helps_is_said() {
    let set_role = advice("42501", "permission denied to set role \"podo_sales\"").unwrap();
    assert!(set_role.contains("grant podo_user"), "{set_role}");
    assert!(advice("42501", "permission denied for schema common").unwrap().contains("migrate"));
    assert!(advice("22023", "invalid value for parameter \"role\": \"x\"").is_some());
    assert_eq!(advice("42601", "syntax error"), None);
}

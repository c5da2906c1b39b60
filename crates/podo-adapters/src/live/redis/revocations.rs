//! Revoked sessions on Redis: one key each, with the expiry of its last access token.

use crate::live::redis::Connection;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::identity::port::revocations;
use podo_domain::{SessionId, Timestamp};
use redis::{Cmd, Script};
use std::time::Duration;

/// The server expires keys by its own clock, which may be ahead of ours. Ours decides.
const CLOCKS_APART_MAX: Duration = Duration::from_secs(600);

pub struct Revocations {
    connection: Connection,
    revoke: Script,
}

impl Revocations {
    pub fn new(connection: Connection) -> Revocations {
        Revocations { connection, revoke: Script::new(include_str!("revoke.lua")) }
    }

    fn key(&self, session: SessionId) -> String {
        self.connection.key(format_args!("revoked:{{{}}}", session.uuid()))
    }
}

#[async_trait]
impl revocations::Revocations for Revocations {
    async fn revoke(&self, session: SessionId, until: Timestamp) -> Result<()> {
        let mut call = self.revoke.key(self.key(session));
        call.arg(until.ms()).arg(until.plus(CLOCKS_APART_MAX).ms());
        self.connection.run(&call).await
    }

    async fn is_revoked(&self, session: SessionId, now: Timestamp) -> Result<bool> {
        let until: Option<i64> = self.connection.query(&Cmd::get(self.key(session))).await?;
        Ok(until.is_some_and(|until_ms| now.ms() < until_ms))
    }
}

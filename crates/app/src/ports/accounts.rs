//! Accounts, sessions and log-ins in the store.

use crate::error::Result;
use async_trait::async_trait;
use domain::accounts::Role;
use domain::{LoginId, SessionId, Timestamp, UserId};

/// A new account; personal fields are sealed already.
#[derive(Clone, Debug)]
pub struct CreateUser {
    pub user: UserId,
    pub email: Vec<u8>,
    pub email_hash: [u8; 32],
    pub password_hash: String,
    pub name: Vec<u8>,
    pub phone: Option<Vec<u8>>,
    pub phone_hash: Option<[u8; 32]>,
    pub role: Role,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct UserRecord {
    pub user: UserId,
    pub email: Vec<u8>,
    pub name: Vec<u8>,
    pub phone: Option<Vec<u8>>,
    pub password_hash: String,
    pub role: Role,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct LoginAttempt {
    pub login: LoginId,
    pub user: Option<UserId>,
    pub email_hash: [u8; 32],
    pub ip: Option<String>,
    pub agent: Option<String>,
    pub success: bool,
    pub reason: Option<&'static str>,
    pub now: Timestamp,
}

/// A log-in that succeeded: its history row and its first refresh token are one transaction.
#[derive(Clone, Debug)]
pub struct StartSession {
    pub session: SessionId,
    pub attempt: LoginAttempt,
    pub user: UserId,
    pub refresh_hash: [u8; 32],
    pub expires_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct RotateRefresh {
    pub spent_hash: [u8; 32],
    pub next_hash: [u8; 32],
    pub expires_at: Timestamp,
    pub now: Timestamp,
}

/// What came of showing a refresh token.
#[derive(Clone, Debug)]
pub enum Rotation {
    Rotated {
        user: Box<UserRecord>,
        session: SessionId,
    },
    /// Nobody knows it, or its time is up.
    Invalid,
    /// It was spent a moment ago: a lost answer or a second tab.
    Retry,
    /// It was spent long ago: somebody has a copy. The whole family is dead now.
    Reused {
        session: SessionId,
    },
}

#[async_trait]
pub trait Accounts: Send + Sync {
    /// Refusals: `EmailTaken`.
    async fn create_user(&self, command: CreateUser) -> Result<()>;

    /// Makes many accounts at once, for demos and benchmarks; known addresses are passed over.
    async fn create_users(&self, commands: Vec<CreateUser>) -> Result<()>;

    async fn user_by_email(&self, email_hash: [u8; 32]) -> Result<Option<UserRecord>>;

    async fn user(&self, user: UserId) -> Result<Option<UserRecord>>;

    async fn record_failed_login(&self, attempt: LoginAttempt) -> Result<()>;

    async fn start_session(&self, command: StartSession) -> Result<()>;

    /// Spends one refresh token and issues the next by one compare-and-set.
    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotation>;

    /// Ends a session: nothing of its family works any more.
    async fn end_session(&self, session: SessionId, now: Timestamp) -> Result<()>;
}

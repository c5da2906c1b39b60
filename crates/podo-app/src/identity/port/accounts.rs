//! Accounts, sessions and log-ins in the store.

use crate::error::Result;
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::identity::consents::Consent;
use podo_domain::identity::{Failures, Role, SocialProvider};
use podo_domain::messaging::messages::Language;
use podo_domain::{LoginId, SessionId, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// A new account; its personal fields are already encrypted.
#[derive(Clone, Debug)]
pub struct CreateUser {
    pub user: UserId,
    pub email: Vec<u8>,
    pub email_hash: [u8; 32],
    /// Whether the owner has proved the address.
    pub is_email_proven: bool,
    pub password_hash: String,
    pub name: Vec<u8>,
    pub phone: Option<Vec<u8>>,
    pub phone_hash: Option<[u8; 32]>,
    pub role: Role,
    /// What its owner agreed to.
    pub consents: Vec<Consent>,
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
    pub is_verified: bool,
    pub is_email_proven: bool,
    pub totp: Option<EncryptedTotp>,
    pub created_at: Timestamp,
}

impl UserRecord {
    /// Whether a log-in requires a code.
    pub fn has_second_factor(&self) -> bool {
        self.totp.as_ref().is_some_and(|totp| totp.is_on)
    }

    /// The hash of the password; `None` for an account of another service.
    pub fn known_hash(&self) -> Option<String> {
        Some(self.password_hash.clone()).filter(|hash| !hash.is_empty())
    }
}

/// A second factor; inactive until its first code was seen.
#[derive(Clone, Debug)]
pub struct EncryptedTotp {
    pub secret: Vec<u8>,
    pub is_on: bool,
}

#[derive(Clone, Debug)]
pub struct ChangeTotp {
    pub user: UserId,
    pub change: TotpChange,
    pub now: Timestamp,
}

/// A step is the number of a code's half minute; each step works once.
#[derive(Clone, Debug)]
pub enum TotpChange {
    Begin {
        secret: Vec<u8>,
    },
    /// All sessions but one end.
    Confirm {
        step: i64,
        keep: SessionId,
    },
    Use {
        step: i64,
    },
    Remove {
        step: i64,
    },
    /// By an operator, for an owner who lost their device. All sessions end.
    Reset,
}

/// An account of another service, identified by a keyed hash of its subject.
#[derive(Clone, Copy, Debug)]
pub struct SocialAccount {
    pub provider: SocialProvider,
    pub subject_hash: [u8; 32],
}

#[derive(Clone, Debug)]
pub struct CreateSocialUser {
    pub user: CreateUser,
    pub account: SocialAccount,
}

/// An account of another service to link to one here.
#[derive(Clone, Copy, Debug)]
pub struct LinkSocial {
    pub user: UserId,
    pub account: SocialAccount,
    pub now: Timestamp,
}

/// A service whose account logs in here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkedView {
    /// `kakao`, `naver` or `google`.
    pub service: &'static str,
    pub linked_at: Timestamp,
}

/// What a pending row and its e-mail are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingPurpose {
    /// A sign-up, or the proof of an existing account's address.
    SignUp,
    /// An invitation to the team.
    Invite,
    /// A new password for a forgotten one.
    Reset,
    /// The new address of an account.
    NewEmail,
    /// The notice to the address that an account had before.
    OldEmail,
}

impl PendingPurpose {
    /// The name in the store; sign-ups have none.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            PendingPurpose::SignUp => None,
            PendingPurpose::Invite => Some("INVITE"),
            PendingPurpose::Reset => Some("RESET"),
            PendingPurpose::NewEmail => Some("NEW_EMAIL"),
            PendingPurpose::OldEmail => Some("OLD_EMAIL"),
        }
    }

    pub fn parse(text: Option<&str>) -> Option<PendingPurpose> {
        use PendingPurpose as P;
        [P::SignUp, P::Invite, P::Reset, P::NewEmail, P::OldEmail]
            .into_iter()
            .find(|purpose| purpose.as_str() == text)
    }
}

/// An account to create when its address is confirmed. The code is encrypted, with a keyed hash.
#[derive(Clone, Debug)]
pub struct RequestSignUp {
    pub purpose: PendingPurpose,
    pub account: CreateUser,
    /// The existing owner of the address.
    pub taken_by: Option<UserId>,
    /// The existing account that only lacks the proof; then no new one is created.
    pub proves: Option<UserId>,
    pub code: Vec<u8>,
    pub code_hash: [u8; 32],
    pub language: Language,
    pub expires_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct ConfirmSignUp {
    pub sign_up: UserId,
    pub code_hash: [u8; 32],
    pub now: Timestamp,
}

/// The code that was mailed to the address of an account.
#[derive(Clone, Copy, Debug)]
pub struct ProveEmail {
    pub user: UserId,
    pub proof: UserId,
    pub code_hash: [u8; 32],
    pub now: Timestamp,
}

/// What the sign-up notification needs; encrypted.
#[derive(Clone, Debug)]
pub struct SignUpRecord {
    pub email: Vec<u8>,
    pub code: Vec<u8>,
    pub language: Language,
    pub purpose: PendingPurpose,
    pub is_taken: bool,
    /// The existing account that it is about.
    pub proves: Option<UserId>,
}

/// A password that was checked against `known`, hashed anew.
#[derive(Clone, Debug)]
pub struct RenewHash {
    pub user: UserId,
    pub known: String,
    pub new: String,
    pub now: Timestamp,
}

/// A fan's profile change; `None` leaves a field as it is.
#[derive(Clone, Debug)]
pub struct ChangeProfile {
    pub user: UserId,
    pub name: Option<Vec<u8>>,
    pub phone: Option<EncryptedPhone>,
    pub now: Timestamp,
}

/// A phone number and its keyed hash; both `None` to remove it.
#[derive(Clone, Debug, Default)]
pub struct EncryptedPhone {
    pub phone: Option<Vec<u8>>,
    pub phone_hash: Option<[u8; 32]>,
}

/// Replaces a known password. Every session but `keep` ends.
#[derive(Clone, Debug)]
pub struct ChangePassword {
    pub user: UserId,
    pub known_hash: String,
    pub new_hash: String,
    pub keep: SessionId,
    pub now: Timestamp,
}

/// A verified identity; encrypted, and as keyed hashes. At least one of the two is present.
#[derive(Clone, Debug)]
pub struct ProveIdentity {
    pub user: UserId,
    pub ci: Option<Vec<u8>>,
    pub ci_hash: Option<[u8; 32]>,
    pub di: Option<Vec<u8>>,
    pub di_hash: Option<[u8; 32]>,
    pub now: Timestamp,
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: SessionId,
    pub started_at: Timestamp,
    pub last_used_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether it's the requesting session.
    pub current: bool,
}

/// A successful or failed log-in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginView {
    pub id: LoginId,
    pub at: Timestamp,
    pub method: String,
    pub success: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

#[derive(Clone, Debug)]
pub struct LoginAttempt {
    pub login: LoginId,
    pub user: Option<UserId>,
    pub email_hash: [u8; 32],
    pub ip: Option<String>,
    /// What counts as one network.
    pub network: Option<String>,
    pub agent: Option<String>,
    /// The budget that it counts against; `None` for everyone who has never logged in to the
    /// account.
    pub budget: Option<String>,
    /// `EMAIL`, or the other service.
    pub method: &'static str,
    pub success: bool,
    pub reason: Option<&'static str>,
    pub now: Timestamp,
}

/// A successful log-in: its history row and its first refresh token are one transaction.
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
    /// An organiser's token older than this was idle for too long.
    pub organisers_idle_max: Option<Duration>,
    pub now: Timestamp,
}

/// The result of presenting a refresh token.
#[derive(Clone, Debug)]
pub enum Rotation {
    Rotated {
        user: Box<UserRecord>,
        session: SessionId,
    },
    /// Unknown or expired.
    Invalid,
    /// Spent a moment ago: a lost answer or a second tab.
    Retry,
    /// An organiser was idle for too long. The session has ended.
    Idle {
        session: SessionId,
    },
    /// Spent long ago, so a copy exists. The whole family has ended.
    Reused {
        session: SessionId,
    },
}

/// What a retention round did to the log-in history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoginsKept {
    /// Monthly partitions created and dropped, if log-ins are partitioned.
    pub made: u64,
    pub dropped: u64,
    /// Rows deleted one by one.
    pub deleted: u64,
}

#[async_trait]
pub trait Accounts: Send + Sync {
    /// Refusals: `EmailTaken`.
    async fn create_user(&self, command: CreateUser) -> Result<()>;

    /// Creates many accounts at once, for demos and benchmarks; skips known addresses.
    async fn create_users(&self, commands: Vec<CreateUser>) -> Result<()>;

    async fn user_by_email(&self, email_hash: [u8; 32]) -> Result<Option<UserRecord>>;

    async fn user(&self, user: UserId) -> Result<Option<UserRecord>>;

    /// Several accounts in one round trip; unknown and deleted ones are left out.
    async fn users(&self, users: Vec<UserId>) -> Result<Vec<UserRecord>>;

    /// The keyed hash of an account's proved address.
    /// Marks the address as proved; false if the account has another one by now.
    async fn mark_email_proven(
        &self,
        user: UserId,
        email_hash: [u8; 32],
        now: Timestamp,
    ) -> Result<bool>;

    async fn proven_email(&self, user: UserId) -> Result<Option<[u8; 32]>>;

    async fn record_failed_login(&self, attempt: LoginAttempt) -> Result<()>;

    /// Failed log-ins of an address in one budget, since the last successful one and since then.
    async fn failures(
        &self,
        email_hash: [u8; 32],
        budget: Option<String>,
        since: Timestamp,
    ) -> Result<Failures>;

    /// Whether this address has logged in from this network since this moment.
    async fn knows_network(
        &self,
        email_hash: [u8; 32],
        network: String,
        since: Timestamp,
    ) -> Result<bool>;

    async fn start_session(&self, command: StartSession) -> Result<()>;

    /// Spends one refresh token and issues the next in one compare-and-set.
    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotation>;

    /// Ends a session and its token family.
    async fn end_session(&self, session: SessionId, now: Timestamp) -> Result<()>;

    /// False if the user has no such live session.
    async fn end_session_of(
        &self,
        user: UserId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool>;

    /// Live sessions, most recently used first; none of them is marked as current.
    async fn sessions_of(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionView>>;

    /// Sessions that ended since this moment; their access tokens may still be valid.
    async fn sessions_ended_since(&self, since: Timestamp) -> Result<Vec<SessionId>>;

    /// Log-ins, newest first.
    async fn logins_of(&self, user: UserId, page: PageRequest) -> Result<Vec<LoginView>>;

    async fn change_profile(&self, command: ChangeProfile) -> Result<()>;

    /// Returns the ended sessions; a conflict if the password has changed meanwhile.
    async fn change_password(&self, command: ChangePassword) -> Result<Vec<SessionId>>;

    /// Refusals: `IdentityTaken` if the person has another account, `IdentityRests` if they
    /// withdrew one that hasn't been erased yet.
    async fn prove_identity(&self, command: ProveIdentity) -> Result<()>;

    /// The encrypted CI of a verified account, if the certifier gave one.
    async fn proven_ci(&self, user: UserId) -> Result<Option<Vec<u8>>>;

    /// Returns the ended sessions; `None` if the change doesn't fit the current state.
    async fn change_totp(&self, command: ChangeTotp) -> Result<Option<Vec<SessionId>>>;

    /// Records a step-up of a live session; false if there is no such session.
    async fn note_proof(&self, session: SessionId, now: Timestamp) -> Result<bool>;

    /// When the owner of a live session last authenticated.
    async fn proven_at(&self, session: SessionId) -> Result<Option<Timestamp>>;

    /// Stores a pending account until its address is confirmed, and requests the notification.
    async fn ask_sign_up(&self, command: RequestSignUp) -> Result<()>;

    /// Creates the account if the code is right; false if it's wrong, was guessed too often, or has
    /// expired. Refusals: `EmailTaken`.
    async fn confirm_sign_up(&self, command: ConfirmSignUp) -> Result<bool>;

    /// Marks the address of an account as proved; false if the code is wrong, was guessed too
    /// often, or has expired.
    async fn prove_email(&self, command: ProveEmail) -> Result<bool>;

    async fn sign_up(&self, sign_up: UserId) -> Result<Option<SignUpRecord>>;

    /// Deletes sign-ups that expired before this moment.
    async fn forget_sign_ups(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Idempotent. Refusals: `SocialTaken`.
    async fn link_social(&self, command: LinkSocial) -> Result<()>;

    async fn social_of(&self, user: UserId) -> Result<Vec<LinkedView>>;

    /// False if it isn't linked. Refusals: `LastLogin`.
    async fn unlink_social(&self, user: UserId, provider: SocialProvider) -> Result<bool>;

    async fn user_by_social(&self, account: SocialAccount) -> Result<Option<UserRecord>>;

    /// Refusals: `EmailTaken`.
    async fn create_social_user(&self, command: CreateSocialUser) -> Result<()>;

    /// Stores the same password with a better hash; a no-op if the password has changed meanwhile.
    async fn renew_hash(&self, command: RenewHash) -> Result<()>;

    /// Deactivates the account and frees its address; returns the ended sessions. Refusals:
    /// `LastOwner`.
    async fn withdraw(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionId>>;

    /// Erases the personal fields of accounts that were withdrawn before then.
    async fn erase_withdrawn(&self, before: Timestamp, limit: u32, now: Timestamp) -> Result<u64>;

    /// The same accounts, to be erased one by one.
    async fn withdrawn(&self, before: Timestamp, limit: u32, now: Timestamp)
    -> Result<Vec<UserId>>;

    async fn erase(&self, user: UserId, now: Timestamp) -> Result<()>;

    /// Marks accounts as dormant that haven't logged in since this moment.
    async fn make_dormant(
        &self,
        unused_since: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<u64>;

    /// Deletes log-ins before this moment, at most `limit` rows; an engine that partitions them by
    /// month drops whole months, and creates the next ones.
    async fn apply_login_retention(
        &self,
        before: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<LoginsKept>;
}

//! Accounts, sessions and log-ins in the store.

use crate::error::Result;
use crate::paging::PageAsk;
use async_trait::async_trait;
use domain::accounts::{Failures, Role, SocialProvider};
use domain::messages::Language;
use domain::{LoginId, SessionId, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// A new account; personal fields are sealed already.
#[derive(Clone, Debug)]
pub struct CreateUser {
    pub user: UserId,
    pub email: Vec<u8>,
    pub email_hash: [u8; 32],
    /// Whether the owner showed that the address is theirs.
    pub is_email_proven: bool,
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
    pub is_verified: bool,
    pub is_email_proven: bool,
    pub totp: Option<SealedTotp>,
    pub created_at: Timestamp,
}

impl UserRecord {
    /// Whether a log-in needs a code.
    pub fn has_second_factor(&self) -> bool {
        self.totp.as_ref().is_some_and(|totp| totp.is_on)
    }

    /// The hash of the password; an account of another service has none.
    pub fn known_hash(&self) -> Option<String> {
        Some(self.password_hash.clone()).filter(|hash| !hash.is_empty())
    }
}

/// A second factor; it is not on before its first code was seen.
#[derive(Clone, Debug)]
pub struct SealedTotp {
    pub secret: Vec<u8>,
    pub is_on: bool,
}

#[derive(Clone, Debug)]
pub struct ChangeTotp {
    pub user: UserId,
    pub change: TotpChange,
    pub now: Timestamp,
}

/// A step is the number of the half minute of a code; each counts once.
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
    /// By an operator, for who lost their device. All sessions end.
    Reset,
}

/// Another role, given by an organiser. All sessions end with the old one.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRole {
    pub actor: UserId,
    pub user: UserId,
    pub role: Role,
    pub now: Timestamp,
}

/// Somebody's account at another service, by a keyed hash of its name there.
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

/// An account at another service, to be linked to one here.
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

/// An account that is made when its address is confirmed. The code is sealed, and as a keyed hash.
#[derive(Clone, Debug)]
pub struct AskSignUp {
    pub account: CreateUser,
    /// Whose address it is already.
    pub taken_by: Option<UserId>,
    /// Whose account exists already and only lacks the proof; then no other is made.
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

/// What the letter about a sign-up needs; sealed.
#[derive(Clone, Debug)]
pub struct SignUpRecord {
    pub email: Vec<u8>,
    pub code: Vec<u8>,
    pub language: Language,
    pub is_taken: bool,
}

/// What a fan changes about themselves; what is `None` stays.
#[derive(Clone, Debug)]
pub struct ChangeProfile {
    pub user: UserId,
    pub name: Option<Vec<u8>>,
    pub phone: Option<SealedPhone>,
    pub now: Timestamp,
}

/// A phone number and its keyed hash; both `None` to have none.
#[derive(Clone, Debug, Default)]
pub struct SealedPhone {
    pub phone: Option<Vec<u8>>,
    pub phone_hash: Option<[u8; 32]>,
}

/// A new password in the place of a known one. Every session but `keep` ends with the old one.
#[derive(Clone, Debug)]
pub struct ChangePassword {
    pub user: UserId,
    pub known_hash: String,
    pub new_hash: String,
    pub keep: SessionId,
    pub now: Timestamp,
}

/// Who a person proved to be; sealed, and as keyed hashes. One of the two is there.
#[derive(Clone, Debug)]
pub struct ProveIdentity {
    pub user: UserId,
    pub ci: Option<Vec<u8>>,
    pub ci_hash: Option<[u8; 32]>,
    pub di: Option<Vec<u8>>,
    pub di_hash: Option<[u8; 32]>,
    pub now: Timestamp,
}

/// A session that is alive.
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
    /// The session that asks.
    pub current: bool,
}

/// A log-in that worked or did not.
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
    /// What counts as one place.
    pub network: Option<String>,
    pub agent: Option<String>,
    /// Whose tries it is counted with; `None` for all who never logged in to the account.
    pub budget: Option<String>,
    /// `EMAIL`, or the other service.
    pub method: &'static str,
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
    /// An organiser's token that is older was not used for too long.
    pub organisers_idle_max: Option<Duration>,
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
    /// It is an organiser's who was away for too long. The session has ended.
    Idle {
        session: SessionId,
    },
    /// It was spent long ago: somebody has a copy. The whole family is dead now.
    Reused {
        session: SessionId,
    },
}

/// What a round did to the history of log-ins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoginsKept {
    /// Months that were made and dropped, where log-ins are kept by month.
    pub made: u64,
    pub dropped: u64,
    /// Rows that were deleted one by one.
    pub deleted: u64,
}

#[async_trait]
pub trait Accounts: Send + Sync {
    /// Refusals: `EmailTaken`.
    async fn create_user(&self, command: CreateUser) -> Result<()>;

    /// Makes many accounts at once, for demos and benchmarks; known addresses are passed over.
    async fn create_users(&self, commands: Vec<CreateUser>) -> Result<()>;

    async fn user_by_email(&self, email_hash: [u8; 32]) -> Result<Option<UserRecord>>;

    async fn user(&self, user: UserId) -> Result<Option<UserRecord>>;

    /// The keyed hash of the address that the owner of an account proved to be theirs.
    async fn proven_email(&self, user: UserId) -> Result<Option<[u8; 32]>>;

    async fn record_failed_login(&self, attempt: LoginAttempt) -> Result<()>;

    /// The failed log-ins of an address in one budget since the last of it that worked, and since this
    /// moment.
    async fn failures(
        &self,
        email_hash: [u8; 32],
        budget: Option<String>,
        since: Timestamp,
    ) -> Result<Failures>;

    /// Whether somebody logged in with this address from this network since this moment.
    async fn knows_network(
        &self,
        email_hash: [u8; 32],
        network: String,
        since: Timestamp,
    ) -> Result<bool>;

    async fn start_session(&self, command: StartSession) -> Result<()>;

    /// Spends one refresh token and issues the next by one compare-and-set.
    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotation>;

    /// Ends a session: nothing of its family works any more.
    async fn end_session(&self, session: SessionId, now: Timestamp) -> Result<()>;

    /// False when the user has no such session alive.
    async fn end_session_of(
        &self,
        user: UserId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool>;

    /// Live sessions, the latest used first; none of them is marked as current.
    async fn sessions_of(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionView>>;

    /// Sessions that ended since this moment: their access tokens may still be out there.
    async fn sessions_ended_since(&self, since: Timestamp) -> Result<Vec<SessionId>>;

    /// Log-ins, newest first.
    async fn logins_of(&self, user: UserId, page: PageAsk) -> Result<Vec<LoginView>>;

    async fn change_profile(&self, command: ChangeProfile) -> Result<()>;

    /// The sessions that ended with it; a conflict when the password was changed meanwhile.
    async fn change_password(&self, command: ChangePassword) -> Result<Vec<SessionId>>;

    /// Refusals: `IdentityTaken` when the person has another account, `IdentityRests` when they
    /// withdrew one that is not erased yet.
    async fn prove_identity(&self, command: ProveIdentity) -> Result<()>;

    /// The sessions that ended with it; `None` when it does not fit what is there.
    async fn change_totp(&self, command: ChangeTotp) -> Result<Option<Vec<SessionId>>>;

    /// The sessions that ended with it; leaves an audit entry. Refusals: `NotFound`.
    async fn change_role(&self, command: ChangeRole) -> Result<Vec<SessionId>>;

    /// Notes that the owner of a live session showed once more who they are; false when there is no
    /// such session.
    async fn note_proof(&self, session: SessionId, now: Timestamp) -> Result<bool>;

    /// When the owner of a live session last showed who they are.
    async fn proven_at(&self, session: SessionId) -> Result<Option<Timestamp>>;

    /// Keeps what an account will need until its address is confirmed, and asks for the letter.
    async fn ask_sign_up(&self, command: AskSignUp) -> Result<()>;

    /// Makes the account when the code is right; false when it is not, when it was guessed too often,
    /// or too late. Refusals: `EmailTaken`.
    async fn confirm_sign_up(&self, command: ConfirmSignUp) -> Result<bool>;

    /// Notes that the address of an account is its owner's; false when the code is not right, was
    /// guessed too often, or came too late.
    async fn prove_email(&self, command: ProveEmail) -> Result<bool>;

    async fn sign_up(&self, sign_up: UserId) -> Result<Option<SignUpRecord>>;

    /// Forgets sign-ups whose time was over before this moment.
    async fn forget_sign_ups(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Linking again what is linked changes nothing. Refusals: `SocialTaken`.
    async fn link_social(&self, command: LinkSocial) -> Result<()>;

    async fn social_of(&self, user: UserId) -> Result<Vec<LinkedView>>;

    /// False when it is not linked. Refusals: `LastLogin`.
    async fn unlink_social(&self, user: UserId, provider: SocialProvider) -> Result<bool>;

    async fn user_by_social(&self, account: SocialAccount) -> Result<Option<UserRecord>>;

    /// Refusals: `EmailTaken`.
    async fn create_social_user(&self, command: CreateSocialUser) -> Result<()>;

    /// The same password in a better hash; nothing when it was changed meanwhile.
    async fn renew_hash(
        &self,
        user: UserId,
        known_and_new: (String, String),
        now: Timestamp,
    ) -> Result<()>;

    /// Takes the account out of use, and its address is free again; the sessions that ended.
    async fn withdraw(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionId>>;

    /// Erases the personal fields of accounts that were withdrawn before this moment.
    async fn erase_withdrawn(&self, before: Timestamp, limit: u32, now: Timestamp) -> Result<u64>;

    /// The same accounts, to be erased one by one.
    async fn withdrawn(&self, before: Timestamp, limit: u32, now: Timestamp)
    -> Result<Vec<UserId>>;

    async fn erase(&self, user: UserId, now: Timestamp) -> Result<()>;

    /// Puts accounts to sleep that nobody logged in to since this moment.
    async fn make_dormant(
        &self,
        unused_since: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<u64>;

    /// Makes room for the log-ins to come and forgets those before this moment, at most `limit` rows
    /// and whole months besides. An engine that keeps log-ins by month forgets a month when all of it
    /// is older.
    async fn keep_logins(
        &self,
        before: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<LoginsKept>;
}

//! The organisers and their roles in the store.

use crate::error::Result;
use crate::identity::port::accounts::{CreateUser, RequestSignUp};
use async_trait::async_trait;
use podo_domain::identity::permissions::{Grant, Membership};
use podo_domain::{SessionId, Timestamp, UserId};

/// A role change by an organiser; `None` makes the account a fan's. All sessions of the account
/// end.
#[derive(Clone, Debug)]
pub struct ChangeMembership {
    pub actor: UserId,
    /// What the actor may do. Neither the old nor the new role may exceed it.
    pub by: Grant,
    pub user: UserId,
    pub membership: Option<Membership>,
    pub now: Timestamp,
}

/// An organiser; personal fields are encrypted.
#[derive(Clone, Debug)]
pub struct MemberRecord {
    pub user: UserId,
    pub email: Vec<u8>,
    pub name: Vec<u8>,
    pub membership: Membership,
    pub has_second_factor: bool,
    pub last_login_at: Timestamp,
}

/// An invitation; its e-mail is requested with it.
#[derive(Clone, Debug)]
pub struct Invite {
    pub pending: RequestSignUp,
    pub membership: Membership,
    pub invited_by: UserId,
}

/// A pending invitation; its address is encrypted.
#[derive(Clone, Debug)]
pub struct InvitationRecord {
    /// The id of the pending row.
    pub id: UserId,
    pub email: Vec<u8>,
    pub email_hash: [u8; 32],
    pub membership: Membership,
    pub invited_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Uses up an invitation.
#[derive(Clone, Debug)]
pub struct AcceptInvitation {
    pub invitation: UserId,
    pub token_hash: [u8; 32],
    pub by: InvitedAccount,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub enum InvitedAccount {
    /// The account must have the invited address.
    Existing(UserId),
    /// The link proves the address.
    New(CreateUser),
}

#[async_trait]
pub trait Team: Send + Sync {
    /// What an organiser may do; `None` for fans and deleted accounts.
    async fn membership(&self, user: UserId) -> Result<Option<Membership>>;

    /// All organisers, oldest accounts first.
    async fn team(&self) -> Result<Vec<MemberRecord>>;

    /// Returns the ended sessions; writes an audit entry. Refusals: `NotFound`, `GrantTooWide`,
    /// `LastOwner`.
    async fn change_membership(&self, command: ChangeMembership) -> Result<Vec<SessionId>>;

    /// Writes an audit entry.
    async fn invite(&self, command: Invite) -> Result<()>;

    /// Pending invitations, newest first.
    async fn invitations(&self, now: Timestamp) -> Result<Vec<InvitationRecord>>;

    /// The invitation with this token; `None` if it is used, withdrawn or expired, or if its
    /// creator may no longer give its role.
    async fn invitation(
        &self,
        invitation: UserId,
        token_hash: [u8; 32],
        now: Timestamp,
    ) -> Result<Option<InvitationRecord>>;

    /// False if there is none; writes an audit entry.
    async fn withdraw_invitation(
        &self,
        invitation: UserId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<bool>;

    /// Returns the ended sessions; writes an audit entry. Refusals: `InvitationInvalid`,
    /// `EmailTaken`.
    async fn accept_invitation(&self, command: AcceptInvitation) -> Result<Vec<SessionId>>;
}

//! Forgotten passwords and changed addresses in the store.

use crate::error::Result;
use crate::identity::port::accounts::RequestSignUp;
use async_trait::async_trait;
use podo_domain::{SessionId, Timestamp, UserId};

/// A new password by the link of an e-mail. All sessions end.
#[derive(Clone, Debug)]
pub struct ResetPassword {
    pub pending: UserId,
    pub token_hash: [u8; 32],
    pub new_hash: String,
    pub now: Timestamp,
}

/// A new address by the code that was mailed to it. All other sessions end.
#[derive(Clone, Debug)]
pub struct ChangeEmail {
    pub user: UserId,
    pub pending: UserId,
    pub code_hash: [u8; 32],
    /// The new address, encrypted for the account.
    pub email: Vec<u8>,
    pub email_hash: [u8; 32],
    /// The notice to the previous address, if there was one.
    pub notice: Option<RequestSignUp>,
    pub keep: SessionId,
    pub now: Timestamp,
}

#[async_trait]
pub trait Recovery: Send + Sync {
    /// Whether a link is valid: unused, in time, and for the account's present address.
    async fn can_reset(
        &self,
        pending: UserId,
        token_hash: [u8; 32],
        now: Timestamp,
    ) -> Result<bool>;

    /// Returns the ended sessions; `None` if the link isn't valid. All links of the account end.
    async fn reset_password(&self, command: ResetPassword) -> Result<Option<Vec<SessionId>>>;

    /// Returns the ended sessions; `None` if the code is wrong, was guessed too often, or has
    /// expired. Refusals: `EmailTaken`.
    async fn change_email(&self, command: ChangeEmail) -> Result<Option<Vec<SessionId>>>;
}

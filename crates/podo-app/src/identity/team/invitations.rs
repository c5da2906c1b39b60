//! Invitations to the team: a link that works once, for a week, for one address.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::mailed_links::{limit_emails, pending_link, read_token};
use crate::identity::accounts::{Origin, SignUp, new_user, open, revoke_all};
use crate::identity::port::accounts::{CreateUser, PendingPurpose};
use crate::identity::port::team::{AcceptInvitation, InvitationRecord, Invite, InvitedAccount};
use crate::identity::sessions::Caller;
use crate::identity::team::{Actor, GrantView};
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::Membership;
use podo_domain::identity::{Email, INVITATION_WITHIN, NewPassword, Role};
use podo_domain::messaging::messages::Language;
use podo_domain::{Refusal, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// A pending invitation as the team sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    pub id: UserId,
    pub email: String,
    #[serde(flatten)]
    pub grant: GrantView,
    pub invited_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

fn view(context: &AppContext, record: InvitationRecord) -> Result<InvitationView> {
    Ok(InvitationView {
        id: record.id,
        email: open(context, "email", record.id, &record.email)?,
        grant: record.membership.into(),
        invited_by: record.invited_by,
        created_at: record.created_at,
        expires_at: record.expires_at,
    })
}

/// Sends an invitation. No one invites others to more than they may do themselves.
pub async fn invite(
    context: &AppContext,
    actor: Actor,
    email: Email,
    membership: Membership,
    language: Language,
) -> Result<InvitationView> {
    if !actor.grant.covers(&membership.grant) {
        return Err(Refusal::GrantTooWide.into());
    }
    let email_hash = context.keyring.lookup("email", email.as_str());
    let known = context.store.user_by_email(email_hash).await?;
    if known.is_some_and(|it| it.role.is_organiser()) {
        return Err(Refusal::EmailTaken.into());
    }
    limit_emails(context, &email).await?;
    let expires_at = context.now().plus(INVITATION_WITHIN);
    let pending = pending_link(context, PendingPurpose::Invite, &email, language, expires_at);
    let view = InvitationView {
        id: pending.account.user,
        email: email.as_str().to_owned(),
        grant: membership.clone().into(),
        invited_by: actor.user,
        created_at: pending.account.now,
        expires_at,
    };
    context.store.invite(Invite { pending, membership, invited_by: actor.user }).await?;
    Ok(view)
}

pub async fn pending(context: &AppContext) -> Result<Vec<InvitationView>> {
    let found = context.store.invitations(context.now()).await?;
    found.into_iter().map(|record| view(context, record)).collect()
}

pub async fn withdraw(context: &AppContext, actor: UserId, invitation: UserId) -> Result<()> {
    match context.store.withdraw_invitation(invitation, actor, context.now()).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

/// What an invited person sees of the invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invited {
    pub email: String,
    #[serde(flatten)]
    pub grant: GrantView,
    pub expires_at: Timestamp,
    /// Whether the address has an account: then its owner logs in and accepts.
    pub has_account: bool,
}

/// Tokens that one network may try per minute.
const TRIES: u32 = 30;
const TRIES_PER: Duration = Duration::from_secs(60);

async fn find(context: &AppContext, token: &str, origin: &Origin) -> Result<InvitationRecord> {
    if let Some(network) = &origin.network {
        context.take(&format!("invitation-from:{network}"), TRIES, TRIES_PER).await?;
    }
    let token = read_token(context, token).ok_or(Refusal::InvitationInvalid)?;
    let found = context.store.invitation(token.id, token.hash, context.now()).await?;
    Ok(found.ok_or(Refusal::InvitationInvalid)?)
}

pub async fn show(context: &AppContext, token: &str, origin: &Origin) -> Result<Invited> {
    let record = find(context, token, origin).await?;
    let has_account = context.store.user_by_email(record.email_hash).await?.is_some();
    let InvitationView { email, grant, expires_at, .. } = view(context, record)?;
    Ok(Invited { email, grant, expires_at, has_account })
}

/// Accepts with a new account; the link proves its address.
pub async fn accept_as_new(
    context: &AppContext,
    token: &str,
    name: Line<50>,
    password: NewPassword,
    origin: &Origin,
) -> Result<UserId> {
    let record = find(context, token, origin).await?;
    let address = open(context, "email", record.id, &record.email)?;
    let email = Email::try_from(address).map_err(|_changed| Refusal::InvitationInvalid)?;
    let hash = context.identity.passwords.hash_new(password.as_str().to_owned()).await?;
    let asked = SignUp { email, password, name, phone: None, role: Role::User };
    let now = context.now();
    let account = CreateUser { is_email_proven: true, ..new_user(context, &asked, hash, now) };
    let user = account.user;
    accept(context, token, InvitedAccount::New(account)).await?;
    Ok(user)
}

/// Accepts with the caller's account, which must have the invited address. All its sessions end.
pub async fn accept_as(
    context: &AppContext,
    token: &str,
    caller: Caller,
    origin: &Origin,
) -> Result<()> {
    find(context, token, origin).await?;
    accept(context, token, InvitedAccount::Existing(caller.user)).await
}

async fn accept(context: &AppContext, token: &str, by: InvitedAccount) -> Result<()> {
    let token = read_token(context, token).ok_or(Refusal::InvitationInvalid)?;
    let now = context.now();
    let command = AcceptInvitation { invitation: token.id, token_hash: token.hash, by, now };
    let ended = context.store.accept_invitation(command).await?;
    revoke_all(context, &ended, now).await
}

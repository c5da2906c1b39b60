//! Invitations to the team.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::accounts::create;
use crate::sql::identity::accounts::sessions::end_all;
use crate::sql::identity::accounts::sign_ups::ask;
use crate::sql::identity::team::{
    Invitation, Invitations, StoredGrant, WithdrawInvitation, described, give, lock_team,
    membership_of, read_grant,
};
use crate::sql::operations::audit::note;
use podo_app::identity::port::team::{AcceptInvitation, InvitationRecord, Invite, InvitedAccount};
use podo_app::{Error, Result};
use podo_domain::identity::permissions::Membership;
use podo_domain::{Refusal, SessionId, Timestamp, UserId};
use serde_json::json;

pub(super) async fn invite(tx: &mut dyn Tx, command: &Invite) -> Result<()> {
    let Invite { pending, membership, invited_by } = command;
    let (id, now) = (pending.account.user, pending.account.now);
    ask(tx, pending).await?;
    let StoredGrant { role, permissions, events } = StoredGrant::of(membership);
    let sql = "insert into invitations (id, role, permissions, events, invited_by, created_at)
               values ($1, $2, $3, $4, $5, $6)";
    tx.execute(sql, params![id, role, permissions, events, *invited_by, now]).await?;
    note(tx, *invited_by, "team.invite", id, described(membership), now).await
}

fn read(row: &Row) -> Result<InvitationRecord> {
    let missing = || Error::Broken("an invitation without a role".into());
    Ok(InvitationRecord {
        id: row.get("id")?,
        email: row.get("email")?,
        email_hash: row.get("email_hash")?,
        membership: read_grant(row)?.ok_or_else(missing)?,
        invited_by: row.get("invited_by")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}

pub(super) async fn list(tx: &mut dyn Tx, question: &Invitations) -> Result<Vec<InvitationRecord>> {
    let sql = "select i.id, s.email, s.email_hash, i.role as team_role, i.permissions, i.events,
                      i.invited_by, i.created_at, s.expires_at
                 from invitations i join sign_ups s on s.id = i.id
                where $1 < s.expires_at order by i.id desc limit 200";
    tx.query(sql, params![question.now]).await?.iter().map(read).collect()
}

pub(super) async fn find(
    tx: &mut dyn Tx,
    question: &Invitation,
) -> Result<Option<InvitationRecord>> {
    find_valid(tx, question.invitation, question.token_hash, question.now).await
}

/// The role is given by its creator at the moment of acceptance: a removed organiser gives none.
async fn find_valid(
    tx: &mut dyn Tx,
    invitation: UserId,
    token_hash: [u8; 32],
    now: Timestamp,
) -> Result<Option<InvitationRecord>> {
    let sql = "select i.id, s.email, s.email_hash, i.role as team_role, i.permissions, i.events,
                      i.invited_by, i.created_at, s.expires_at
                 from invitations i join sign_ups s on s.id = i.id
                where i.id = $1 and s.code_hash = $2 and s.purpose = 'INVITE'
                  and $3 < s.expires_at";
    let found = tx.row(sql, params![invitation, token_hash, now]).await?;
    let Some(found) = found.as_ref().map(read).transpose()? else { return Ok(None) };
    let inviter = membership_of(tx, found.invited_by).await?;
    let may_give = |it: Membership| it.grant.covers(&found.membership.grant);
    Ok(inviter.is_some_and(may_give).then_some(found))
}

/// Spends the invitation; false if another call was faster.
async fn spend(tx: &mut dyn Tx, invitation: UserId) -> Result<bool> {
    tx.execute("delete from sign_ups where id = $1", params![invitation]).await?;
    let sql = "delete from invitations where id = $1";
    Ok(tx.execute(sql, params![invitation]).await? == 1)
}

pub(super) async fn withdraw(tx: &mut dyn Tx, command: &WithdrawInvitation) -> Result<bool> {
    if !spend(tx, command.invitation).await? {
        return Ok(false);
    }
    note(tx, command.actor, "team.withdraw", command.invitation, json!({}), command.now).await?;
    Ok(true)
}

pub(super) async fn accept(tx: &mut dyn Tx, command: &AcceptInvitation) -> Result<Vec<SessionId>> {
    let AcceptInvitation { invitation, token_hash, by, now } = command;
    lock_team(tx).await?;
    let found = find_valid(tx, *invitation, *token_hash, *now).await?;
    let found = found.ok_or(Refusal::InvitationInvalid)?;
    if !spend(tx, *invitation).await? {
        return Err(Refusal::InvitationInvalid.into());
    }
    let user = match by {
        InvitedAccount::New(account) => {
            create(tx, account).await?;
            account.user
        }
        InvitedAccount::Existing(user) => {
            claim(tx, *user, &found, *now).await?;
            *user
        }
    };
    give(tx, user, Some(&found.membership), *now).await?;
    note(tx, user, "team.join", invitation, described(&found.membership), *now).await?;
    end_all(tx, user, None, *now).await
}

/// The account must have the invited address, which the link proves, and must not be an organiser
/// yet: an invitation lowers no one's role.
async fn claim(
    tx: &mut dyn Tx,
    user: UserId,
    found: &InvitationRecord,
    now: Timestamp,
) -> Result<()> {
    let sql = "update users set email_proven_at = coalesce(email_proven_at, $3), updated_at = $3
                where id = $1 and email_hash = $2 and status <> 'DELETED' and role = 'USER'";
    match tx.execute(sql, params![user, found.email_hash, now]).await? {
        1 => Ok(()),
        _ => Err(Refusal::InvitationInvalid.into()),
    }
}

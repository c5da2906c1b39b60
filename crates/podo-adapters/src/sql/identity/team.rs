//! Organisers and their roles.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value as SqlValue, params};
use crate::sql::identity::accounts::sessions::end_all;
use crate::sql::identity::invitations;
use crate::sql::operations::audit::note;
use podo_app::identity::port::team::{
    AcceptInvitation, ChangeMembership, InvitationRecord, Invite, MemberRecord, Team,
};
use podo_app::{Error, Result};
use podo_domain::identity::permissions::{
    EVENTS_PER_GRANT_MAX, EventScope, Grant, Membership, Permission, TeamRole,
};
use podo_domain::{EventId, Refusal, SessionId, Timestamp, UserId};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

commands! {
    impl Team for SqlStore {
        read membership(MembershipOf { user: UserId }) -> Option<Membership> as User => of_user;
        read team(ListTeam {}) -> Vec<MemberRecord> as User => list;
        write change_membership(ChangeMembership) -> Vec<SessionId> as User => change;
        write invite(Invite) -> () as User => invitations::invite;
        read invitations(Invitations { now: Timestamp })
            -> Vec<InvitationRecord> as User => invitations::list;
        read invitation(Invitation { invitation: UserId, token_hash: [u8; 32], now: Timestamp })
            -> Option<InvitationRecord> as User => invitations::find;
        write withdraw_invitation(WithdrawInvitation {
            invitation: UserId, actor: UserId, now: Timestamp,
        }) -> bool as User => invitations::withdraw;
        write accept_invitation(AcceptInvitation) -> Vec<SessionId> as User => invitations::accept;
    }
}

/// How a role is stored: names of permissions for a custom one, ids of events for a limited one.
pub(crate) struct StoredGrant {
    pub(crate) role: &'static str,
    pub(crate) permissions: Option<String>,
    pub(crate) events: Option<String>,
}

impl StoredGrant {
    pub(crate) fn of(membership: &Membership) -> StoredGrant {
        let Membership { role, grant } = membership;
        let names = || grant.permissions.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" ");
        let events = match &grant.events {
            EventScope::All => None,
            EventScope::Only(events) => {
                Some(events.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
        };
        StoredGrant {
            role: role.as_str(),
            permissions: role.permissions().is_none().then(names),
            events,
        }
    }
}

/// Reads the columns `team_role`, `permissions` and `events`. Permissions that this version doesn't
/// know are left out.
pub(crate) fn read_grant(row: &Row) -> Result<Option<Membership>> {
    let Some(role) = row.get::<Option<String>>("team_role")? else { return Ok(None) };
    let role = TeamRole::parse(&role).ok_or_else(|| Error::Broken(format!("role {role}")))?;
    let chosen: Option<String> = row.get("permissions")?;
    let chosen = chosen.unwrap_or_default();
    let permissions = match role.permissions() {
        Some(preset) => preset.iter().copied().collect(),
        None => chosen.split(' ').filter_map(Permission::parse).collect(),
    };
    let events: Option<String> = row.get("events")?;
    let events = match events {
        None => EventScope::All,
        Some(ids) => EventScope::Only(read_events(&ids)?),
    };
    Ok(Some(Membership { role, grant: Grant { permissions, events } }))
}

fn read_events(ids: &str) -> Result<BTreeSet<EventId>> {
    let read = |id: &str| id.parse::<EventId>().map_err(Error::broken);
    ids.split(' ').filter(|id| !id.is_empty()).map(read).collect()
}

/// Organisers without a row: the roles that existed before the others.
fn read_membership(row: &Row) -> Result<Membership> {
    if !row.get::<bool>("reads_only")? {
        return Ok(Membership::preset(TeamRole::Owner));
    }
    Ok(read_grant(row)?.unwrap_or_else(|| Membership::preset(TeamRole::Viewer)))
}

const MEMBERSHIP: &str = "select u.reads_only, m.role as team_role, m.permissions, m.events
                            from users u left join team_members m on m.user_id = u.id
                           where u.id = $1 and u.role = 'ADMIN' and u.status <> 'DELETED'";

async fn of_user(tx: &mut dyn Tx, question: &MembershipOf) -> Result<Option<Membership>> {
    membership_of(tx, question.user).await
}

pub(crate) async fn membership_of(tx: &mut dyn Tx, user: UserId) -> Result<Option<Membership>> {
    tx.row(MEMBERSHIP, params![user]).await?.as_ref().map(read_membership).transpose()
}

async fn list(tx: &mut dyn Tx, _: &ListTeam) -> Result<Vec<MemberRecord>> {
    let sql = "select u.id, u.email, u.name, u.reads_only, u.totp_since, u.last_login_at,
                      m.role as team_role, m.permissions, m.events
                 from users u left join team_members m on m.user_id = u.id
                where u.role = 'ADMIN' and u.status <> 'DELETED' order by u.id";
    let read = |row: &Row| {
        Ok(MemberRecord {
            user: row.get("id")?,
            email: row.get("email")?,
            name: row.get("name")?,
            membership: read_membership(row)?,
            has_second_factor: row.get::<Option<Timestamp>>("totp_since")?.is_some(),
            last_login_at: row.get("last_login_at")?,
        })
    };
    tx.query(sql, &[]).await?.iter().map(read).collect()
}

/// Whether the column is one of the scope's events, with the parameters of [`scope_values`] from `$7`
/// on.
macro_rules! in_scope {
    ($column:literal) => {
        concat!(
            " and (not $7 or ",
            $column,
            " in ($8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
                  $25, $26, $27)) "
        )
    };
}
pub(crate) use in_scope;

/// A limited scope as parameters: whether it is one, then its events, filled up with nil.
pub(crate) fn scope_values(events: Option<&BTreeSet<EventId>>) -> Vec<SqlValue> {
    let ids = events.into_iter().flatten().map(|event| event.uuid());
    let ids = ids.chain(std::iter::repeat(Uuid::nil())).take(EVENTS_PER_GRANT_MAX);
    let mut values = vec![SqlValue::Bool(events.is_some())];
    values.extend(ids.map(SqlValue::Uuid));
    values
}

/// The lock that serialises changes of the team, so that two owners can't remove each other at
/// once.
const TEAM: Uuid = Uuid::from_u128(0x07ea_4d00);

pub(crate) async fn lock_team(tx: &mut dyn Tx) -> Result<()> {
    Ok(tx.lock(TEAM).await?)
}

async fn change(tx: &mut dyn Tx, command: &ChangeMembership) -> Result<Vec<SessionId>> {
    let ChangeMembership { actor, by, user, membership, now } = command;
    lock_team(tx).await?;
    let known = membership_of(tx, *user).await?;
    let is_covered = |membership: &Membership| by.covers(&membership.grant);
    if !known.iter().chain(membership).all(is_covered) {
        return Err(Refusal::GrantTooWide.into());
    }
    let is_owner = |membership: &Option<Membership>| {
        membership.as_ref().is_some_and(|it| it.role == TeamRole::Owner)
    };
    if is_owner(&known) && !is_owner(membership) {
        require_other_owner(tx, *user).await?;
    }
    give(tx, *user, membership.as_ref(), *now).await?;
    let details = membership.as_ref().map_or(json!({ "role": "USER" }), described);
    note(tx, *actor, "user.role", user, details, *now).await?;
    end_all(tx, *user, None, *now).await
}

/// A role for the audit log.
pub(crate) fn described(membership: &Membership) -> Value {
    let StoredGrant { role, permissions, events } = StoredGrant::of(membership);
    json!({ "role": role, "permissions": permissions, "events": events })
}

/// Call it with the team locked.
pub(crate) async fn require_other_owner(tx: &mut dyn Tx, user: UserId) -> Result<()> {
    let sql = "select 1 from users
                where role = 'ADMIN' and not reads_only and status <> 'DELETED' and id <> $1 limit 1";
    match tx.row(sql, params![user]).await? {
        Some(_) => Ok(()),
        None => Err(Refusal::LastOwner.into()),
    }
}

/// Stores a role. Refusals: `NotFound`.
pub(crate) async fn give(
    tx: &mut dyn Tx,
    user: UserId,
    membership: Option<&Membership>,
    now: Timestamp,
) -> Result<()> {
    let is_owner = membership.is_some_and(|it| it.role == TeamRole::Owner);
    let (role, reads_only) = match membership {
        None => ("USER", false),
        Some(_) => ("ADMIN", !is_owner),
    };
    let sql = "update users set role = $2, reads_only = $3, updated_at = $4
                where id = $1 and status <> 'DELETED'";
    if tx.execute(sql, params![user, role, reads_only, now]).await? != 1 {
        return Err(Refusal::NotFound.into());
    }
    tx.execute("delete from team_members where user_id = $1", params![user]).await?;
    if let Some(membership) = membership.filter(|_| !is_owner) {
        let StoredGrant { role, permissions, events } = StoredGrant::of(membership);
        let sql = "insert into team_members (user_id, role, permissions, events, updated_at)
                   values ($1, $2, $3, $4, $5)";
        tx.execute(sql, params![user, role, permissions, events, now]).await?;
    }
    Ok(())
}

//! The team: organisers, their roles and the events that these are limited to.

pub mod api_keys;
pub mod invitations;

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::{open, revoke_all};
use crate::identity::port::team::{ChangeMembership, MemberRecord};
use podo_domain::identity::permissions::{EventScope, Grant, Membership, Permission, TeamRole};
use podo_domain::{EventId, Refusal, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// An organiser who acts, with what they may do.
#[derive(Clone, Debug)]
pub struct Actor {
    pub user: UserId,
    pub grant: Grant,
}

/// A role with what it permits, and the events that it is limited to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    pub role: TeamRole,
    pub permissions: Vec<Permission>,
    /// Absent if the role applies to all events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventId>>,
}

impl From<Membership> for GrantView {
    fn from(membership: Membership) -> GrantView {
        let Membership { role, grant } = membership;
        let events = match grant.events {
            EventScope::All => None,
            EventScope::Only(events) => Some(events.into_iter().collect()),
        };
        GrantView { role, permissions: grant.permissions.into_iter().collect(), events }
    }
}

/// An organiser as the team sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    pub id: UserId,
    pub email: String,
    pub name: String,
    #[serde(flatten)]
    pub grant: GrantView,
    /// Whether a log-in requires a code.
    pub second_factor: bool,
    pub last_login_at: Timestamp,
}

pub async fn members(context: &AppContext) -> Result<Vec<MemberView>> {
    let view = |record: MemberRecord| {
        Ok(MemberView {
            id: record.user,
            email: open(context, "email", record.user, &record.email)?,
            name: open(context, "name", record.user, &record.name)?,
            grant: record.membership.into(),
            second_factor: record.has_second_factor,
            last_login_at: record.last_login_at,
        })
    };
    context.store.team().await?.into_iter().map(view).collect()
}

/// Changes another person's role, or makes them a fan; never one's own, so that the last owner
/// stays one.
pub async fn change_membership(
    context: &AppContext,
    actor: Actor,
    user: UserId,
    membership: Option<Membership>,
) -> Result<()> {
    if actor.user == user {
        return Err(Refusal::OwnRole.into());
    }
    let now = context.now();
    let command = ChangeMembership { actor: actor.user, by: actor.grant, user, membership, now };
    let ended = context.store.change_membership(command).await?;
    revoke_all(context, &ended, now).await
}

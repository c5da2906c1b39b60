//! The team: organisers, their roles, and invitations.

use crate::http::extract::permissions::ManageTeam;
use crate::http::extract::{Audited, Body, CameFrom, Fan, Id, RecentAuth, guarded};
use crate::http::language::Language;
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use podo_app::identity::team;
use podo_app::identity::team::invitations;
use podo_app::identity::team::invitations::{InvitationView, Invited};
use podo_app::identity::team::{Actor, GrantView, MemberView};
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::{Membership, Permission, TeamRole};
use podo_domain::identity::{Email, NewPassword};
use podo_domain::{EventId, Refusal, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(list_team))
        .routes(guarded!(change_member))
        .routes(guarded!(remove_member))
        .routes(guarded!(invite_member))
        .routes(guarded!(withdraw_invitation))
        .routes(routes!(show_invitation))
        .routes(routes!(accept_invitation))
        .routes(routes!(join_team))
}

/// A role and its limits.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RoleChoice {
    pub(crate) role: TeamRole,
    /// Required for `CUSTOM`, absent for the other roles.
    #[serde(default)]
    pub(crate) permissions: Option<BTreeSet<Permission>>,
    /// The events that the role is limited to, at most 20; absent for all events.
    #[serde(default)]
    pub(crate) events: Option<BTreeSet<EventId>>,
}

impl RoleChoice {
    pub(crate) fn membership(self) -> Result<Membership, Refusal> {
        Membership::new(self.role, self.permissions, self.events)
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TeamView {
    members: Vec<MemberView>,
    invitations: Vec<InvitationView>,
    /// The roles that can be given, with their permissions.
    roles: Vec<GrantView>,
}

/// All organisers with their roles, and pending invitations.
#[utoipa::path(get, path = "/api/admin/team", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = TeamView), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn list_team(
    State(app): State<App>,
    _: Audited<ManageTeam>,
) -> ApiResult<Json<TeamView>> {
    Ok(Json(TeamView {
        members: team::members(&app.context).await?,
        invitations: invitations::pending(&app.context).await?,
        roles: TeamRole::ALL.map(|role| Membership::preset(role).into()).into(),
    }))
}

/// Changes an organiser's role and the events that it is limited to. All their sessions end. You
/// cannot change your own role or give more than you have.
#[utoipa::path(put, path = "/api/admin/team/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)), request_body = RoleChoice,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change_member(
    State(app): State<App>,
    RecentAuth { actor, grant, .. }: RecentAuth<ManageTeam>,
    Id(user): Id<UserId>,
    body: Body<RoleChoice>,
) -> ApiResult<StatusCode> {
    let membership = Some(body.value.membership()?);
    let actor = Actor { user: actor, grant };
    team::change_membership(&app.context, actor, user, membership).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes an organiser from the team: the account becomes a fan's, its sessions end, and its API
/// keys stop working. The last owner cannot be removed.
#[utoipa::path(delete, path = "/api/admin/team/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_member(
    State(app): State<App>,
    RecentAuth { actor, grant, .. }: RecentAuth<ManageTeam>,
    Id(user): Id<UserId>,
) -> ApiResult<StatusCode> {
    let actor = Actor { user: actor, grant };
    team::change_membership(&app.context, actor, user, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct InvitationBody {
    email: Email,
    role: TeamRole,
    #[serde(default)]
    permissions: Option<BTreeSet<Permission>>,
    #[serde(default)]
    events: Option<BTreeSet<EventId>>,
}

/// Invites a person to the team by e-mail. The link in it works once, for seven days.
#[utoipa::path(post, path = "/api/admin/team/invitations", tag = "admin",
    security(("accessToken" = [])), request_body = InvitationBody,
    responses((status = 201, body = InvitationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn invite_member(
    State(app): State<App>,
    RecentAuth { actor, grant, .. }: RecentAuth<ManageTeam>,
    headers: HeaderMap,
    body: Body<InvitationBody>,
) -> ApiResult<(StatusCode, Json<InvitationView>)> {
    let InvitationBody { email, role, permissions, events } = body.value;
    let membership = Membership::new(role, permissions, events)?;
    let language = Language::of(&headers).of_notifications();
    let actor = Actor { user: actor, grant };
    let made = invitations::invite(&app.context, actor, email, membership, language).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Withdraws an invitation; its link stops working.
#[utoipa::path(delete, path = "/api/admin/team/invitations/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn withdraw_invitation(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageTeam>,
    Id(invitation): Id<UserId>,
) -> ApiResult<StatusCode> {
    invitations::withdraw(&app.context, actor, invitation).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvitationToken {
    /// From the link in the e-mail.
    token: Line<100>,
}

/// Shows what an invitation offers, by the token of its link.
#[utoipa::path(post, path = "/api/auth/invitation", tag = "accounts",
    request_body = InvitationToken,
    responses((status = 200, body = Invited), (status = 404, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn show_invitation(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    body: Body<InvitationToken>,
) -> ApiResult<Json<Invited>> {
    Ok(Json(invitations::show(&app.context, body.value.token.as_str(), &origin).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptInvitationBody {
    /// From the link in the e-mail.
    token: Line<100>,
    name: Line<50>,
    password: NewPassword,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Joined {
    user_id: UserId,
}

/// Accepts an invitation with a new account. The link proves its address.
#[utoipa::path(post, path = "/api/auth/invitation/accept", tag = "accounts",
    request_body = AcceptInvitationBody,
    responses((status = 201, body = Joined), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn accept_invitation(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    body: Body<AcceptInvitationBody>,
) -> ApiResult<(StatusCode, Json<Joined>)> {
    let AcceptInvitationBody { token, name, password } = body.value;
    let user_id =
        invitations::accept_as_new(&app.context, token.as_str(), name, password, &origin).await?;
    Ok((StatusCode::CREATED, Json(Joined { user_id })))
}

/// Accepts an invitation with the caller's account, which must have the invited address. All
/// sessions end: the next log-in has the new role.
#[utoipa::path(post, path = "/api/users/me/invitation", tag = "accounts",
    security(("accessToken" = [])), request_body = InvitationToken,
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn join_team(
    State(app): State<App>,
    Fan(caller): Fan,
    CameFrom(origin): CameFrom,
    body: Body<InvitationToken>,
) -> ApiResult<StatusCode> {
    let token = body.value.token;
    invitations::accept_as(&app.context, token.as_str(), caller, &origin).await?;
    Ok(StatusCode::NO_CONTENT)
}

//! API keys for programs.

use crate::http::extract::permissions::ManageKeys;
use crate::http::extract::{Allowed, Audited, Body, Id, RecentAuth, guarded};
use crate::http::problem::{ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::identity::team::Actor;
use podo_app::identity::team::api_keys;
use podo_app::identity::team::api_keys::{ApiKeyView, KEY_DAYS_MAX, NewApiKey};
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::{Membership, Permission, TeamRole};
use podo_domain::{ApiKeyId, EventId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(list_keys))
        .routes(guarded!(create_key))
        .routes(guarded!(revoke_key))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Keys {
    items: Vec<ApiKeyView>,
}

/// All API keys, newest first, including expired and revoked ones.
#[utoipa::path(get, path = "/api/admin/keys", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = Keys), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn list_keys(
    State(app): State<App>,
    _: Allowed<ManageKeys>,
) -> ApiResult<Json<Keys>> {
    Ok(Json(Keys { items: api_keys::list(&app.context).await? }))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeyBody {
    /// What the key is for; shown in the audit log.
    name: Line<60>,
    role: TeamRole,
    /// Required for `CUSTOM`, absent for the other roles.
    #[serde(default)]
    permissions: Option<BTreeSet<Permission>>,
    /// The events that the key is limited to, at most 20; absent for all events.
    #[serde(default)]
    events: Option<BTreeSet<EventId>>,
    /// Days until it expires, 1 to 366.
    #[schema(minimum = 1, maximum = 366)]
    days: u32,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeKey {
    /// The key itself, for `Authorization: Bearer`; shown once.
    key: String,
    #[serde(flatten)]
    view: ApiKeyView,
}

/// Creates an API key. A key may do at most what its creator may do, now and later.
#[utoipa::path(post, path = "/api/admin/keys", tag = "admin", security(("accessToken" = [])),
    request_body = KeyBody,
    responses((status = 201, body = MadeKey), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create_key(
    State(app): State<App>,
    RecentAuth { actor, grant, .. }: RecentAuth<ManageKeys>,
    body: Body<KeyBody>,
) -> ApiResult<(StatusCode, Json<MadeKey>)> {
    let KeyBody { name, role, permissions, events, days } = body.value;
    if !(1..=KEY_DAYS_MAX).contains(&days) {
        let problem = format!("out_of_range:1..{KEY_DAYS_MAX}");
        return Err(Failure::Field { pointer: "days".into(), problem }.into());
    }
    let membership = Membership::new(role, permissions, events)?;
    let actor = Actor { user: actor, grant };
    let asked = NewApiKey { name, membership, days };
    let (view, key) = api_keys::create(&app.context, actor, asked).await?;
    Ok((StatusCode::CREATED, Json(MadeKey { key, view })))
}

/// Revokes an API key at once, on every node.
#[utoipa::path(delete, path = "/api/admin/keys/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = ApiKeyId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn revoke_key(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageKeys>,
    Id(key): Id<ApiKeyId>,
) -> ApiResult<StatusCode> {
    api_keys::revoke(&app.context, actor, key).await?;
    Ok(StatusCode::NO_CONTENT)
}

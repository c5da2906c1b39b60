//! API keys: programs call the organisers' API with them. A key has a role like an organiser, and
//! never more than the organiser who created it.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::keyring::sha256;
use crate::identity::port::api_keys::{ApiKeyRecord, CreateApiKey, LiveApiKey};
use crate::identity::team::{Actor, GrantView};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::Membership;
use podo_domain::{ApiKeyId, Refusal, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;
use utoipa::ToSchema;

/// How every key starts, so that scanners for leaked secrets find it.
const START: &str = "podo_live_";

/// How many characters of the secret part are shown in lists.
const SHOWN: usize = 6;

/// A key is valid for at most this long.
pub const KEY_DAYS_MAX: u32 = 366;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A key as the team sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyView {
    pub id: ApiKeyId,
    pub name: String,
    /// The start of the key, to recognise it by.
    pub prefix: String,
    #[serde(flatten)]
    pub grant: GrantView,
    pub created_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl From<ApiKeyRecord> for ApiKeyView {
    fn from(record: ApiKeyRecord) -> ApiKeyView {
        ApiKeyView {
            id: record.id,
            name: record.name,
            prefix: record.prefix,
            grant: record.membership.into(),
            created_by: record.created_by,
            created_at: record.created_at,
            expires_at: record.expires_at,
            revoked_at: record.revoked_at,
        }
    }
}

/// What an organiser asks for.
pub struct NewApiKey {
    pub name: Line<60>,
    pub membership: Membership,
    /// 1 to [`KEY_DAYS_MAX`].
    pub days: u32,
}

/// Whether a bearer's token is a key rather than an access token.
pub fn is_key(token: &str) -> bool {
    token.starts_with(START)
}

/// Creates a key and returns it. It is never shown again.
pub async fn create(
    context: &AppContext,
    actor: Actor,
    asked: NewApiKey,
) -> Result<(ApiKeyView, String)> {
    if !actor.grant.covers(&asked.membership.grant) {
        return Err(Refusal::GrantTooWide.into());
    }
    let now = context.now();
    let key = format!("{START}{}", URL_SAFE_NO_PAD.encode(context.rng.secret()));
    let command = CreateApiKey {
        id: ApiKeyId::new(context.rng.id(now)),
        name: asked.name.into(),
        prefix: key.chars().take(START.len() + SHOWN).collect(),
        key_hash: sha256(key.as_bytes()),
        membership: asked.membership,
        created_by: actor.user,
        expires_at: now.plus(DAY * asked.days),
        now,
    };
    let view = ApiKeyView {
        id: command.id,
        name: command.name.clone(),
        prefix: command.prefix.clone(),
        grant: command.membership.clone().into(),
        created_by: actor.user,
        created_at: now,
        expires_at: command.expires_at,
        revoked_at: None,
    };
    context.store.create_api_key(command).await?;
    Ok((view, key))
}

pub async fn list(context: &AppContext) -> Result<Vec<ApiKeyView>> {
    Ok(context.store.api_keys().await?.into_iter().map(ApiKeyView::from).collect())
}

pub async fn revoke(context: &AppContext, actor: UserId, key: ApiKeyId) -> Result<()> {
    match context.store.revoke_api_key(key, actor, context.now()).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

/// Authenticates a program. Every call asks the store, so a revoked key ends at once on every node.
pub async fn authenticate(context: &AppContext, key: &str, now: Timestamp) -> Result<LiveApiKey> {
    let found = context.store.live_api_key(sha256(key.as_bytes()), now).await?;
    Ok(found.ok_or(Refusal::LoginRequired)?)
}

/// The names of keys among actors of the audit log.
pub(crate) async fn names(context: &AppContext) -> Result<HashMap<UserId, String>> {
    let name = |record: ApiKeyRecord| (UserId::new(record.id.uuid()), record.name);
    Ok(context.store.api_keys().await?.into_iter().map(name).collect())
}

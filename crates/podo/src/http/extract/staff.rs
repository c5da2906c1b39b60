//! What an organiser route requires of its caller, as types in the handler's signature.
//!
//! A handler takes one of these as its first argument after the state, and is registered with
//! [`guarded!`](crate::http::extract::policy::guarded), which doesn't compile without one:
//! `Audited<ManageEvents, OfEvent>` is an audited call that needs the permission to manage events,
//! for the event in the path. The type decides who may call, whether the call is audited, and
//! whether it needs a recent login. Nothing depends on the text of the path.

use crate::http::extract::audit_note::note_call;
use crate::http::extract::permissions::Needs;
use crate::http::extract::policy::Policy;
use crate::http::extract::scope::{Everywhere, Scope};
pub(crate) use crate::http::extract::{Fan, Params, Parts};
use crate::http::extract::{access_token, check_user_limit, matched_path};
use crate::http::problem::ApiError;
use crate::http::respond::csv::{Exports, Format};
pub(crate) use crate::routes::App;
use axum::extract::FromRequestParts;
use podo_app::identity::accounts::require_proof;
use podo_app::identity::sessions::Caller;
use podo_app::identity::team::api_keys;
use podo_domain::identity::permissions::{EventScope, Grant, Permission, Subject};
use podo_domain::{Refusal, UserId};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// Names a permission and a scope without holding either.
type Marker<P, S> = PhantomData<fn() -> (P, S)>;

/// Reads data without personal information, or changes nothing. Not audited.
pub(crate) struct Allowed<P, S = Everywhere> {
    pub(crate) grant: Grant,
    marker: Marker<P, S>,
}

/// Reads personal data or changes something. Every call is audited.
pub(crate) struct Audited<P, S = Everywhere> {
    pub(crate) actor: UserId,
    pub(crate) grant: Grant,
    marker: Marker<P, S>,
}

/// Like `Audited`, for calls that move money or grant rights: a person must call, whose login or
/// last step-up is recent.
pub(crate) struct RecentAuth<P, S = Everywhere> {
    pub(crate) actor: UserId,
    pub(crate) grant: Grant,
    marker: Marker<P, S>,
}

/// A list of people or their actions, with the query `T`. Every call is audited. If the parsed
/// query asks for a file, a person's step-up must be recent.
pub(crate) struct AuditedExport<T, P, S = Everywhere> {
    pub(crate) query: T,
    pub(crate) grant: Grant,
    marker: Marker<P, S>,
}

/// A list of people that a device downloads in pages and keeps current, with the query `T`. The
/// call that begins it is audited. The handler verifies the cursor of the others, so that nothing
/// is read without a beginning.
pub(crate) struct AuditedStart<T, P, S = Everywhere> {
    pub(crate) query: T,
    pub(crate) actor: UserId,
    marker: Marker<P, S>,
}

/// A query that continues an earlier call.
pub(crate) trait Continues {
    fn cursor(&self) -> Option<&str>;
}

impl<P: Needs, S: Scope> Policy for Allowed<P, S> {
    const NAME: &'static str = "allowed";
    const PERMISSION: Permission = P::PERMISSION;
    const SCOPE: &'static str = S::NAME;
}

impl<P: Needs, S: Scope> Policy for Audited<P, S> {
    const NAME: &'static str = "audited";
    const PERMISSION: Permission = P::PERMISSION;
    const SCOPE: &'static str = S::NAME;
}

impl<P: Needs, S: Scope> Policy for RecentAuth<P, S> {
    const NAME: &'static str = "recent-auth";
    const PERMISSION: Permission = P::PERMISSION;
    const SCOPE: &'static str = S::NAME;
}

impl<T, P: Needs, S: Scope> Policy for AuditedExport<T, P, S> {
    const NAME: &'static str = "audited-export";
    const PERMISSION: Permission = P::PERMISSION;
    const SCOPE: &'static str = S::NAME;
}

impl<T, P: Needs, S: Scope> Policy for AuditedStart<T, P, S> {
    const NAME: &'static str = "audited-start";
    const PERMISSION: Permission = P::PERMISSION;
    const SCOPE: &'static str = S::NAME;
}

/// Who calls: an organiser in a session, or a program with a key.
pub(crate) struct Member {
    pub(crate) actor: UserId,
    pub(crate) grant: Grant,
    pub(crate) credential: Credential,
}

pub(crate) enum Credential {
    Session(Caller),
    /// With the name of the key.
    Key(String),
}

impl Member {
    /// An API key stands for a deliberate choice that needed a step-up, but can't make a new one.
    async fn require_proof(&self, app: &App) -> Result<(), ApiError> {
        match self.credential {
            Credential::Session(caller) => {
                Ok(require_proof(&app.context, caller, app.context.now()).await?)
            }
            Credential::Key(_) => Err(Refusal::PersonRequired.into()),
        }
    }
}

async fn member(parts: &mut Parts, app: &App) -> Result<Member, ApiError> {
    let token = access_token(&parts.headers).ok_or(Refusal::LoginRequired)?;
    if api_keys::is_key(token) {
        let key = api_keys::authenticate(&app.context, token, app.context.now()).await?;
        let actor = UserId::new(key.id.uuid());
        check_user_limit(app, actor, matched_path(parts))?;
        return Ok(Member { actor, grant: key.grant, credential: Credential::Key(key.name) });
    }
    let Fan(caller) = Fan::from_request_parts(parts, app).await?;
    // A session without a mandatory second factor has a fan's role, whatever the account may do.
    if !caller.role.is_organiser() {
        return Err(Refusal::AdminOnly.into());
    }
    let found = app.context.store.membership(caller.user).await?;
    let grant = found.ok_or(Refusal::AdminOnly)?.grant;
    Ok(Member { actor: caller.user, grant, credential: Credential::Session(caller) })
}

async fn permitted<P: Needs, S: Scope>(parts: &mut Parts, app: &App) -> Result<Member, ApiError> {
    let member = member(parts, app).await?;
    // Before the subject is looked up: without the permission every id gets the same answer.
    member.grant.check(P::PERMISSION, Subject::OwnEvents)?;
    if let EventScope::Only(_) = member.grant.events {
        member.grant.check(P::PERMISSION, S::subject(parts, app).await?)?;
    }
    Ok(member)
}

impl<P: Needs, S: Scope> FromRequestParts<App> for Allowed<P, S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Member { grant, .. } = permitted::<P, S>(parts, app).await?;
        Ok(Allowed { grant, marker: PhantomData })
    }
}

impl<P: Needs, S: Scope> FromRequestParts<App> for Audited<P, S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let member = permitted::<P, S>(parts, app).await?;
        note_call(parts, app, &member).await?;
        let Member { actor, grant, .. } = member;
        Ok(Audited { actor, grant, marker: PhantomData })
    }
}

impl<P: Needs, S: Scope> FromRequestParts<App> for RecentAuth<P, S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let member = permitted::<P, S>(parts, app).await?;
        member.require_proof(app).await?;
        note_call(parts, app, &member).await?;
        let Member { actor, grant, .. } = member;
        Ok(RecentAuth { actor, grant, marker: PhantomData })
    }
}

impl<T, P, S> FromRequestParts<App> for AuditedExport<T, P, S>
where
    T: DeserializeOwned + Exports + Send,
    P: Needs,
    S: Scope,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let member = permitted::<P, S>(parts, app).await?;
        let Params(query) = Params::<T>::from_request_parts(parts, app).await?;
        match (query.format(), &member.credential) {
            // A program may read all pages anyway.
            (Format::Json, _) | (Format::Csv, Credential::Key(_)) => {}
            (Format::Csv, Credential::Session(_)) => member.require_proof(app).await?,
        }
        note_call(parts, app, &member).await?;
        Ok(AuditedExport { query, grant: member.grant, marker: PhantomData })
    }
}

impl<T, P, S> FromRequestParts<App> for AuditedStart<T, P, S>
where
    T: DeserializeOwned + Continues + Send,
    P: Needs,
    S: Scope,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let member = permitted::<P, S>(parts, app).await?;
        let Params(query) = Params::<T>::from_request_parts(parts, app).await?;
        if query.cursor().is_none() {
            note_call(parts, app, &member).await?;
        }
        Ok(AuditedStart { query, actor: member.actor, marker: PhantomData })
    }
}

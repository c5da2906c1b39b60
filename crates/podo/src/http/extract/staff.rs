//! What an organiser route requires of its caller, as types in the handler's signature.
//!
//! A handler takes one of these as its first argument after the state, and is registered with
//! [`guarded!`](crate::http::extract::policy::guarded), which doesn't compile without one. The type
//! decides who may call, whether the call is audited, and whether it needs a recent login. Nothing
//! depends on the text of the path.

use crate::http::extract::audit_note::note_call;
use crate::http::extract::policy::Policy;
pub(crate) use crate::http::extract::{Fan, Params, Parts};
use crate::http::problem::ApiError;
use crate::http::respond::csv::{Exports, Format};
pub(crate) use crate::routes::App;
use axum::extract::FromRequestParts;
use podo_app::identity::accounts::require_proof;
use podo_app::identity::sessions::Caller;
use podo_domain::identity::Role;
use podo_domain::{Refusal, UserId};
use serde::de::DeserializeOwned;

/// Reads data without personal information. Open to `STAFF`; not audited.
pub(crate) struct Viewer;

/// Reads personal data. Open to `STAFF`; every call is audited.
pub(crate) struct AuditedViewer;

/// An organiser's call that changes nothing and shows no personal data. Not audited.
pub(crate) struct Admin;

/// An organiser's call that changes something, or reads what `STAFF` may not. Every call is
/// audited.
pub(crate) struct AuditedAdmin(pub(crate) UserId);

/// Like `AuditedAdmin`, for calls that move money or grant rights: the login or the last step-up
/// must be recent.
pub(crate) struct RequireRecentAuth(pub(crate) UserId);

/// A list of people or their actions, with the query `T`. Open to `STAFF`; every call is audited.
/// If the parsed query asks for a file, the step-up must be recent.
pub(crate) struct AuditedExport<T>(pub(crate) T);

impl Policy for Viewer {
    const NAME: &'static str = "viewer";
}

impl Policy for AuditedViewer {
    const NAME: &'static str = "audited-viewer";
}

impl Policy for Admin {
    const NAME: &'static str = "admin";
}

impl Policy for AuditedAdmin {
    const NAME: &'static str = "audited-admin";
}

impl Policy for RequireRecentAuth {
    const NAME: &'static str = "recent-auth";
}

impl<T> Policy for AuditedExport<T> {
    const NAME: &'static str = "audited-export";
}

/// An organiser, or a read-only one.
async fn staff(parts: &mut Parts, app: &App) -> Result<Caller, ApiError> {
    let Fan(caller) = Fan::from_request_parts(parts, app).await?;
    match caller.role {
        Role::Admin | Role::Staff => Ok(caller),
        Role::User => Err(Refusal::AdminOnly.into()),
    }
}

async fn admin(parts: &mut Parts, app: &App) -> Result<Caller, ApiError> {
    let caller = staff(parts, app).await?;
    match caller.role {
        Role::Admin => Ok(caller),
        Role::Staff if parts.method.is_safe() => Err(Refusal::AdminOnly.into()),
        Role::Staff | Role::User => Err(Refusal::ReadOnly.into()),
    }
}

impl FromRequestParts<App> for Viewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Viewer, ApiError> {
        staff(parts, app).await?;
        Ok(Viewer)
    }
}

impl FromRequestParts<App> for AuditedViewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<AuditedViewer, ApiError> {
        let caller = staff(parts, app).await?;
        note_call(parts, app, caller.user).await?;
        Ok(AuditedViewer)
    }
}

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Admin, ApiError> {
        admin(parts, app).await?;
        Ok(Admin)
    }
}

impl FromRequestParts<App> for AuditedAdmin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<AuditedAdmin, ApiError> {
        let caller = admin(parts, app).await?;
        note_call(parts, app, caller.user).await?;
        Ok(AuditedAdmin(caller.user))
    }
}

impl FromRequestParts<App> for RequireRecentAuth {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &App,
    ) -> Result<RequireRecentAuth, ApiError> {
        let caller = admin(parts, app).await?;
        require_proof(&app.context, caller, app.context.now()).await?;
        note_call(parts, app, caller.user).await?;
        Ok(RequireRecentAuth(caller.user))
    }
}

impl<T: DeserializeOwned + Exports + Send> FromRequestParts<App> for AuditedExport<T> {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &App,
    ) -> Result<AuditedExport<T>, ApiError> {
        let caller = staff(parts, app).await?;
        let Params(query) = Params::<T>::from_request_parts(parts, app).await?;
        match query.format() {
            Format::Json => {}
            Format::Csv => require_proof(&app.context, caller, app.context.now()).await?,
        }
        note_call(parts, app, caller.user).await?;
        Ok(AuditedExport(query))
    }
}

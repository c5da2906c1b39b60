//! What a route of the organisers demands of its caller, as types in the handler's signature.
//!
//! A handler takes one of these as its first argument after the state, and is registered with
//! [`guarded!`](super::policy::guarded), which does not compile without one. The type decides who may
//! call, whether the call leaves an entry in the audit log, and whether an old log-in is enough.
//! Nothing is decided by the text of an address.

mod note;

use super::policy::Policy;
use super::{App, Fan, Params, Parts};
use crate::api::csv::{Exports, Format};
use crate::api::error::ApiError;
use app::accounts::require_proof;
use app::sessions::Caller;
use axum::extract::FromRequestParts;
use domain::accounts::Role;
use domain::{Refusal, UserId};
use note::note_call;
use serde::de::DeserializeOwned;

/// Looks at something that shows no person. Open to `STAFF`; leaves no entry.
pub(in crate::api) struct Viewer;

/// Looks at personal data. Open to `STAFF`; every call leaves an entry.
pub(in crate::api) struct AuditedViewer;

/// An organiser whose call changes nothing and shows no person. Leaves no entry.
pub(in crate::api) struct Admin;

/// An organiser who changes something, or reads what `STAFF` may not. Every call leaves an entry.
pub(in crate::api) struct AuditedAdmin(pub(in crate::api) UserId);

/// The same for what moves money or gives power: the log-in, or the last proof, is of the last
/// minutes.
pub(in crate::api) struct RequireRecentAuth(pub(in crate::api) UserId);

/// A list of people or of what they did, asked for with the query `T`. Open to `STAFF`; every call
/// leaves an entry. When the parsed query asks for a file, a recent proof is needed.
pub(in crate::api) struct AuditedExport<T>(pub(in crate::api) T);

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

/// An organiser, or one who only looks.
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
        require_proof(&app.platform, caller, app.platform.now()).await?;
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
            Format::Csv => require_proof(&app.platform, caller, app.platform.now()).await?,
        }
        note_call(parts, app, caller.user).await?;
        Ok(AuditedExport(query))
    }
}

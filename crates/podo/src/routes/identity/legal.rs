//! The organiser's legal pages, and what an account agreed to.

use crate::http::extract::permissions::ManagePages;
use crate::http::extract::{Audited, Fan, Id, LargeBody, Params, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::identity::legal;
use podo_app::identity::legal::PageText;
use podo_app::identity::port::legal::{ConsentView, LegalPage};
use podo_domain::Refusal;
use podo_domain::catalog::text::Prose;
use podo_domain::identity::consents::PageKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_pages))
        .routes(routes!(show_page))
        .routes(guarded!(publish_page))
        .routes(routes!(my_consents))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PageVersion {
    kind: PageKind,
    version: u32,
    /// Where people read it.
    path: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PageList {
    items: Vec<PageVersion>,
}

/// The organiser's published pages. Sign-up requires consent to the terms and the privacy policy
/// once they are published.
#[utoipa::path(get, path = "/api/auth/pages", tag = "accounts",
    responses((status = 200, body = PageList)))]
pub(crate) async fn list_pages(State(app): State<App>) -> ApiResult<Json<PageList>> {
    let view = |(kind, version): (PageKind, u32)| PageVersion {
        kind,
        version,
        path: format!("/{}", kind.slug()),
    };
    let published = legal::published(&app.context).await?;
    Ok(Json(PageList { items: published.into_iter().map(view).collect() }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionParams {
    /// An earlier version; the latest by default.
    #[param(minimum = 1)]
    version: Option<u32>,
}

fn kind_of(slug: &str) -> Result<PageKind, Refusal> {
    PageKind::from_slug(slug).ok_or(Refusal::NotFound)
}

/// A page as the organiser wrote it: `terms`, `privacy` or `business`.
#[utoipa::path(get, path = "/api/auth/pages/{kind}", tag = "accounts",
    params(("kind" = String, Path), VersionParams),
    responses((status = 200, body = LegalPage), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn show_page(
    State(app): State<App>,
    Id(slug): Id<String>,
    Params(params): Params<VersionParams>,
) -> ApiResult<Json<LegalPage>> {
    Ok(Json(legal::page(&app.context, kind_of(&slug)?, params.version).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageBody {
    /// Markdown; HTML in it is shown as text.
    ko: Prose<50000>,
    en: Prose<50000>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PublishedPage {
    version: u32,
}

/// Publishes a new version of a page: `terms`, `privacy` or `business`. Earlier versions stay.
#[utoipa::path(put, path = "/api/admin/pages/{kind}", tag = "admin",
    security(("accessToken" = [])), params(("kind" = String, Path)), request_body = PageBody,
    responses((status = 200, body = PublishedPage), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 413, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn publish_page(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManagePages>,
    Id(slug): Id<String>,
    LargeBody(body): LargeBody<PageBody>,
) -> ApiResult<Json<PublishedPage>> {
    let text = PageText { ko: body.ko, en: body.en };
    let version = legal::publish(&app.context, actor, kind_of(&slug)?, text).await?;
    Ok(Json(PublishedPage { version }))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MyConsents {
    items: Vec<ConsentView>,
}

/// What the caller agreed to, with the versions of the pages.
#[utoipa::path(get, path = "/api/users/me/consents", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = MyConsents), (status = 401, body = Problem)))]
pub(crate) async fn my_consents(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<MyConsents>> {
    Ok(Json(MyConsents { items: legal::consents(&app.context, caller.user).await? }))
}

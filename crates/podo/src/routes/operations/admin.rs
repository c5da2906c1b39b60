//! Routes for organisers.

use crate::routes::App;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(crate::routes::operations::audit::routes())
        .merge(crate::routes::catalog::admin::routes())
        .merge(crate::routes::catalog::member_webhook::routes())
        .merge(crate::routes::catalog::phases::routes())
        .merge(crate::routes::catalog::pricing::routes())
        .merge(crate::routes::booking::allocations::routes())
        .merge(crate::routes::booking::box_office::routes())
        .merge(crate::routes::booking::reseat::routes())
        .merge(crate::routes::messaging::dead_letters::routes())
        .merge(crate::routes::messaging::mail_templates::routes())
        .merge(crate::routes::operations::jobs::routes())
        .merge(crate::routes::operations::admin_search::routes())
        .merge(crate::routes::identity::support::routes())
        .merge(crate::routes::payments::admin::routes())
        .merge(crate::routes::catalog::templates::routes())
        .merge(crate::routes::waiting_room::admin::routes())
        .merge(crate::routes::waiting_room::admin_log::routes())
        .merge(crate::routes::waiting_room::course::routes())
        .merge(crate::routes::operations::simulation::routes())
        .merge(crate::routes::operations::verification::routes())
        .merge(crate::routes::messaging::webhook_endpoints::routes())
}

/// The schema of seat templates, for editors and for authors.
pub(crate) async fn layout_schema() -> impl IntoResponse {
    let kind = (header::CONTENT_TYPE, "application/schema+json");
    let kept = (header::CACHE_CONTROL, "public, max-age=3600");
    ([kind, kept], crate::routes::catalog::templates::SCHEMA)
}

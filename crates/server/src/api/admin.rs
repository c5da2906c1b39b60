//! What organisers do.

mod catalog;
mod dead_letters;
mod jobs;
mod queue;
mod templates;
mod webhooks;

use super::App;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(catalog::routes())
        .merge(templates::routes())
        .merge(queue::routes())
        .merge(dead_letters::routes())
        .merge(jobs::routes())
        .merge(webhooks::routes())
}

/// The schema of seat templates, for editors and for those who write them by hand.
pub(super) async fn layout_schema() -> impl IntoResponse {
    let kind = (header::CONTENT_TYPE, "application/schema+json");
    let kept = (header::CACHE_CONTROL, "public, max-age=3600");
    ([kind, kept], templates::SCHEMA)
}

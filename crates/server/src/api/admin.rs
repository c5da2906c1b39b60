//! What organisers do.

mod audit;
mod catalog;
mod dead_letters;
mod jobs;
mod lookups;
mod payments;
mod queue;
mod queue_log;
mod simulation;
mod templates;
mod verification;
mod webhooks;

use super::App;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(audit::routes())
        .merge(catalog::routes())
        .merge(dead_letters::routes())
        .merge(jobs::routes())
        .merge(lookups::routes())
        .merge(payments::routes())
        .merge(templates::routes())
        .merge(queue::routes())
        .merge(queue_log::routes())
        .merge(simulation::routes())
        .merge(verification::routes())
        .merge(webhooks::routes())
}

/// The schema of seat templates, for editors and for those who write them by hand.
pub(super) async fn layout_schema() -> impl IntoResponse {
    let kind = (header::CONTENT_TYPE, "application/schema+json");
    let kept = (header::CACHE_CONTROL, "public, max-age=3600");
    ([kind, kept], templates::SCHEMA)
}

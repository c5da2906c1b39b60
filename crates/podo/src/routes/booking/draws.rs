//! Draw sales: fans apply, change and withdraw, and anybody checks the draw.

use crate::http::extract::{Body, Fan, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::body::{Body as ResponseBody, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use podo_app::catalog::phases::draws;
use podo_app::catalog::phases::draws::{DrawApplicationView, DrawSaleView, LIST_HEADER};
use podo_domain::PhaseId;
use podo_domain::catalog::text::Line;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(my_application, apply, withdraw))
        .routes(routes!(show_draw_sale))
        .routes(routes!(list_applications))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApplicationBody {
    #[schema(value_type = String, max_length = 20)]
    grade: Line<20>,
    #[schema(minimum = 1, maximum = 10)]
    count: u32,
}

/// The fan's application for the draw of a sale phase: its line in the published list, its place in
/// the drawn order, and the seats that are held for the fan.
#[utoipa::path(get, path = "/api/booking/phases/{id}/application", tag = "booking",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    responses((status = 200, body = DrawApplicationView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_application(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(phase): Id<PhaseId>,
) -> ApiResult<Json<DrawApplicationView>> {
    Ok(Json(draws::my_application(&app.context, caller.user, phase).await?))
}

/// Applies for seats of one grade, or changes the application, which keeps its index. Each person
/// has at most one.
#[utoipa::path(put, path = "/api/booking/phases/{id}/application", operation_id = "apply_for_draw",
    tag = "booking", security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    request_body = ApplicationBody,
    responses((status = 200, body = DrawApplicationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn apply(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(phase): Id<PhaseId>,
    body: Body<ApplicationBody>,
) -> ApiResult<Json<DrawApplicationView>> {
    let ApplicationBody { grade, count } = body.value;
    let grade = String::from(grade);
    Ok(Json(draws::apply(&app.context, caller.user, phase, grade, count).await?))
}

/// Withdraws the application. After the draw its turn is passed over; release seats that are
/// already offered like any held ones.
#[utoipa::path(delete, path = "/api/booking/phases/{id}/application",
    operation_id = "withdraw_application", tag = "booking",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn withdraw(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(phase): Id<PhaseId>,
) -> ApiResult<StatusCode> {
    draws::withdraw(&app.context, caller.user, phase).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The draw of a sale phase: its window, its quantities and the hash of its seed; after the draw
/// also the seed, the number of indexes and the hash of the list.
#[utoipa::path(get, path = "/api/booking/draws/{id}", tag = "booking",
    params(("id" = PhaseId, Path)),
    responses((status = 200, body = DrawSaleView), (status = 404, body = Problem)))]
pub(crate) async fn show_draw_sale(
    State(app): State<App>,
    Id(phase): Id<PhaseId>,
) -> ApiResult<Json<DrawSaleView>> {
    Ok(Json(draws::show_draw(&app.context, phase).await?))
}

/// The applications of a draw as a CSV file with the columns `index`, `grade`, `count`, `place` and
/// `state`, after the draw. With the seed, `podo verify-draw --applications` recomputes the winners
/// from it. It names no fan.
#[utoipa::path(get, path = "/api/booking/draws/{id}/applications",
    operation_id = "list_draw_applications", tag = "booking",
    params(("id" = PhaseId, Path)),
    responses((status = 200, body = String, content_type = "text/csv"),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn list_applications(
    State(app): State<App>,
    Id(phase): Id<PhaseId>,
) -> ApiResult<Response> {
    draws::require_list(&app.context, phase).await?;
    let pages = stream::unfold((app, Some(0)), move |(app, from)| async move {
        match draws::list_page(&app.context, phase, from?).await {
            Ok(None) => None,
            Ok(Some((lines, next))) => Some((Ok(Bytes::from(lines)), (app, Some(next)))),
            // Breaks the connection, because a truncated file must not look complete.
            Err(error) => Some((Err(std::io::Error::other(error.to_string())), (app, None))),
        }
    });
    let head = stream::iter([Ok(Bytes::from_static(LIST_HEADER.as_bytes()))]);
    let body = futures::StreamExt::chain(head, pages);
    let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8");
    let saved = (header::CONTENT_DISPOSITION, "attachment; filename=\"applications.csv\"");
    Ok(([kind, saved], ResponseBody::from_stream(body)).into_response())
}

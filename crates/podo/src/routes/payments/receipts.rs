//! Receipts of a fan's orders.

use crate::http::extract::{Fan, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use crate::routes::tickets::file;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use podo_app::payments::receipts;
use podo_app::payments::receipts::Receipt;
use podo_domain::ReservationId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(receipt)).routes(routes!(receipt_pdf))
}

/// The receipt of a paid order, also after a refund.
#[utoipa::path(get, path = "/api/booking/reservations/{id}/receipt", tag = "payment",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)),
    responses((status = 200, body = Receipt), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn receipt(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
) -> ApiResult<Json<Receipt>> {
    Ok(Json(receipts::receipt(&app.context, caller.user, reservation).await?))
}

/// The receipt on A4, in the fan's language.
#[utoipa::path(get, path = "/api/booking/reservations/{id}/receipt.pdf", tag = "payment",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)),
    responses((status = 200, body = Vec<u8>, content_type = "application/pdf"),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn receipt_pdf(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
) -> ApiResult<Response> {
    let pdf = receipts::receipt_pdf(&app.context, caller.user, reservation).await?;
    Ok(file("application/pdf", &format!("receipt-{reservation}.pdf"), pdf))
}

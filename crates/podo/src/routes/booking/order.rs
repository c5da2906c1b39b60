//! What a fan chooses at checkout.

use crate::http::extract::{Body, Fan, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::booking::order;
use podo_app::booking::port::reservations::ReservationView;
use podo_domain::{ReservationId, SeatId};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderSeatBody {
    seat_id: SeatId,
    /// One of the date's `ticketTypes`; absent for the full price.
    #[serde(default)]
    ticket_type_id: Option<u32>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderBody {
    /// Seats that aren't named cost the full price.
    #[serde(default)]
    #[schema(max_items = 10)]
    seats: Vec<OrderSeatBody>,
    /// A promotion code; absent for none. Case, spaces and dashes don't matter.
    #[serde(default)]
    #[schema(max_length = 64)]
    code: Option<String>,
}

/// Sets the ticket types and the promotion code of a held order, and with them its amount. It
/// replaces what was chosen before. A payment that was prepared for the old amount is canceled, so
/// request one after this.
#[utoipa::path(put, path = "/api/booking/reservations/{id}/order", tag = "booking",
    security(("accessToken" = [])), request_body = OrderBody,
    params(("id" = ReservationId, Path)),
    responses((status = 200, body = ReservationView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn choose_order(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
    body: Body<OrderBody>,
) -> ApiResult<Json<ReservationView>> {
    let OrderBody { seats, code } = body.value;
    let types = seats.into_iter().map(|seat| (seat.seat_id, seat.ticket_type_id)).collect();
    let chosen = order::choose(&app.context, caller.user, reservation, types, code.as_deref());
    Ok(Json(chosen.await?))
}

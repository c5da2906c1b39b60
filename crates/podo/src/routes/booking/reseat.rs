//! Moving a booking to other seats.

use crate::http::extract::permissions::ReseatBookings;
use crate::http::extract::scope::OfReservation;
use crate::http::extract::{Audited, Body, Id, guarded, key_of};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::idempotent::once;
use crate::routes::App;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::booking::port::reseat::Reseated;
use podo_app::booking::reservations::reseat;
use podo_app::booking::reservations::reseat::MoveRequest;
use podo_app::operations::idempotency::RESEAT;
use podo_domain::booking::reservations::SeatMove;
use podo_domain::catalog::text::Line;
use podo_domain::{ReservationId, SeatId};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(reseat_booking))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SeatMoveBody {
    from: SeatId,
    to: SeatId,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReseatBody {
    #[schema(min_items = 1, max_items = 10)]
    moves: Vec<SeatMoveBody>,
    #[schema(value_type = String, max_length = 200)]
    reason: Line<200>,
    /// Also move to seats of another price: the fan neither pays the difference nor gets it back.
    #[serde(default)]
    waive_difference: bool,
}

/// Moves seats of a confirmed booking to free seats, all or none. The booking number stays, the
/// tickets get new codes, and the fan gets a notification. Used tickets are refused, and seats of
/// another price too unless the difference is waived.
#[utoipa::path(post, path = "/api/admin/reservations/{id}/reseat", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = ReservationId, Path), ("Idempotency-Key" = String, Header)),
    request_body = ReseatBody,
    responses((status = 200, body = Reseated), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn reseat_booking(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ReseatBookings, OfReservation>,
    Id(reservation): Id<ReservationId>,
    headers: HeaderMap,
    body: Body<ReseatBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, actor, RESEAT, &body.bytes)?;
    let ReseatBody { moves, reason, waive_difference } = body.value;
    let moves = moves.into_iter().map(|it| SeatMove { from: it.from, to: it.to }).collect();
    let request = MoveRequest { moves, waives_difference: waive_difference, reason: reason.into() };
    once(reseat::reseat_booking(&app.context, key, actor, reservation, request).await?)
}

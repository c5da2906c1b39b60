//! Moves a confirmed booking to other free seats.

use crate::booking::port::reseat::{ReseatBooking, Reseated};
use crate::booking::reservations::tell_nodes;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use podo_domain::booking::reservations::SeatMove;
use podo_domain::{ReservationId, Timestamp, UserId};

/// The seats to move, and why.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    pub moves: Vec<SeatMove>,
    pub waives_difference: bool,
    pub reason: String,
}

pub async fn reseat_booking(
    context: &AppContext,
    key: IdempotencyKey,
    actor: UserId,
    reservation: ReservationId,
    request: MoveRequest,
) -> Result<Idempotent<Reseated>> {
    let now = context.now();
    let MoveRequest { moves, waives_difference, reason } = request;
    let command = ReseatBooking { key, actor, reservation, moves, waives_difference, reason, now };
    let (reseated, moved) = match context.store.reseat_booking(command).await? {
        Idempotent::Replay(stored) => return Ok(Idempotent::Replay(stored)),
        Idempotent::Fresh(done) => done,
    };
    let (filter, schedule) = (&context.booking.seat_filter, moved.schedule);
    let told = async {
        filter.keep(schedule, &moved.to, moved.user, Timestamp::FAR_FUTURE).await?;
        filter.release(schedule, &moved.from, moved.user).await
    };
    if let Err(error) = told.await {
        tracing::warn!(%error, "The seat filter missed moved seats; reconciliation corrects it");
    }
    let changed = [moved.from, moved.to].concat();
    tell_nodes(context, schedule, &changed).await;
    Ok(Idempotent::Fresh(reseated))
}

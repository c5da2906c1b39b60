//! Moves a confirmed booking to other free seats of the same price.

use crate::booking::port::reseat::{ReseatBooking, Reseated};
use crate::booking::reservations::tell_nodes;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use podo_domain::booking::reservations::SeatMove;
use podo_domain::{ReservationId, Timestamp, UserId};

pub async fn reseat_booking(
    context: &AppContext,
    key: IdempotencyKey,
    actor: UserId,
    reservation: ReservationId,
    moves: Vec<SeatMove>,
    reason: String,
) -> Result<Idempotent<Reseated>> {
    let now = context.now();
    let command = ReseatBooking { key, actor, reservation, moves, reason, now };
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

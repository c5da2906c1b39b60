//! Keeps seats from sale, all or none. Only free seats, and those with an expired hold.

use crate::sql::booking::allocations::{announce, list, lock};
use crate::sql::booking::reservations::{expire, load};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::booking::port::allocations::{AllocationChange, KeepSeats};
use podo_app::booking::port::reservations::Freed;
use podo_app::{Error, Result};
use podo_domain::booking::seats::SeatState;
use podo_domain::id::SeatIndex;
use podo_domain::{Refusal, ReservationId, Timestamp};
use serde_json::json;

pub(super) async fn keep(tx: &mut dyn Tx, command: &KeepSeats) -> Result<AllocationChange> {
    let (schedule, allocation, now) = (command.seats.schedule(), command.allocation, command.now);
    lock(tx, schedule, allocation, now).await?;
    let indexes = command.seats.indexes();
    let (mut kept, mut taken, mut freed) = (Vec::new(), Vec::new(), Vec::new());
    for (index, is_kept) in indexes.iter().zip(compare_and_keep(tx, command, indexes).await?) {
        let is_kept = is_kept || {
            match holder_of(tx, command, *index).await? {
                Holder::Us => continue,
                Holder::Other => {
                    taken.push(schedule.seat(*index));
                    continue;
                }
                // Another seat of an expired hold that this loop has already ended.
                Holder::Free => {}
                Holder::PastTime(holder) => freed.extend(end_hold(tx, holder, now).await?),
            }
            compare_and_keep(tx, command, &[*index]).await? == [true]
        };
        match is_kept {
            true => kept.push(*index),
            false => taken.push(schedule.seat(*index)),
        }
    }
    if !taken.is_empty() {
        return Err(Refusal::SeatsNotFree { seats: taken }.into());
    }
    let sql = "insert into allocation_seats (schedule_id, seat_index, allocation_id)
               values ($1, $2, $3)";
    let set = |index: &SeatIndex| params![schedule, *index, allocation].to_vec();
    tx.execute_each(sql, kept.iter().map(set).collect()).await?;
    let details = json!({ "allocationId": allocation, "seats": kept });
    announce(tx, command.actor, "allocation.keep", schedule, details, now).await?;
    let view = list::one(tx, schedule, allocation).await?;
    Ok(AllocationChange { view, seats: kept, freed })
}

/// Keeps free seats by compare-and-set; says which. A returned seat that is still withheld is free
/// for an organiser.
async fn compare_and_keep(
    tx: &mut dyn Tx,
    command: &KeepSeats,
    indexes: &[SeatIndex],
) -> Result<Vec<bool>> {
    let sql = "update seats
                  set state = 'KEPT', claim = $3, expires_at = null, fence = fence + 1
                where schedule_id = $1 and seat_index = $2 and state = 'FREE'
               returning seat_index";
    let (schedule, allocation) = (command.seats.schedule(), command.allocation);
    let set = |index: &SeatIndex| params![schedule, *index, allocation].to_vec();
    let found = tx.query_each(sql, indexes.iter().map(set).collect()).await?;
    Ok(found.iter().map(|rows| !rows.is_empty()).collect())
}

/// The owner of a seat that couldn't be kept.
enum Holder {
    Free,
    /// This allocation keeps it already.
    Us,
    /// The hold has expired.
    PastTime(ReservationId),
    Other,
}

/// Refuses a seat that doesn't exist.
async fn holder_of(tx: &mut dyn Tx, command: &KeepSeats, index: SeatIndex) -> Result<Holder> {
    let sql = "select s.state, s.claim, s.expires_at, a.allocation_id
                 from seats s
                 left join allocation_seats a
                   on a.schedule_id = s.schedule_id and a.seat_index = s.seat_index
                where s.schedule_id = $1 and s.seat_index = $2";
    let values = params![command.seats.schedule(), index];
    let row = tx.row(sql, values).await?.ok_or(Refusal::NotFound)?;
    if row.get::<Option<_>>("allocation_id")? == Some(command.allocation) {
        return Ok(Holder::Us);
    }
    let expires_at: Option<Timestamp> = row.get("expires_at")?;
    let is_past = expires_at.is_none_or(|until| until <= command.now);
    Ok(match row.parse("state", SeatState::parse)? {
        SeatState::Free => Holder::Free,
        SeatState::Held if is_past => Holder::PastTime(row.get("claim")?),
        SeatState::Held | SeatState::Paying | SeatState::Sold | SeatState::Kept => Holder::Other,
    })
}

async fn end_hold(tx: &mut dyn Tx, holder: ReservationId, now: Timestamp) -> Result<Option<Freed>> {
    let reservation = load(tx, holder).await?;
    let reservation =
        reservation.ok_or_else(|| Error::Broken(format!("no reservation for claim {holder}")))?;
    expire(tx, &reservation, now).await
}

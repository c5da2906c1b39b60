//! Holding the best available seats.

use crate::booking::port::reservations::Held;
use crate::booking::reservations::select::{Holder, hold, with_alternatives};
use crate::booking::seat_map::Snapshot;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::sessions::Caller;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::waiting_room::require_entry;
use podo_domain::booking::best::{Orphans, SeatRequest, best_seats};
use podo_domain::booking::reservations::check_order_size;
use podo_domain::booking::seats::{SEATS_PER_PICK_MAX, SeatPick};
use podo_domain::catalog::phases::Phase;
use podo_domain::id::SeatIndex;
use podo_domain::{Refusal, ScheduleId, SeatId};
use std::collections::HashSet;

/// How many next-best picks are tried after losing races.
const TRIES_MAX: usize = 12;

/// A best-seats request of an admitted fan.
pub struct BestSeats<'a> {
    pub key: IdempotencyKey,
    pub fan: Caller,
    pub schedule: ScheduleId,
    pub count: usize,
    pub grade: Option<&'a str>,
    pub section: Option<&'a str>,
    pub orphans: Orphans,
    pub across_rows: bool,
    pub wheelchairs: usize,
    pub entry_token: Option<&'a str>,
}

/// Chooses from the seat map and holds. After losing a race it tries the next-best seats instead of
/// refusing.
pub async fn hold_best_seats(
    context: &AppContext,
    asked: BestSeats<'_>,
) -> Result<Idempotent<Held>> {
    let now = context.now();
    match asked.count {
        0 => return Err(Refusal::NoSeats.into()),
        1..=SEATS_PER_PICK_MAX => {}
        _ => return Err(Refusal::TooManySeats { max: SEATS_PER_PICK_MAX }.into()),
    }
    let inside = require_entry(context, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let holder = Holder { key: &asked.key, fan: asked.fan.user, inside, now };
    let room = context.catalog.schedules.room(&*context.store, inside.room, now).await?;
    let phase = room.as_ref().and_then(|room| room.phase());
    if let Some(date) = &room {
        let of_phase = phase.and_then(|phase| phase.terms.seats_per_order);
        let n_seats = u32::try_from(asked.count).unwrap_or(u32::MAX);
        check_order_size(n_seats, of_phase.unwrap_or(date.seats_per_order))?;
    }
    let mut lost: HashSet<SeatIndex> = HashSet::new();
    let mut refusal: Error = Refusal::NoneTogether.into();
    for _ in 0..TRIES_MAX {
        let map = context.booking.seat_maps.snapshot(context, asked.schedule).await?;
        let Some(pick) = choose(&map, &asked, &lost, phase)? else { break };
        match hold(context, &holder, &pick).await {
            Err(Error::Refused(Refusal::SeatTaken { taken, alternatives })) => {
                lost.extend(taken.iter().map(|seat| seat.index()));
                let error = Refusal::SeatTaken { taken, alternatives }.into();
                refusal = with_alternatives(context, inside.room, &pick, error);
            }
            held => return held,
        }
    }
    // A repeated request gets its first answer even if nothing is left by now.
    match context.store.stored_answer(&asked.key).await? {
        Some(answer) => Ok(Idempotent::Replay(answer)),
        None => Err(refusal),
    }
}

fn choose(
    map: &Snapshot,
    asked: &BestSeats<'_>,
    lost: &HashSet<SeatIndex>,
    phase: Option<&Phase>,
) -> Result<Option<SeatPick>> {
    let hall = map.hall();
    let grade = match asked.grade {
        Some(name) => Some(hall.grade(name).ok_or(Refusal::UnknownGrade)?),
        None => None,
    };
    let wish = SeatRequest {
        count: asked.count,
        grade,
        orphans: asked.orphans,
        across_rows: asked.across_rows,
        wheelchairs: asked.wheelchairs,
    };
    let within = match asked.section {
        Some(name) => Some(hall.seats_of(name).ok_or(Refusal::UnknownSection)?),
        None => None,
    };
    let is_wanted = |seat: SeatIndex| {
        within.as_ref().is_none_or(|seats| seats.contains(&seat))
            && phase.is_none_or(|phase| phase.sells(seat))
    };
    let is_free =
        |seat: SeatIndex| is_wanted(seat) && map.is_available(seat) && !lost.contains(&seat);
    let Some(seats) = best_seats(hall, is_free, &wish) else { return Ok(None) };
    let seats: Vec<SeatId> = seats.iter().map(|seat| asked.schedule.seat(*seat)).collect();
    Ok(Some(SeatPick::new(asked.schedule, &seats)?))
}

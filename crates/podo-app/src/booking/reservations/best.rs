//! The best available seats: proposing them, and holding them.

use crate::booking::port::reservations::Held;
use crate::booking::reservations::select::{Holder, hold, with_alternatives};
use crate::booking::seat_map::Snapshot;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::sessions::Caller;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::waiting_room::require_entry;
use podo_domain::booking::best::{Orphans, SeatRequest, best_seats, suggestions};
use podo_domain::booking::reservations::check_order_size;
use podo_domain::booking::seats::{SEATS_PER_PICK_MAX, SeatPick};
use podo_domain::catalog::phases::Phase;
use podo_domain::id::SeatIndex;
use podo_domain::{Refusal, ScheduleId, SeatId};
use std::collections::HashSet;
use std::ops::Range;

/// How many next-best picks are tried after losing races.
const TRIES_MAX: usize = 12;

/// Proposals for one request.
const SUGGESTIONS_MAX: usize = 3;

/// What an admitted fan wants.
pub struct BestWish<'a> {
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

fn check_count(count: usize) -> std::result::Result<(), Refusal> {
    match count {
        0 => Err(Refusal::NoSeats),
        1..=SEATS_PER_PICK_MAX => Ok(()),
        _ => Err(Refusal::TooManySeats { max: SEATS_PER_PICK_MAX }),
    }
}

/// Up to three proposals from the seat map; nothing is held.
pub async fn suggest_seats(context: &AppContext, asked: BestWish<'_>) -> Result<Vec<Vec<SeatId>>> {
    let now = context.now();
    check_count(asked.count)?;
    let inside = require_entry(context, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let room = context.catalog.schedules.room(&*context.store, inside.room, now).await?;
    let phase = room.as_ref().and_then(|room| room.phase());
    let map = context.booking.seat_maps.snapshot(context, asked.schedule).await?;
    let search = Searched::of(&map, &asked, phase)?;
    let is_free = |seat: SeatIndex| search.wants(seat) && map.is_available(seat);
    let found = suggestions(map.hall(), is_free, &search.request, SUGGESTIONS_MAX);
    let ids = |seats: Vec<SeatIndex>| seats.into_iter().map(|seat| asked.schedule.seat(seat));
    Ok(found.into_iter().map(|seats| ids(seats).collect()).collect())
}

/// Chooses from the seat map and holds. After losing a race it tries the next-best seats instead of
/// refusing.
pub async fn hold_best_seats(
    context: &AppContext,
    key: IdempotencyKey,
    asked: BestWish<'_>,
) -> Result<Idempotent<Held>> {
    let now = context.now();
    check_count(asked.count)?;
    let inside = require_entry(context, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let holder = Holder { key: &key, fan: asked.fan.user, inside, now };
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
    match context.store.stored_answer(&key).await? {
        Some(answer) => Ok(Idempotent::Replay(answer)),
        None => Err(refusal),
    }
}

fn choose(
    map: &Snapshot,
    asked: &BestWish<'_>,
    lost: &HashSet<SeatIndex>,
    phase: Option<&Phase>,
) -> Result<Option<SeatPick>> {
    let search = Searched::of(map, asked, phase)?;
    let is_free =
        |seat: SeatIndex| search.wants(seat) && map.is_available(seat) && !lost.contains(&seat);
    let Some(seats) = best_seats(map.hall(), is_free, &search.request) else { return Ok(None) };
    let seats: Vec<SeatId> = seats.iter().map(|seat| asked.schedule.seat(*seat)).collect();
    Ok(Some(SeatPick::new(asked.schedule, &seats)?))
}

/// A wish in the terms of the hall.
struct Searched<'a> {
    request: SeatRequest,
    within: Option<Range<SeatIndex>>,
    phase: Option<&'a Phase>,
}

impl<'a> Searched<'a> {
    fn of(
        map: &Snapshot,
        asked: &BestWish<'_>,
        phase: Option<&'a Phase>,
    ) -> std::result::Result<Searched<'a>, Refusal> {
        let hall = map.hall();
        let grade = match asked.grade {
            Some(name) => Some(hall.grade(name).ok_or(Refusal::UnknownGrade)?),
            None => None,
        };
        let within = match asked.section {
            Some(name) => Some(hall.seats_of(name).ok_or(Refusal::UnknownSection)?),
            None => None,
        };
        let request = SeatRequest {
            count: asked.count,
            grade,
            orphans: asked.orphans,
            across_rows: asked.across_rows,
            wheelchairs: asked.wheelchairs,
        };
        Ok(Searched { request, within, phase })
    }

    fn wants(&self, seat: SeatIndex) -> bool {
        self.within.as_ref().is_none_or(|seats| seats.contains(&seat))
            && self.phase.is_none_or(|phase| phase.sells(seat))
    }
}

//! Holding the best seats that are free.

use super::select::{Holder, hold, with_alternatives};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::reservations::Held;
use crate::queue::require_entry;
use crate::seat_map::Snapshot;
use crate::sessions::Caller;
use domain::best::{Orphans, Wish, best_seats};
use domain::id::SeatIndex;
use domain::seats::{SEATS_PER_PICK_MAX, SeatPick};
use domain::{Refusal, ScheduleId, SeatId};
use std::collections::HashSet;

/// How often the next best seats are tried when others were faster.
const TRIES_MAX: usize = 12;

/// Seats wished for by a fan who is inside.
pub struct BestSeats<'a> {
    pub key: KeyUse,
    pub fan: Caller,
    pub schedule: ScheduleId,
    pub count: usize,
    pub grade: Option<&'a str>,
    pub orphans: Orphans,
    pub across_rows: bool,
    pub wheelchairs: usize,
    pub entry_token: Option<&'a str>,
}

/// Chooses by the seat map and holds; whoever loses a race gets the next best, not a refusal.
pub async fn hold_best_seats(platform: &Platform, asked: BestSeats<'_>) -> Result<Once<Held>> {
    let now = platform.now();
    match asked.count {
        0 => return Err(Refusal::NoSeats.into()),
        1..=SEATS_PER_PICK_MAX => {}
        _ => return Err(Refusal::TooManySeats { max: SEATS_PER_PICK_MAX }.into()),
    }
    let entry = require_entry(platform, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let holder = Holder { key: &asked.key, fan: asked.fan.user, entry, now };
    let mut lost: HashSet<SeatIndex> = HashSet::new();
    let mut refusal: Error = Refusal::NoneTogether.into();
    for _ in 0..TRIES_MAX {
        let map = platform.seat_maps.snapshot(platform, asked.schedule).await?;
        let Some(pick) = choose(&map, &asked, &lost)? else { break };
        match hold(platform, &holder, &pick).await {
            Err(Error::Refused(Refusal::SeatTaken { taken, alternatives })) => {
                lost.extend(taken.iter().map(|seat| seat.index()));
                let error = Refusal::SeatTaken { taken, alternatives }.into();
                refusal = with_alternatives(platform, &pick, error);
            }
            held => return held,
        }
    }
    // A repeated request gets its first answer also when nothing is left by now.
    match platform.store.stored_answer(&asked.key).await? {
        Some(answer) => Ok(Once::Replay(answer)),
        None => Err(refusal),
    }
}

fn choose(
    map: &Snapshot,
    asked: &BestSeats<'_>,
    lost: &HashSet<SeatIndex>,
) -> Result<Option<SeatPick>> {
    let hall = map.hall();
    let grade = match asked.grade {
        Some(name) => Some(hall.grade(name).ok_or(Refusal::UnknownGrade)?),
        None => None,
    };
    let wish = Wish {
        count: asked.count,
        grade,
        orphans: asked.orphans,
        across_rows: asked.across_rows,
        wheelchairs: asked.wheelchairs,
    };
    let is_free = |seat: SeatIndex| map.is_available(seat) && !lost.contains(&seat);
    let Some(seats) = best_seats(hall, is_free, &wish) else { return Ok(None) };
    let seats: Vec<SeatId> = seats.iter().map(|seat| asked.schedule.seat(*seat)).collect();
    Ok(Some(SeatPick::new(asked.schedule, &seats)?))
}

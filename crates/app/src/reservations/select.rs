//! Holding the seats that a fan chose.

use super::tell_nodes;
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::points;
use crate::ports::holds::Taken;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::reservations::{Held, HoldSeats};
use crate::queue::{entry_number, require_entry};
use crate::sessions::Caller;
use crate::signals;
use domain::id::SeatIndex;
use domain::queue::Entry;
use domain::seats::SeatPick;
use domain::signals::SignalKind;
use domain::{Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId};

/// Seats asked for by a fan who is inside.
pub struct SelectSeats<'a> {
    pub key: KeyUse,
    pub fan: Caller,
    pub schedule: ScheduleId,
    pub seats: &'a [SeatId],
    pub entry_token: Option<&'a str>,
}

/// Refuses most losers of a race by what this node knows: it asks neither the store nor the live
/// engine. A token that we did not issue is refused before it can learn anything.
pub fn refuse_at_hand(platform: &Platform, asked: &SelectSeats<'_>) -> Result<()> {
    let now = platform.now();
    let pick = SeatPick::new(asked.schedule, asked.seats)?;
    entry_number(platform, asked.fan, asked.schedule, asked.entry_token)?;
    match platform.holds.refusal_at_hand(&pick, asked.fan.user, now) {
        Some(seats) => Err(taken(platform, &pick, seats)),
        None => Ok(()),
    }
}

/// Holds the seats, all or none. The filter refuses most losers of a race in memory; the database
/// decides among the rest.
pub async fn select_seats(platform: &Platform, asked: SelectSeats<'_>) -> Result<Once<Held>> {
    let now = platform.now();
    let pick = SeatPick::new(asked.schedule, asked.seats)?;
    let entry = require_entry(platform, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let holder = Holder { key: &asked.key, fan: asked.fan.user, entry, now };
    let held = hold(platform, &holder, &pick).await;
    held.map_err(|error| with_alternatives(platform, &pick, error))
}

/// A fan inside who is about to hold seats.
pub(super) struct Holder<'a> {
    pub(super) key: &'a KeyUse,
    pub(super) fan: UserId,
    pub(super) entry: Entry,
    pub(super) now: Timestamp,
}

pub(super) async fn hold(
    platform: &Platform,
    holder: &Holder<'_>,
    pick: &SeatPick,
) -> Result<Once<Held>> {
    let (schedule, fan, now) = (pick.schedule(), holder.fan, holder.now);
    let until = now.plus(platform.rules.hold_length);
    let taken = platform.holds.take(pick, fan, until, now).await?;
    // Blocked by a hold of their own, a fan most likely repeats a request: the database knows its
    // answer, also when the first one is still on its way there. Anybody else is refused without
    // touching the database.
    if let Taken::Blocked { seats, by_self: false } = taken {
        return Err(Refusal::seat_taken(ids(schedule, &seats)).into());
    }
    points::reach(points::HOLD_FILTERED);
    let command = HoldSeats {
        key: holder.key.clone(),
        reservation: ReservationId::new(platform.chance.id(now)),
        user: fan,
        pick: pick.clone(),
        entry: holder.entry,
        until,
        limits_churn: platform.rules.limits_on,
        now,
    };
    let held = platform.store.hold_seats(command).await;
    points::reach(points::HOLD_STORED);
    if let Err(Error::Refused(Refusal::HoldChurn { .. })) = &held {
        let reason = "Seats were held again and again without buying".to_owned();
        signals::note(platform, (fan, schedule), SignalKind::HoldsWithoutBuying, reason).await;
    }
    let is_ours = matches!(held, Ok(Once::Fresh(_)));
    let is_promised = taken == Taken::Yes;
    if is_promised && !is_ours {
        // The filter promised what the database did not give.
        platform.holds.release(schedule, pick.indexes(), fan).await?;
    }
    if !is_promised && is_ours {
        // The filter knew of an older hold.
        platform.holds.keep(schedule, pick.indexes(), fan, until).await?;
    }
    if is_ours {
        tell_nodes(platform, schedule, pick.indexes()).await;
    }
    held
}

fn ids(schedule: ScheduleId, seats: &[SeatIndex]) -> Vec<SeatId> {
    seats.iter().map(|seat| schedule.seat(*seat)).collect()
}

fn taken(platform: &Platform, pick: &SeatPick, seats: Vec<SeatIndex>) -> Error {
    let refusal = Refusal::seat_taken(ids(pick.schedule(), &seats));
    with_alternatives(platform, pick, refusal.into())
}

/// Adds seats near those that were lost, by the seat map that is at hand: a hint, which costs a
/// loser no look at the store.
pub(super) fn with_alternatives(platform: &Platform, pick: &SeatPick, error: Error) -> Error {
    let Error::Refused(Refusal::SeatTaken { taken, .. }) = error else { return error };
    let schedule = pick.schedule();
    let known = platform.seat_maps.known(schedule);
    let found = known.map(|map| map.alternatives(pick.indexes()));
    let alternatives = found.iter().flat_map(|found| found.iter());
    let alternatives = alternatives.map(|seats| ids(schedule, seats)).collect();
    Refusal::SeatTaken { taken, alternatives }.into()
}

//! Holding the seats that a fan picked.

use crate::booking::port::reservations::{Held, HoldSeats};
use crate::booking::port::seat_filter::Taken;
use crate::booking::reservations::tell_nodes;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::bot_signals;
use crate::identity::sessions::Caller;
use crate::operations::failpoints;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::waiting_room::{LiveEntry, entry_number, require_entry};
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::identity::bot_signals::SignalKind;
use podo_domain::{Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId};

/// A seat request of an admitted fan.
pub struct SelectSeats<'a> {
    pub key: IdempotencyKey,
    pub fan: Caller,
    pub schedule: ScheduleId,
    pub seats: &'a [SeatId],
    pub entry_token: Option<&'a str>,
}

/// Refuses most losers of a race from this node's memory, without a call to the store or the live
/// engine. It checks the entry token first, so that a forged token reveals nothing.
pub fn refuse_from_cache(context: &AppContext, asked: &SelectSeats<'_>) -> Result<()> {
    let now = context.now();
    let pick = SeatPick::new(asked.schedule, asked.seats)?;
    let (_number, room) = entry_number(context, asked.fan, asked.schedule, asked.entry_token)?;
    match context.booking.seat_filter.cached_refusal(&pick, asked.fan.user, now) {
        Some(seats) => {
            let refusal = Refusal::seat_taken(ids(asked.schedule, &seats));
            Err(with_alternatives(context, room, &pick, refusal.into()))
        }
        None => Ok(()),
    }
}

/// Holds the seats, all or none. The filter refuses most losers of a race in memory; the database
/// decides among the rest.
pub async fn select_seats(
    context: &AppContext,
    asked: SelectSeats<'_>,
) -> Result<Idempotent<Held>> {
    let now = context.now();
    let pick = SeatPick::new(asked.schedule, asked.seats)?;
    let inside = require_entry(context, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let holder = Holder { key: &asked.key, fan: asked.fan.user, inside, now };
    let held = hold(context, &holder, &pick).await;
    held.map_err(|error| with_alternatives(context, holder.inside.room, &pick, error))
}

/// An admitted fan who is about to hold seats.
pub(crate) struct Holder<'a> {
    pub(crate) key: &'a IdempotencyKey,
    pub(crate) fan: UserId,
    pub(crate) inside: LiveEntry,
    pub(crate) now: Timestamp,
}

pub(crate) async fn hold(
    context: &AppContext,
    holder: &Holder<'_>,
    pick: &SeatPick,
) -> Result<Idempotent<Held>> {
    let (schedule, fan, now) = (pick.schedule(), holder.fan, holder.now);
    let until = now.plus(context.rules.hold_length);
    let taken = context.booking.seat_filter.take(pick, fan, until, now).await?;
    // A fan who is blocked by their own hold most likely repeats a request: the database has its
    // answer, even if the first request is still on its way there. Other fans are refused without
    // touching the database.
    if let Taken::Blocked { seats, by_self: false } = taken {
        return Err(Refusal::seat_taken(ids(schedule, &seats)).into());
    }
    failpoints::reach(failpoints::HOLD_FILTERED);
    let command = HoldSeats {
        key: holder.key.clone(),
        reservation: ReservationId::new(context.rng.id(now)),
        user: fan,
        pick: pick.clone(),
        entry: holder.inside.entry,
        room: holder.inside.room,
        until,
        limits_churn: context.rules.limits_on,
        now,
    };
    let held = context.store.hold_seats(command).await;
    failpoints::reach(failpoints::HOLD_STORED);
    if let Err(Error::Refused(Refusal::HoldChurn { .. })) = &held {
        let reason = "Held seats repeatedly without buying".to_owned();
        bot_signals::note(context, fan, schedule, SignalKind::HoldsWithoutBuying, reason).await;
    }
    let is_ours = matches!(held, Ok(Idempotent::Fresh(_)));
    let is_promised = taken == Taken::Yes;
    if is_promised && !is_ours {
        // The filter accepted what the database refused.
        context.booking.seat_filter.release(schedule, pick.indexes(), fan).await?;
    }
    if !is_promised && is_ours {
        // The filter held an older claim.
        context.booking.seat_filter.keep(schedule, pick.indexes(), fan, until).await?;
    }
    if is_ours {
        tell_nodes(context, schedule, pick.indexes()).await;
    }
    held
}

fn ids(schedule: ScheduleId, seats: &[SeatIndex]) -> Vec<SeatId> {
    seats.iter().map(|seat| schedule.seat(*seat)).collect()
}

/// Adds seats near the lost ones that the fan's waiting room sells, from the cached seat map. They
/// are a hint, so a loser costs no read of the store.
pub(crate) fn with_alternatives(
    context: &AppContext,
    room: ScheduleId,
    pick: &SeatPick,
    error: Error,
) -> Error {
    let Error::Refused(Refusal::SeatTaken { taken, .. }) = error else { return error };
    let schedule = pick.schedule();
    let room = context.catalog.schedules.cached_room(room, context.now());
    let phase = room.as_ref().and_then(|room| room.phase());
    let known = context.booking.seat_maps.known(schedule);
    let found = known.map(|map| map.alternatives(pick.indexes(), phase));
    let alternatives = found.iter().flat_map(|found| found.iter());
    let alternatives = alternatives.map(|seats| ids(schedule, seats)).collect();
    Refusal::SeatTaken { taken, alternatives }.into()
}

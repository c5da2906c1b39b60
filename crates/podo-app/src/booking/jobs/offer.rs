//! Offers returned seats to the standby list, first come, first served.

use crate::booking::port::standby::OfferSeats;
use crate::booking::reservations::tell_held;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{OFFER, Round, put_off};
use podo_domain::booking::best::{SeatRequest, best_seats};
use podo_domain::booking::seats::SeatPick;
use podo_domain::booking::standby::Standby;
use podo_domain::catalog::phases::is_for_everybody;
use podo_domain::id::SeatIndex;
use podo_domain::{Refusal, ReservationId, ScheduleId, SeatId, Timestamp};
use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};

/// Most standby entries examined in one round.
const ROUND_MAX: u32 = 500;

/// Every step is a compare-and-set, so any number of nodes can run this at once.
pub async fn offer_seats(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    round.done += context.store.settle_standbys(now, ROUND_MAX).await?;
    let waiting = context.store.waiting_standbys(now, ROUND_MAX).await?;
    let mut free = Free::new();
    for standby in &waiting {
        match offer_to(context, standby, &mut free, now).await {
            Ok(is_offered) => round.done += u64::from(is_offered),
            Err(error) => {
                put_off(context, OFFER, standby.id.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}

/// The free seats of each schedule read in this round.
type Free = HashMap<ScheduleId, BTreeSet<SeatIndex>>;

async fn offer_to(
    context: &AppContext,
    standby: &Standby,
    free: &mut Free,
    now: Timestamp,
) -> Result<bool> {
    let left = match free.entry(standby.schedule) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => {
            unknown.insert(seats_for_everybody(context, standby.schedule, now).await?)
        }
    };
    if left.len() < standby.count as usize {
        return Ok(false);
    }
    let Some(pick) = choose(context, standby, left).await? else { return Ok(false) };
    // Whether the offer succeeds or loses the race, these seats aren't available to the next entry.
    for seat in pick.indexes() {
        left.remove(seat);
    }
    offer(context, standby, &pick, now).await
}

/// The list doesn't know who is eligible for a phase, so it gets nothing while a limited one runs.
async fn seats_for_everybody(
    context: &AppContext,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<BTreeSet<SeatIndex>> {
    let seats = context.store.free_seats_of(schedule).await?;
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let is_open = |seat: &SeatIndex| is_for_everybody(&record.phases, *seat, now);
    Ok(seats.into_iter().filter(is_open).collect())
}

/// Adjacent seats if possible; otherwise any seats.
async fn choose(
    context: &AppContext,
    standby: &Standby,
    left: &BTreeSet<SeatIndex>,
) -> Result<Option<SeatPick>> {
    let hall = context.catalog.layouts.get(&*context.store, standby.schedule).await?;
    let wish = SeatRequest {
        grade: hall.grade(&standby.grade),
        across_rows: true,
        ..SeatRequest::new(standby.count as usize)
    };
    let Some(seats) = best_seats(&hall, |seat| left.contains(&seat), &wish) else {
        return Ok(None);
    };
    let seats: Vec<SeatId> = seats.iter().map(|seat| standby.schedule.seat(*seat)).collect();
    Ok(Some(SeatPick::new(standby.schedule, &seats)?))
}

async fn offer(
    context: &AppContext,
    standby: &Standby,
    pick: &SeatPick,
    now: Timestamp,
) -> Result<bool> {
    let until = now.plus(context.rules.offer_length);
    let command = OfferSeats {
        standby: standby.id,
        reservation: ReservationId::new(context.rng.id(now)),
        user: standby.user,
        pick: pick.clone(),
        until,
        now,
    };
    match context.store.offer_seats(command).await {
        Ok(()) => {
            tell_held(context, pick, standby.user, until).await?;
            Ok(true)
        }
        // The fan bought seats elsewhere in the meantime.
        Err(Error::Refused(Refusal::SeatLimit { .. })) => {
            context.store.lapse_standby(standby.id, now).await?;
            Ok(false)
        }
        // Another command was faster; the next round sees what is left.
        Err(Error::Refused(_) | Error::Conflict(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

//! Offers seats that came back to those who stand by, first come first.

use super::{OFFER, Round, put_off};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::standby::OfferSeats;
use crate::reservations::tell_held;
use domain::best::{Wish, best_seats};
use domain::id::SeatIndex;
use domain::seats::SeatPick;
use domain::standby::Standby;
use domain::{Refusal, ReservationId, ScheduleId, SeatId, Timestamp};
use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};

/// Most fans looked at in one round.
const ROUND_MAX: u32 = 500;

/// Every step compares before it sets, so any number of nodes may do this at once.
pub async fn offer_seats(platform: &Platform, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    round.done += platform.store.settle_standbys(now, ROUND_MAX).await?;
    let waiting = platform.store.waiting_standbys(now, ROUND_MAX).await?;
    let mut free = Free::new();
    for standby in &waiting {
        match offer_to(platform, standby, &mut free, now).await {
            Ok(is_offered) => round.done += u64::from(is_offered),
            Err(error) => {
                put_off(platform, OFFER, standby.id.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}

/// The free seats of the schedules that were looked at in this round.
type Free = HashMap<ScheduleId, BTreeSet<SeatIndex>>;

async fn offer_to(
    platform: &Platform,
    standby: &Standby,
    free: &mut Free,
    now: Timestamp,
) -> Result<bool> {
    let left = match free.entry(standby.schedule) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => {
            let seats = platform.store.free_seats_of(standby.schedule).await?;
            unknown.insert(seats.into_iter().collect())
        }
    };
    if left.len() < standby.count as usize {
        return Ok(false);
    }
    let Some(pick) = choose(platform, standby, left).await? else { return Ok(false) };
    // Offered or lost: either way they are not there for the next in the list.
    for seat in pick.indexes() {
        left.remove(seat);
    }
    offer(platform, standby, &pick, now).await
}

/// Seats together if there are some; whoever waits for returned seats takes what comes.
async fn choose(
    platform: &Platform,
    standby: &Standby,
    left: &BTreeSet<SeatIndex>,
) -> Result<Option<SeatPick>> {
    let hall = platform.layouts.get(&*platform.store, standby.schedule).await?;
    let wish = Wish {
        grade: hall.grade(&standby.grade),
        across_rows: true,
        ..Wish::new(standby.count as usize)
    };
    let Some(seats) = best_seats(&hall, |seat| left.contains(&seat), &wish) else {
        return Ok(None);
    };
    let seats: Vec<SeatId> = seats.iter().map(|seat| standby.schedule.seat(*seat)).collect();
    Ok(Some(SeatPick::new(standby.schedule, &seats)?))
}

async fn offer(
    platform: &Platform,
    standby: &Standby,
    pick: &SeatPick,
    now: Timestamp,
) -> Result<bool> {
    let until = now.plus(platform.rules.offer_length);
    let command = OfferSeats {
        standby: standby.id,
        reservation: ReservationId::new(platform.chance.id(now)),
        user: standby.user,
        pick: pick.clone(),
        until,
        now,
    };
    match platform.store.offer_seats(command).await {
        Ok(()) => {
            tell_held(platform, pick, standby.user, until).await?;
            Ok(true)
        }
        // They bought elsewhere meanwhile.
        Err(Error::Refused(Refusal::SeatLimit { .. })) => {
            platform.store.lapse_standby(standby.id, now).await?;
            Ok(false)
        }
        // Somebody was faster: the next round sees what is left.
        Err(Error::Refused(_) | Error::Conflict(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

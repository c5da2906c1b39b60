//! Holding seats and giving them back.

use crate::error::{Error, Result};
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::holds::Taken;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::reservations::{
    Freed, Held, HoldSeats, ReleaseSeats, ReservationView, ReservedSeat,
};
use crate::queue::require_entry;
use crate::sessions::Caller;
use domain::seats::{SeatPick, SeatView};
use domain::{Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashSet;
use utoipa::ToSchema;

/// Seats asked for by a fan who is inside.
pub struct SelectSeats<'a> {
    pub key: KeyUse,
    pub fan: Caller,
    pub schedule: ScheduleId,
    pub seats: &'a [SeatId],
    pub entry_token: Option<&'a str>,
}

/// Holds the seats, all or none. The filter refuses most losers of a race in memory; the database
/// decides among the rest.
pub async fn select_seats(platform: &Platform, asked: SelectSeats<'_>) -> Result<Once<Held>> {
    let now = platform.now();
    let pick = SeatPick::new(asked.schedule, asked.seats)?;
    let entry = require_entry(platform, asked.fan, asked.schedule, asked.entry_token, now).await?;
    let until = now.plus(platform.rules.hold_length);
    let taken = platform.holds.take(&pick, asked.fan.user, until, now).await?;
    // Blocked by a hold of their own, a fan most likely repeats a request: the database knows its
    // answer, also when the first one is still on its way there. Anybody else is refused without
    // touching the database.
    if let Taken::Blocked { seats, by_self: false } = taken {
        let taken = seats.into_iter().map(|index| asked.schedule.seat(index)).collect();
        return Err(Refusal::SeatTaken { taken }.into());
    }
    let command = HoldSeats {
        key: asked.key,
        reservation: ReservationId::new(platform.chance.id(now)),
        user: asked.fan.user,
        pick: pick.clone(),
        entry,
        until,
        now,
    };
    let held = platform.store.hold_seats(command).await;
    let is_ours = matches!(held, Ok(Once::Fresh(_)));
    let is_promised = taken == Taken::Yes;
    if is_promised && !is_ours {
        // The filter promised what the database did not give.
        platform.holds.release(asked.schedule, pick.indexes(), asked.fan.user).await?;
    }
    if !is_promised && is_ours {
        // The filter knew of an older hold.
        platform.holds.keep(asked.schedule, pick.indexes(), asked.fan.user, until).await?;
    }
    if is_ours {
        tell_nodes(platform, asked.schedule).await;
    }
    held
}

pub async fn release_seats(
    platform: &Platform,
    fan: UserId,
    reservation: ReservationId,
) -> Result<()> {
    let command = ReleaseSeats { reservation, user: fan, now: platform.now() };
    let freed = platform.store.release_seats(command).await?;
    tell_filter(platform, freed.as_slice()).await
}

/// After the commit: the filter forgets seats that are nobody's again. It may fail to hear of it;
/// then it is wrong only until the hold it knows of ends.
pub(crate) async fn tell_filter(platform: &Platform, freed: &[Freed]) -> Result<()> {
    for freed in freed {
        tell_nodes(platform, freed.schedule).await;
        platform.holds.release(freed.schedule, &freed.seats, freed.user).await?;
    }
    Ok(())
}

/// After the commit: every node learns that its seat map is old. One that does not hear of it looks
/// again after a while.
async fn tell_nodes(platform: &Platform, schedule: ScheduleId) {
    if let Err(error) = platform.seat_versions.bump(schedule).await {
        tracing::warn!(%error, "Other nodes did not hear that seats changed");
    }
}

pub(crate) async fn tell_filter_sold(platform: &Platform, sold: &Freed) -> Result<()> {
    tell_nodes(platform, sold.schedule).await;
    let until = Timestamp::FAR_FUTURE;
    platform.holds.keep(sold.schedule, &sold.seats, sold.user, until).await
}

pub async fn my_reservations(
    platform: &Platform,
    fan: UserId,
    page: PageAsk,
) -> Result<Page<ReservationView>> {
    let views = platform.store.reservations_of(fan, page).await?;
    Ok(Page::cut(views, page.limit, |view| view.id.uuid()))
}

pub async fn my_reservation(
    platform: &Platform,
    fan: UserId,
    reservation: ReservationId,
) -> Result<ReservationView> {
    let view = platform.store.reservation(reservation, fan).await?;
    view.ok_or(Error::Refused(Refusal::NotFound))
}

/// A seat in the booking list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BookingSeat {
    #[serde(flatten)]
    pub seat: ReservedSeat,
    pub status: SeatView,
}

/// Every seat with its price, and the fan's own holds told apart from others'.
pub async fn booking_seats(
    platform: &Platform,
    fan: UserId,
    schedule: ScheduleId,
) -> Result<Vec<BookingSeat>> {
    let now = platform.now();
    platform.schedules.get(&*platform.store, schedule, now).await?;
    let mine = platform.store.seats_held_by(fan, schedule).await?;
    let mine: HashSet<u32> = mine.into_iter().collect();
    let seats = platform.store.seats_of(schedule).await?;
    let view = |seat: domain::seats::Seat| BookingSeat {
        status: SeatView::of(&seat, mine.contains(&seat.index), now),
        seat: ReservedSeat {
            id: schedule.seat(seat.index),
            number: seat.number,
            grade: seat.grade,
            price: seat.price,
        },
    };
    Ok(seats.into_iter().map(view).collect())
}

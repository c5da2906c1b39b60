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
use domain::seats::{SeatPick, SeatView};
use domain::{Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashSet;
use utoipa::ToSchema;

/// Seats asked for by a fan who is inside.
pub struct SelectSeats<'a> {
    pub key: KeyUse,
    pub fan: UserId,
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
    match platform.holds.take(&pick, asked.fan, until, now).await? {
        Taken::Yes => {}
        Taken::Blocked { seats, by_self } => {
            return refuse_taken(platform, &asked, seats, by_self).await;
        }
    }
    let command = HoldSeats {
        key: asked.key,
        reservation: ReservationId::new(platform.chance.id(now)),
        user: asked.fan,
        pick: pick.clone(),
        entry,
        until,
        now,
    };
    let held = platform.store.hold_seats(command).await;
    let is_ours = matches!(held, Ok(Once::Fresh(_)));
    if !is_ours {
        // The filter promised what the database did not give.
        platform.holds.release(asked.schedule, pick.indexes(), asked.fan).await?;
    }
    held
}

/// A fan who repeats a request is blocked by their own hold: the stored answer is theirs. Anybody
/// else is refused without touching the database.
async fn refuse_taken(
    platform: &Platform,
    asked: &SelectSeats<'_>,
    seats: Vec<u32>,
    by_self: bool,
) -> Result<Once<Held>> {
    if by_self && let Some(answer) = platform.store.stored_answer(&asked.key).await? {
        return Ok(Once::Replay(answer));
    }
    let taken = seats.into_iter().map(|index| asked.schedule.seat(index)).collect();
    Err(Refusal::SeatTaken { taken }.into())
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
        platform.holds.release(freed.schedule, &freed.seats, freed.user).await?;
    }
    Ok(())
}

pub(crate) async fn tell_filter_sold(platform: &Platform, sold: &Freed) -> Result<()> {
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

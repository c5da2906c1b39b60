//! Holding seats and giving them back.

mod best;
mod select;

pub use best::{BestSeats, hold_best_seats};
pub use select::{SelectSeats, refuse_at_hand, select_seats};

use crate::error::{Error, Result};
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::reservations::{Freed, ReleaseSeats, ReservationView, ReservedSeat};
use domain::id::SeatIndex;
use domain::seats::{SeatPick, SeatView};
use domain::{Refusal, ReservationId, ScheduleId, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashSet;
use utoipa::ToSchema;

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
        tell_nodes(platform, freed.schedule, &freed.seats).await;
        platform.holds.release(freed.schedule, &freed.seats, freed.user).await?;
    }
    Ok(())
}

/// After the commit: every node learns that its seat map is old. One that does not hear of it looks
/// again after a while.
async fn tell_nodes(platform: &Platform, schedule: ScheduleId, seats: &[SeatIndex]) {
    if let Err(error) = platform.seat_versions.bump(schedule, seats).await {
        tracing::warn!(%error, "Other nodes did not hear that seats changed");
    }
}

/// After the commit: everybody learns that somebody holds these seats now.
pub(crate) async fn tell_held(
    platform: &Platform,
    pick: &SeatPick,
    fan: UserId,
    until: Timestamp,
) -> Result<()> {
    tell_nodes(platform, pick.schedule(), pick.indexes()).await;
    platform.holds.keep(pick.schedule(), pick.indexes(), fan, until).await
}

pub(crate) async fn tell_filter_sold(platform: &Platform, sold: &Freed) -> Result<()> {
    tell_nodes(platform, sold.schedule, &sold.seats).await;
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

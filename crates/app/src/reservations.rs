//! Holding seats and giving them back.

mod best;
mod select;

pub use best::{BestSeats, hold_best_seats};
pub use select::{SelectSeats, refuse_at_hand, select_seats};

use crate::error::{Error, Result};
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::reservations::{Freed, ReleaseSeats, ReservationView, ReservedSeat};
use crate::seat_map::Snapshot;
use domain::id::SeatIndex;
use domain::seats::{SeatPick, SeatView};
use domain::{Refusal, ReservationId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
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

/// What a list of all seats needs beside the seats: how they stand, which of them the fan holds, and
/// what they cost.
pub struct BookingView {
    pub snapshot: Arc<Snapshot>,
    pub mine: HashSet<u32>,
    pub prices: BTreeMap<String, Won>,
}

pub async fn booking_view(
    platform: &Platform,
    fan: UserId,
    schedule: ScheduleId,
) -> Result<BookingView> {
    let record = platform.schedules.get(&*platform.store, schedule, platform.now()).await?;
    let mine = platform.store.seats_held_by(fan, schedule).await?.into_iter().collect();
    let snapshot = platform.seat_maps.snapshot_now(platform, schedule).await?;
    Ok(BookingView { snapshot, mine, prices: record.prices.clone() })
}

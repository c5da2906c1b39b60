//! Holding and releasing seats.

mod best;
pub mod issued;
pub mod reseat;
mod select;

pub use best::{BestWish, hold_best_seats, suggest_seats};
pub use select::{SelectSeats, refuse_from_cache, select_seats};

use crate::booking::port::reservations::{Freed, ReleaseSeats, ReservationView, ReservedSeat};
use crate::booking::seat_map::Snapshot;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::store::{Page, PageRequest};
use podo_domain::booking::seats::{SeatPick, SeatView};
use podo_domain::id::SeatIndex;
use podo_domain::{Refusal, ReservationId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use utoipa::ToSchema;

pub async fn release_seats(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
) -> Result<()> {
    let command = ReleaseSeats { reservation, user: fan, now: context.now() };
    let freed = context.store.release_seats(command).await?;
    tell_filter(context, freed.as_slice()).await
}

/// After the commit: removes freed seats from the filter. If that fails, the filter is wrong only
/// until its copy of the hold expires.
pub(crate) async fn tell_filter(context: &AppContext, freed: &[Freed]) -> Result<()> {
    for freed in freed {
        tell_nodes(context, freed.schedule, &freed.seats).await;
        context.booking.seat_filter.release(freed.schedule, &freed.seats, freed.user).await?;
    }
    Ok(())
}

/// After the commit: tells every node that its seat map is stale. A node that misses this reads
/// again after a while.
pub(crate) async fn tell_nodes(context: &AppContext, schedule: ScheduleId, seats: &[SeatIndex]) {
    if let Err(error) = context.booking.seat_versions.bump(schedule, seats).await {
        tracing::warn!(%error, "Could not announce changed seats to other nodes");
    }
}

/// After the commit: publishes that these seats are held.
pub(crate) async fn tell_held(
    context: &AppContext,
    pick: &SeatPick,
    fan: UserId,
    until: Timestamp,
) -> Result<()> {
    tell_nodes(context, pick.schedule(), pick.indexes()).await;
    context.booking.seat_filter.keep(pick.schedule(), pick.indexes(), fan, until).await
}

pub(crate) async fn tell_filter_sold(context: &AppContext, sold: &Freed) -> Result<()> {
    tell_nodes(context, sold.schedule, &sold.seats).await;
    let until = Timestamp::FAR_FUTURE;
    context.booking.seat_filter.keep(sold.schedule, &sold.seats, sold.user, until).await
}

pub async fn my_reservations(
    context: &AppContext,
    fan: UserId,
    page: PageRequest,
) -> Result<Page<ReservationView>> {
    let views = context.store.reservations_of(fan, page).await?;
    Ok(Page::cut(views, page.limit, |view| view.id.uuid()))
}

pub async fn my_reservation(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
) -> Result<ReservationView> {
    let view = context.store.reservation(reservation, fan).await?;
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

/// What a list of all seats needs besides the seats: their status, which of them the fan holds, and
/// their prices.
pub struct BookingView {
    pub snapshot: Arc<Snapshot>,
    pub mine: HashSet<u32>,
    pub prices: BTreeMap<String, Won>,
}

pub async fn booking_view(
    context: &AppContext,
    fan: UserId,
    schedule: ScheduleId,
) -> Result<BookingView> {
    let record = context.catalog.schedules.get(&*context.store, schedule, context.now()).await?;
    let mine = context.store.seats_held_by(fan, schedule).await?.into_iter().collect();
    let snapshot = context.booking.seat_maps.snapshot_now(context, schedule).await?;
    Ok(BookingView { snapshot, mine, prices: record.prices_at(context.now()).clone() })
}

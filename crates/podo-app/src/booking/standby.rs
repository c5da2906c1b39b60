//! The standby list: waiting for returned seats of a sold-out date.

use crate::booking::port::reservations::ReservationView;
use crate::booking::port::standby::{StandBy, StandbyPlace};
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::require_identity;
use podo_domain::booking::reservations::check_order_size;
use podo_domain::booking::standby::SEATS_MAX;
use podo_domain::booking::standby::StandbyState;
use podo_domain::{Refusal, ScheduleId, StandbyId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StandbyView {
    pub id: StandbyId,
    pub schedule_id: ScheduleId,
    pub grade: String,
    pub count: u32,
    pub state: StandbyState,
    /// Entries ahead with the same request, while this one waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// The seats held for the fan, once there are some: pay before `holdExpiresAt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offer: Option<ReservationView>,
    pub created_at: Timestamp,
}

/// Joins the list of a date that has too few seats of the grade left; joining again returns the
/// same entry.
pub async fn stand_by(
    context: &AppContext,
    user: UserId,
    schedule: ScheduleId,
    grade: String,
    count: u32,
) -> Result<StandbyView> {
    if count == 0 {
        return Err(Refusal::NoSeats.into());
    }
    let now = context.now();
    let record = context.catalog.schedules.get(&*context.store, schedule, now).await?;
    check_order_size(count, record.seats_per_order.min(SEATS_MAX))?;
    if record.queue.identity_required {
        require_identity(context, user).await?;
    }
    check_sold_out(context, schedule, &grade, count).await?;
    let standby = StandbyId::new(context.rng.id(now));
    let command = StandBy { standby, user, schedule, grade, count, now };
    let place = context.store.stand_by(command).await?;
    view(context, place).await
}

/// A slightly stale map may still show the last seats, so this reads the current one before
/// refusing.
async fn check_sold_out(
    context: &AppContext,
    schedule: ScheduleId,
    grade: &str,
    count: u32,
) -> Result<()> {
    let map = context.booking.seat_maps.snapshot(context, schedule).await?;
    if *map.left.get(grade).ok_or(Refusal::UnknownGrade)? < count {
        return Ok(());
    }
    let map = context.booking.seat_maps.snapshot_now(context, schedule).await?;
    match map.left.get(grade) {
        Some(left) if count <= *left => Err(Refusal::SeatsLeft.into()),
        Some(_) | None => Ok(()),
    }
}

pub async fn my_standby(
    context: &AppContext,
    user: UserId,
    schedule: ScheduleId,
) -> Result<StandbyView> {
    let place = context.store.standby_of(user, schedule).await?.ok_or(Refusal::NotFound)?;
    view(context, place).await
}

pub async fn leave_standby(context: &AppContext, user: UserId, schedule: ScheduleId) -> Result<()> {
    context.store.leave_standby(user, schedule, context.now()).await
}

async fn view(context: &AppContext, place: StandbyPlace) -> Result<StandbyView> {
    let StandbyPlace { standby, ahead } = place;
    let offer = match standby.reservation {
        Some(reservation) => context.store.reservation(reservation, standby.user).await?,
        None => None,
    };
    Ok(StandbyView {
        id: standby.id,
        schedule_id: standby.schedule,
        grade: standby.grade,
        count: standby.count,
        state: standby.state,
        ahead: (standby.state == StandbyState::Waiting).then_some(ahead),
        offer,
        created_at: standby.created_at,
    })
}

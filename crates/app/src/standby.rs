//! The standby list: waiting for seats of a date that is sold out.

use crate::accounts::require_identity;
use crate::error::Result;
use crate::platform::Platform;
use crate::ports::reservations::ReservationView;
use crate::ports::standby::{Place, StandBy};
use domain::seats::SEATS_PER_PICK_MAX;
use domain::standby::StandbyState;
use domain::{Refusal, ScheduleId, StandbyId, Timestamp, UserId};
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
    /// Fans before this one with the same wish, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// The seats held for the fan, once there are some: pay before `holdExpiresAt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offer: Option<ReservationView>,
    pub created_at: Timestamp,
}

/// Joins the list of a date that has not that many seats of the grade left; joining again finds
/// the same place.
pub async fn stand_by(
    platform: &Platform,
    user: UserId,
    schedule: ScheduleId,
    grade: String,
    count: u32,
) -> Result<StandbyView> {
    match count as usize {
        0 => return Err(Refusal::NoSeats.into()),
        1..=SEATS_PER_PICK_MAX => {}
        _ => return Err(Refusal::TooManySeats { max: SEATS_PER_PICK_MAX }.into()),
    }
    let now = platform.now();
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    if record.queue.identity_required {
        require_identity(platform, user).await?;
    }
    check_sold_out(platform, schedule, &grade, count).await?;
    let standby = StandbyId::new(platform.chance.id(now));
    let command = StandBy { standby, user, schedule, grade, count, now };
    let place = platform.store.stand_by(command).await?;
    view(platform, place).await
}

/// A map that is a moment old may still show the last seats: then the newest is looked at.
async fn check_sold_out(
    platform: &Platform,
    schedule: ScheduleId,
    grade: &str,
    count: u32,
) -> Result<()> {
    let map = platform.seat_maps.snapshot(platform, schedule).await?;
    if *map.left.get(grade).ok_or(Refusal::UnknownGrade)? < count {
        return Ok(());
    }
    let map = platform.seat_maps.snapshot_now(platform, schedule).await?;
    match map.left.get(grade) {
        Some(left) if count <= *left => Err(Refusal::SeatsLeft.into()),
        Some(_) | None => Ok(()),
    }
}

pub async fn my_standby(
    platform: &Platform,
    user: UserId,
    schedule: ScheduleId,
) -> Result<StandbyView> {
    let place = platform.store.standby_of(user, schedule).await?.ok_or(Refusal::NotFound)?;
    view(platform, place).await
}

pub async fn leave_standby(platform: &Platform, user: UserId, schedule: ScheduleId) -> Result<()> {
    platform.store.leave_standby(user, schedule, platform.now()).await
}

async fn view(platform: &Platform, place: Place) -> Result<StandbyView> {
    let Place { standby, ahead } = place;
    let offer = match standby.reservation {
        Some(reservation) => platform.store.reservation(reservation, standby.user).await?,
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

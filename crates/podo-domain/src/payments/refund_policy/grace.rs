//! Free cancellation right after the booking, and the last moment to cancel.

use crate::Timestamp;
use crate::payments::refund_policy::{CancelMoment, DAYS_MAX};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest grace: 30 days.
const GRACE_HOURS_MAX: u32 = 720;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum GraceUnit {
    Hours,
    /// Calendar days; 0 ends at midnight of the booking day.
    Days,
}

/// Free cancellation for a while after the booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grace {
    pub unit: GraceUnit,
    pub length: u32,
    /// Only as long as the show is at least this many days away.
    pub days_before: u32,
    /// Whether booking and order fees go back too, whatever their own rule says.
    #[serde(default)]
    pub refunds_fees: bool,
}

/// Cancellation ends at this hour, before the steps do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LastMoment {
    pub days_before: u32,
    pub hour: u32,
}

impl Grace {
    pub(super) fn wrong_field(&self) -> Option<&'static str> {
        let length_max = match self.unit {
            GraceUnit::Hours => GRACE_HOURS_MAX,
            GraceUnit::Days => GRACE_HOURS_MAX / 24,
        };
        let is_empty = self.unit == GraceUnit::Hours && self.length == 0;
        if is_empty || self.length > length_max {
            return Some("length");
        }
        (self.days_before > DAYS_MAX).then_some("daysBefore")
    }

    pub(super) fn holds(&self, moment: &CancelMoment<'_>) -> bool {
        let is_recent = match self.unit {
            GraceUnit::Hours => {
                let hours = u64::from(self.length);
                moment.now < moment.booked_at.plus(Duration::from_secs(hours * 3_600))
            }
            GraceUnit::Days => {
                let day = |time: Timestamp| time.day_number(moment.zone);
                day(moment.now) - day(moment.booked_at) <= i64::from(self.length)
            }
        };
        is_recent && moment.days_left() >= i64::from(self.days_before)
    }
}

impl LastMoment {
    pub(super) fn is_over(&self, moment: &CancelMoment<'_>) -> bool {
        let (days_left, last_day) = (moment.days_left(), i64::from(self.days_before));
        days_left < last_day || days_left == last_day && moment.now.hour(moment.zone) >= self.hour
    }
}

//! One date of an event: when it takes place and when it is sold.

use crate::catalog::EventStatus;
use crate::{Refusal, Timestamp};
use serde::{Deserialize, Serialize};

/// The sale status of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ScheduleStatus {
    /// The sale hasn't opened yet.
    Upcoming,
    /// Tickets are on sale.
    Ongoing,
    /// The sale is over.
    Ended,
    Cancelled,
}

/// The status of the show itself; a date can be on sale while its show is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ShowStatus {
    NotStarted,
    Running,
    Finished,
}

impl ScheduleStatus {
    pub const ALL: [ScheduleStatus; 4] = [
        ScheduleStatus::Upcoming,
        ScheduleStatus::Ongoing,
        ScheduleStatus::Ended,
        ScheduleStatus::Cancelled,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            ScheduleStatus::Upcoming => "UPCOMING",
            ScheduleStatus::Ongoing => "ONGOING",
            ScheduleStatus::Ended => "ENDED",
            ScheduleStatus::Cancelled => "CANCELLED",
        }
    }

    pub fn parse(text: &str) -> Option<ScheduleStatus> {
        ScheduleStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// The status at this moment: a canceled date stays canceled, the clock decides the rest.
    pub fn at(self, times: &ScheduleTimes, now: Timestamp) -> ScheduleStatus {
        match self {
            ScheduleStatus::Cancelled => ScheduleStatus::Cancelled,
            ScheduleStatus::Upcoming | ScheduleStatus::Ongoing | ScheduleStatus::Ended => {
                times.sale().status_at(now)
            }
        }
    }

    /// A canceled date accepts no more payments.
    pub const fn refuse_canceled(self) -> Result<(), Refusal> {
        match self {
            ScheduleStatus::Cancelled => Err(Refusal::ScheduleCanceled),
            ScheduleStatus::Upcoming | ScheduleStatus::Ongoing | ScheduleStatus::Ended => Ok(()),
        }
    }

    /// Whether the date and its event permit the sale of seats.
    pub const fn check_on_sale(self, event: EventStatus) -> Result<(), Refusal> {
        match (self, event) {
            (ScheduleStatus::Cancelled, _) | (_, EventStatus::Cancelled) => {
                Err(Refusal::ScheduleCanceled)
            }
            (_, EventStatus::Open) => Ok(()),
            (_, EventStatus::Preparing | EventStatus::Ended) => Err(Refusal::SaleClosed),
        }
    }
}

/// When tickets are sold: from `starts_at` to just before `ends_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleWindow {
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
}

impl SaleWindow {
    pub fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        if now < self.starts_at {
            return Err(Refusal::SaleNotOpen { opens_at: self.starts_at });
        }
        if self.ends_at <= now {
            return Err(Refusal::SaleClosed);
        }
        Ok(())
    }

    pub fn status_at(&self, now: Timestamp) -> ScheduleStatus {
        if now < self.starts_at {
            ScheduleStatus::Upcoming
        } else if now < self.ends_at {
            ScheduleStatus::Ongoing
        } else {
            ScheduleStatus::Ended
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleTimes {
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub sale_starts_at: Timestamp,
    pub sale_ends_at: Timestamp,
}

impl ScheduleTimes {
    /// Refuses inconsistent times, by the field's name in the API.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.ends_at <= self.starts_at {
            return Err(Refusal::InvalidSchedule { field: "endsAt" });
        }
        if self.sale_ends_at <= self.sale_starts_at || self.ends_at < self.sale_ends_at {
            return Err(Refusal::InvalidSchedule { field: "saleEndsAt" });
        }
        Ok(())
    }

    pub const fn sale(&self) -> SaleWindow {
        SaleWindow { starts_at: self.sale_starts_at, ends_at: self.sale_ends_at }
    }

    pub fn show_at(&self, now: Timestamp) -> ShowStatus {
        if now < self.starts_at {
            ShowStatus::NotStarted
        } else if now < self.ends_at {
            ShowStatus::Running
        } else {
            ShowStatus::Finished
        }
    }
}

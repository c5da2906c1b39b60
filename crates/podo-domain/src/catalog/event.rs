//! The life of an event: `PREPARING → OPEN → ENDED`, or `CANCELLED`. One function per verb;
//! repeating a verb changes nothing.

use crate::Refusal;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum EventStatus {
    /// Only organisers see it.
    Preparing,
    Open,
    Ended,
    Cancelled,
}

impl EventStatus {
    pub const ALL: [EventStatus; 4] =
        [EventStatus::Preparing, EventStatus::Open, EventStatus::Ended, EventStatus::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            EventStatus::Preparing => "PREPARING",
            EventStatus::Open => "OPEN",
            EventStatus::Ended => "ENDED",
            EventStatus::Cancelled => "CANCELLED",
        }
    }

    pub fn parse(text: &str) -> Option<EventStatus> {
        EventStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Makes the event public.
    pub const fn open(self) -> Result<EventStatus, Refusal> {
        match self {
            EventStatus::Preparing | EventStatus::Open => Ok(EventStatus::Open),
            EventStatus::Ended | EventStatus::Cancelled => Err(Refusal::WrongEventState),
        }
    }

    pub const fn end(self) -> Result<EventStatus, Refusal> {
        match self {
            EventStatus::Open | EventStatus::Ended => Ok(EventStatus::Ended),
            EventStatus::Preparing | EventStatus::Cancelled => Err(Refusal::WrongEventState),
        }
    }

    /// An event that has taken place can't be canceled.
    pub const fn cancel(self) -> Result<EventStatus, Refusal> {
        match self {
            EventStatus::Preparing | EventStatus::Open | EventStatus::Cancelled => {
                Ok(EventStatus::Cancelled)
            }
            EventStatus::Ended => Err(Refusal::WrongEventState),
        }
    }
}

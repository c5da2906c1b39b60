//! What an organiser says about an event, and its life: `PREPARING → OPEN → ENDED`, or
//! `CANCELLED`. One function per verb; repeating a verb changes nothing.

use crate::catalog::text::{Line, Prose};
use crate::{HallId, Refusal, VenueId};
use serde::{Deserialize, Serialize};

/// A new event.
// All layers pass it on whole, so that a new field is declared only here and in `EventEdit`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EventBody))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEvent {
    pub title: Line<300>,
    pub artist: Line<200>,
    #[serde(default)]
    pub description: Prose<5000>,
    pub venue_id: VenueId,
    pub hall_id: HallId,
    /// Whether tickets are transferable; true by default.
    #[serde(default)]
    pub transferable: Option<bool>,
}

impl NewEvent {
    /// An event of which only the necessary is known.
    pub fn new(
        title: Line<300>,
        artist: Line<200>,
        venue_id: VenueId,
        hall_id: HallId,
    ) -> NewEvent {
        let description = Prose::default();
        NewEvent { title, artist, description, venue_id, hall_id, transferable: None }
    }
}

/// A change of an event. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EventPatch))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventEdit {
    #[serde(default)]
    pub title: Option<Line<300>>,
    #[serde(default)]
    pub artist: Option<Line<200>>,
    #[serde(default)]
    pub description: Option<Prose<5000>>,
    /// Whether tickets are transferable.
    #[serde(default)]
    pub transferable: Option<bool>,
}

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

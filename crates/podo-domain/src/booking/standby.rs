//! The standby list of a sold-out date: who gets returned seats.

use crate::waiting_room::PlaceNumber;
use crate::{Refusal, ReservationId, ScheduleId, StandbyId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The place number of an offer, which comes from the standby list instead of the queue.
pub const PLACE_OF_OFFER: PlaceNumber = i64::MAX as u64;

/// Most seats that one entry of the list waits for.
pub const SEATS_MAX: u32 = 4;

/// How long returned seats are withheld for the standby list before they go on sale.
pub const KEPT_FOR: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum StandbyState {
    Waiting,
    /// Seats are held for the fan, who was notified.
    Offered,
    /// The fan bought them.
    Taken,
    /// The offer expired.
    Lapsed,
    /// The fan left the list.
    Left,
}

impl StandbyState {
    pub const ALL: [StandbyState; 5] = [
        StandbyState::Waiting,
        StandbyState::Offered,
        StandbyState::Taken,
        StandbyState::Lapsed,
        StandbyState::Left,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            StandbyState::Waiting => "WAITING",
            StandbyState::Offered => "OFFERED",
            StandbyState::Taken => "TAKEN",
            StandbyState::Lapsed => "LAPSED",
            StandbyState::Left => "LEFT",
        }
    }

    pub fn parse(text: &str) -> Option<StandbyState> {
        StandbyState::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether it prevents the fan from joining the same list again.
    pub const fn is_open(self) -> bool {
        match self {
            StandbyState::Waiting | StandbyState::Offered => true,
            StandbyState::Taken | StandbyState::Lapsed | StandbyState::Left => false,
        }
    }

    /// The fan stops waiting. An offer is given up by releasing its seats.
    pub const fn leave(self) -> Result<StandbyState, Refusal> {
        match self {
            StandbyState::Waiting | StandbyState::Left => Ok(StandbyState::Left),
            StandbyState::Offered => Err(Refusal::StandbyOffered),
            StandbyState::Taken | StandbyState::Lapsed => Err(Refusal::NotFound),
        }
    }
}

/// One fan's request for returned seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standby {
    pub id: StandbyId,
    pub user: UserId,
    pub schedule: ScheduleId,
    pub grade: String,
    pub count: u32,
    pub state: StandbyState,
    pub reservation: Option<ReservationId>,
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fan_who_waits_can_give_up_waiting() {
        use StandbyState::{Lapsed, Left, Offered, Taken, Waiting};
        assert_eq!((Waiting.leave(), Left.leave()), (Ok(Left), Ok(Left)));
        assert_eq!(Offered.leave(), Err(Refusal::StandbyOffered));
        assert!(Taken.leave().is_err() && Lapsed.leave().is_err());
    }

    #[test]
    fn a_state_is_spelled_alike_in_json_and_in_the_store() {
        for state in StandbyState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(StandbyState::parse(state.as_str()), Some(state));
        }
    }
}

//! A fan's waiting-room events, for support: when they came, their position, when they were
//! admitted and how it ended.

use crate::waiting_room::PlaceNumber;
use crate::{ScheduleId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

// In the order in which they happen to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QueueEventKind {
    /// The fan joined the lobby.
    JoinedLobby,
    /// The fan got a number.
    Entered,
    /// The fan polled their position. Logged occasionally, not at every poll.
    PositionSeen,
    /// The fan gave up the place.
    Left,
    /// The fan was admitted.
    Admitted,
    /// The entry ended; the reason says how.
    Ended,
}

impl QueueEventKind {
    pub const ALL: [QueueEventKind; 6] = [
        QueueEventKind::JoinedLobby,
        QueueEventKind::Entered,
        QueueEventKind::PositionSeen,
        QueueEventKind::Left,
        QueueEventKind::Admitted,
        QueueEventKind::Ended,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            QueueEventKind::JoinedLobby => "JOINED_LOBBY",
            QueueEventKind::Entered => "ENTERED",
            QueueEventKind::PositionSeen => "POSITION_SEEN",
            QueueEventKind::Left => "LEFT",
            QueueEventKind::Admitted => "ADMITTED",
            QueueEventKind::Ended => "ENDED",
        }
    }

    pub fn parse(text: &str) -> Option<QueueEventKind> {
        QueueEventKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueEvent {
    pub schedule: ScheduleId,
    pub user: UserId,
    pub kind: QueueEventKind,
    pub number: Option<PlaceNumber>,
    /// One more than the fans ahead.
    pub position: Option<u64>,
    pub at: Timestamp,
}

/// A waiting fan's position is logged about once in this time.
pub const SEEN_EVERY: Duration = Duration::from_secs(600);

/// Whether this poll is the one that is logged in its ten minutes. Each fan has a moment of their
/// own in every span; the first poll after it is logged. `since_last` is the time since the fan's
/// previous poll, so no state is needed.
pub fn is_seen_logged(user: UserId, since_last: Duration, now: Timestamp) -> bool {
    let span = i64::try_from(SEEN_EVERY.as_millis()).unwrap_or(i64::MAX);
    let since = i64::try_from(since_last.as_millis()).unwrap_or(span).min(span);
    let offset = i64::try_from(user.uuid().as_u128() % (span.unsigned_abs() as u128)).unwrap_or(0);
    (now.ms() - offset).rem_euclid(span) < since
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn names_lead_back_to_their_kind() {
        for kind in QueueEventKind::ALL {
            assert_eq!(QueueEventKind::parse(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn a_fan_who_polls_for_an_hour_is_logged_six_times() {
        for fan in 0..50_u128 {
            let user = UserId::new(Uuid::from_u128(fan * 7_919_777));
            let poll = Duration::from_millis(7_300);
            let polls = (0..3_600_000_i64).step_by(7_300).map(Timestamp::from_ms);
            let n_logged = polls.filter(|at| is_seen_logged(user, poll, *at)).count();
            assert!((6..=7).contains(&n_logged), "{n_logged}");
        }
    }
}

//! When a round of admission visits every live room, and not only the busy ones.

use podo_domain::Timestamp;
use std::sync::Mutex;
use std::time::Duration;

/// Rooms that the engine doesn't call busy can wait this long: the first fan who contacts a room
/// opens it, and makes it busy.
const ALL_EVERY: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Visits {
    /// `None` if the next round visits every room.
    all_at: Mutex<Option<Timestamp>>,
}

impl Visits {
    /// Whether this round visits every room; if so, counts from now.
    pub(crate) fn begin(&self, now: Timestamp) -> bool {
        let mut all_at = self.all_at.lock().expect("the lock is never poisoned");
        // A clock that steps back must not put the visit off.
        let is_due = all_at.is_none_or(|at| now < at || at.plus(ALL_EVERY) <= now);
        if is_due {
            *all_at = Some(now);
        }
        is_due
    }

    /// The engine lost a room, so it may have lost others: the next round visits all.
    pub(crate) fn visit_all_next(&self) {
        *self.all_at.lock().expect("the lock is never poisoned") = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_room_is_visited_first_then_once_a_minute_and_after_a_loss() {
        let (visits, at) = (Visits::default(), Timestamp::from_ms);
        assert!(visits.begin(at(1_000)));
        assert!(!visits.begin(at(60_999)));
        assert!(visits.begin(at(61_000)));
        visits.visit_all_next();
        assert!(visits.begin(at(61_001)));
        assert!(visits.begin(at(0)), "the clock stepped back");
    }
}

//! What Redis said of seats a moment ago. At an opening thousands ask for the same few seats: the
//! first is refused by Redis, those right behind by this.

use domain::id::SeatIndex;
use domain::reconciliation::FilterHold;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// How long it counts: a release on another node is heard of no later than this. One on this node
/// is known at once.
const COUNTS_FOR: Duration = Duration::from_millis(200);

/// Seats remembered; then the old ones are dropped.
const SEATS_MAX: usize = 100_000;

#[derive(Default)]
pub(super) struct Seen {
    seats: Mutex<HashMap<(ScheduleId, SeatIndex), Sight>>,
}

struct Sight {
    hold: FilterHold,
    /// Until when it counts: a while from the look, and never past the hold.
    until: Timestamp,
}

impl Seen {
    pub(super) fn remember<'a>(
        &self,
        schedule: ScheduleId,
        holds: impl Iterator<Item = (&'a SeatIndex, FilterHold)>,
        now: Timestamp,
    ) {
        let mut seats = self.seats.lock().expect("nothing panics under this lock");
        if seats.len() >= SEATS_MAX {
            seats.retain(|_, sight| now < sight.until);
        }
        for (seat, hold) in holds {
            let until = hold.until.min(now.plus(COUNTS_FOR));
            seats.insert((schedule, *seat), Sight { hold, until });
        }
    }

    pub(super) fn forget(&self, schedule: ScheduleId, released: &[SeatIndex]) {
        let mut seats = self.seats.lock().expect("nothing panics under this lock");
        for seat in released {
            seats.remove(&(schedule, *seat));
        }
    }

    /// The seats of the pick that were somebody's; nothing when none was, or when all of those are
    /// the fan's own.
    pub(super) fn refusal(
        &self,
        pick: &SeatPick,
        fan: UserId,
        now: Timestamp,
    ) -> Option<Vec<SeatIndex>> {
        let seats = self.seats.lock().expect("nothing panics under this lock");
        let sight = |seat: &SeatIndex| {
            let sight = seats.get(&(pick.schedule(), *seat))?;
            (now < sight.until).then_some((*seat, sight.hold.fan))
        };
        let blocked: Vec<(SeatIndex, UserId)> = pick.indexes().iter().filter_map(sight).collect();
        let is_refused = blocked.iter().any(|(_, holder)| *holder != fan);
        is_refused.then(|| blocked.into_iter().map(|(seat, _)| seat).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn fan(number: u128) -> UserId {
        UserId::new(Uuid::from_u128(number))
    }

    #[test]
    fn a_sight_counts_for_a_moment_and_never_past_the_hold() {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64));
        let pick = |seats: &[u32]| {
            let seats: Vec<_> = seats.iter().map(|seat| schedule.seat(*seat)).collect();
            SeatPick::new(schedule, &seats).unwrap()
        };
        let seen = Seen::default();
        let hold = |until| FilterHold { fan: fan(1), until: at(until) };
        seen.remember(schedule, [(&1, hold(9_000)), (&2, hold(150))].into_iter(), at(100));
        let refusal = |seats: &[u32], by, now| seen.refusal(&pick(seats), fan(by), at(now));
        assert_eq!(refusal(&[0, 1], 2, 299), Some(vec![1]));
        assert_eq!(refusal(&[0, 1], 2, 300), None, "it was too long ago");
        assert_eq!(refusal(&[2], 2, 149), Some(vec![2]));
        assert_eq!(refusal(&[2], 2, 150), None, "the hold is over");
        assert_eq!(refusal(&[1, 2], 1, 149), None, "both are the fan's own");
        assert_eq!(refusal(&[0], 2, 149), None);
        seen.forget(schedule, &[1]);
        assert_eq!(refusal(&[1], 2, 149), None, "it was released here");
    }
}

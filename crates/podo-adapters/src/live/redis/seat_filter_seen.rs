//! A short-lived cache of Redis's answers about seats. At an opening thousands of fans want the
//! same few seats: Redis refuses the first, and this cache those right behind.

use podo_app::cache::{Cache, Expiring};
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// The TTL: a release on another node is visible no later than this. One on this node is visible at
/// once.
const COUNTS_FOR: Duration = Duration::from_millis(200);

const SEATS_MAX: usize = 100_000;

pub(crate) struct RedisAnswers(Cache<(ScheduleId, SeatIndex), Expiring<FilterHold>>);

impl Default for RedisAnswers {
    fn default() -> RedisAnswers {
        RedisAnswers(Cache::of(SEATS_MAX))
    }
}

impl RedisAnswers {
    /// Caches holds for the TTL, and never past their end.
    pub(crate) fn remember<'a>(
        &self,
        schedule: ScheduleId,
        holds: impl Iterator<Item = (&'a SeatIndex, FilterHold)>,
        now: Timestamp,
    ) {
        for (seat, hold) in holds {
            let until = hold.until.min(now.plus(COUNTS_FOR));
            self.0.insert((schedule, *seat), Expiring { value: hold, until });
        }
    }

    pub(crate) fn forget(&self, schedule: ScheduleId, released: &[SeatIndex]) {
        for seat in released {
            self.0.remove(&(schedule, *seat));
        }
    }

    /// The taken seats of the pick; none if no seat was taken, or if the fan has all of them.
    pub(crate) fn refusal(
        &self,
        pick: &SeatPick,
        fan: UserId,
        now: Timestamp,
    ) -> Option<Vec<SeatIndex>> {
        let sight = |seat: &SeatIndex| {
            let hold = self.0.fresh(&(pick.schedule(), *seat), now)?;
            Some((*seat, hold.fan))
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
        let seen = RedisAnswers::default();
        let hold = |until| FilterHold { fan: fan(1), until: at(until) };
        seen.remember(schedule, [(&1, hold(9_000)), (&2, hold(150))].into_iter(), at(100));
        let refusal = |seats: &[u32], by, now| seen.refusal(&pick(seats), fan(by), at(now));
        assert_eq!(refusal(&[0, 1], 2, 299), Some(vec![1]));
        assert_eq!(refusal(&[0, 1], 2, 300), None, "it was too long ago");
        assert_eq!(refusal(&[2], 2, 149), Some(vec![2]));
        assert_eq!(refusal(&[2], 2, 150), None, "the hold is over");
        assert_eq!(refusal(&[1, 2], 1, 149), None, "the fan has both");
        assert_eq!(refusal(&[0], 2, 149), None);
        seen.forget(schedule, &[1]);
        assert_eq!(refusal(&[1], 2, 149), None, "it was released here");
    }
}

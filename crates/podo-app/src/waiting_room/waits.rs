//! Measures how long fans waited before they were admitted.
//!
//! Individual arrivals aren't stored: numbers grow with time, so one (number, time) pair per second
//! dates every number to the second.

use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{ScheduleId, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

const MARK_EVERY: Duration = Duration::from_secs(1);

/// One mark per second for a day; older numbers were admitted long ago.
const MARKS_MAX: usize = 86_400;

/// Upper bounds of the wait histogram, in seconds.
pub const WAIT_BUCKETS_S: [u64; 10] = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

type Marks = VecDeque<(PlaceNumber, Timestamp)>;

#[derive(Default)]
struct State {
    marks: HashMap<ScheduleId, Marks>,
    /// Waits not fetched yet, in seconds.
    fresh: Vec<f64>,
}

/// Limits the buffer in case it is never fetched.
const FRESH_MAX: usize = 100_000;

#[derive(Default)]
pub struct Waits {
    state: Mutex<State>,
}

impl Waits {
    /// Records that a fan received this number.
    pub fn note_arrival(&self, schedule: ScheduleId, number: PlaceNumber, now: Timestamp) {
        let mut state = self.state.lock().expect("the lock is never poisoned");
        let marks = state.marks.entry(schedule).or_default();
        let is_next =
            marks.back().is_none_or(|(last, at)| *last < number && at.plus(MARK_EVERY) <= now);
        if is_next {
            marks.push_back((number, now));
        }
        if marks.len() > MARKS_MAX {
            marks.pop_front();
        }
    }

    /// Records that these numbers were admitted. Numbers from before the process started aren't
    /// counted, because their arrival is unknown. Fans from the draw wait from the opening on.
    pub fn note_admissions(
        &self,
        schedule: ScheduleId,
        opened_at: Timestamp,
        numbers: impl Iterator<Item = PlaceNumber>,
        now: Timestamp,
    ) {
        let mut state = self.state.lock().expect("the lock is never poisoned");
        let State { marks, fresh } = &mut *state;
        let Some(marks) = marks.get(&schedule) else { return };
        for number in numbers {
            let after = marks.partition_point(|(first, _)| *first <= number);
            let Some((_, came_at)) = after.checked_sub(1).and_then(|at| marks.get(at)) else {
                continue;
            };
            if fresh.len() < FRESH_MAX {
                fresh.push(now.since((*came_at).max(opened_at)).as_secs_f64());
            }
        }
    }

    /// Returns and clears the recorded waits, in seconds.
    pub fn fetch(&self) -> Vec<f64> {
        std::mem::take(&mut self.state.lock().expect("the lock is never poisoned").fresh)
    }

    pub fn forget(&self, schedule: ScheduleId) {
        self.state.lock().expect("the lock is never poisoned").marks.remove(&schedule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_wait_is_known_to_the_second_without_keeping_who_came_when() {
        let waits = Waits::default();
        let schedule = ScheduleId::new(Uuid::nil());
        let at = |ms: i64| Timestamp::from_ms(1_900_000_000_000 + ms);
        for number in 0..10_000_u64 {
            waits.note_arrival(schedule, 100 + number, at(number as i64));
        }
        let marks = waits.state.lock().unwrap().marks[&schedule].len();
        assert_eq!(marks, 10, "one for each second");
        let numbers = [99, 100, 5_100, 10_099];
        waits.note_admissions(schedule, at(0), numbers.into_iter(), at(60_000));
        assert_eq!(waits.fetch(), [60.0, 55.0, 51.0], "the first is from before");
        assert!(waits.fetch().is_empty());
        waits.note_admissions(schedule, at(50_000), [100].into_iter(), at(60_000));
        assert_eq!(waits.fetch(), [10.0], "the lobby is not part of the wait");
    }
}

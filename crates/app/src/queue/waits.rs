//! How long fans waited before they were let in.
//!
//! Nobody's arrival is kept: numbers are given in the order of time, so one pair of number and time
//! for each second tells to the second when any number came.

use domain::queue::PlaceNumber;
use domain::{ScheduleId, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

const MARK_EVERY: Duration = Duration::from_secs(1);

/// A day of seconds; older numbers have been let in long ago.
const MARKS_MAX: usize = 86_400;

/// The upper ends of the lengths that waits are counted in, in seconds.
pub const WAIT_BUCKETS_S: [u64; 10] = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

type Marks = VecDeque<(PlaceNumber, Timestamp)>;

#[derive(Default)]
struct State {
    marks: HashMap<ScheduleId, Marks>,
    /// Waits to be fetched by whoever shows them, in seconds.
    fresh: Vec<f64>,
}

/// Waits that nobody fetches are not kept for ever.
const FRESH_MAX: usize = 100_000;

#[derive(Default)]
pub struct Waits {
    state: Mutex<State>,
}

impl Waits {
    /// A fan came and got this number.
    pub fn note_arrival(&self, schedule: ScheduleId, number: PlaceNumber, now: Timestamp) {
        let mut state = self.state.lock().expect("nothing panics under this lock");
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

    /// Fans with these numbers were let in. A number from before this process began is not counted:
    /// nobody knows when it came. Those who were drawn wait from the opening on.
    pub fn note_admissions(
        &self,
        (schedule, opened_at): (ScheduleId, Timestamp),
        numbers: impl Iterator<Item = PlaceNumber>,
        now: Timestamp,
    ) {
        let mut state = self.state.lock().expect("nothing panics under this lock");
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

    /// The waits noted since the last call, in seconds.
    pub fn fetch(&self) -> Vec<f64> {
        std::mem::take(&mut self.state.lock().expect("nothing panics under this lock").fresh)
    }

    pub fn forget(&self, schedule: ScheduleId) {
        self.state.lock().expect("nothing panics under this lock").marks.remove(&schedule);
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
        waits.note_admissions((schedule, at(0)), numbers.into_iter(), at(60_000));
        assert_eq!(waits.fetch(), [60.0, 55.0, 51.0], "the first is from before");
        assert!(waits.fetch().is_empty());
        waits.note_admissions((schedule, at(50_000)), [100].into_iter(), at(60_000));
        assert_eq!(waits.fetch(), [10.0], "the lobby is not part of the wait");
    }
}

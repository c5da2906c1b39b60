//! The terms of a date: what an organiser may still change once fans rely on them.

use crate::booking::seats::SEATS_PER_PICK_MAX;
use crate::catalog::ScheduleTimes;
use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Highest permitted limit of seats per person.
const SEATS_PER_PERSON_MAX: u32 = 50;

/// Longest delay before a canceled seat is sold again.
const RESALE_DELAY_MAX_S: u32 = 7 * 24 * 3_600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleTerms {
    pub times: ScheduleTimes,
    pub seats_per_person: u32,
    /// Most seats in one order.
    pub seats_per_order: u32,
    pub prices: BTreeMap<String, Won>,
    pub resale_delay: ResaleDelay,
}

/// How long seats of a canceled booking are withheld before they go on sale again: a random time
/// between the two, so that a seat can't be passed on by canceling it at an agreed moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResaleDelay {
    pub min_seconds: u32,
    pub max_seconds: u32,
}

impl ResaleDelay {
    pub fn check(&self) -> Result<(), Refusal> {
        let is_right =
            self.min_seconds <= self.max_seconds && self.max_seconds <= RESALE_DELAY_MAX_S;
        if is_right { Ok(()) } else { Err(Refusal::InvalidSchedule { field: "resaleDelay" }) }
    }

    /// When a seat returned now goes on sale again; `None` for immediately. `random` is any random
    /// number.
    pub fn back_at(&self, now: Timestamp, random: u64) -> Option<Timestamp> {
        if self.max_seconds == 0 {
            return None;
        }
        let (min_ms, max_ms) =
            (u64::from(self.min_seconds) * 1_000, u64::from(self.max_seconds) * 1_000);
        let length = min_ms + random % (max_ms - min_ms + 1);
        Some(now.plus(Duration::from_millis(length)))
    }
}

/// An organiser's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleChange {
    pub starts_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
    pub sale_starts_at: Option<Timestamp>,
    pub sale_ends_at: Option<Timestamp>,
    pub seats_per_person: Option<u32>,
    pub seats_per_order: Option<u32>,
    pub prices: Option<BTreeMap<String, Won>>,
    pub resale_delay: Option<ResaleDelay>,
}

impl ScheduleTerms {
    pub fn check(&self) -> Result<(), Refusal> {
        self.times.check()?;
        self.resale_delay.check()?;
        if !(1..=SEATS_PER_PERSON_MAX).contains(&self.seats_per_person) {
            return Err(Refusal::InvalidSchedule { field: "seatsPerPerson" });
        }
        if !is_order_size(self.seats_per_order) {
            return Err(Refusal::InvalidSchedule { field: "seatsPerOrder" });
        }
        Ok(())
    }

    /// Before the sale opens everything may change. After that fans rely on the opening, the prices
    /// and the seat limit; the end of the sale may move, but not into the past, where seats have
    /// already been held.
    pub fn change(
        &self,
        change: &ScheduleChange,
        now: Timestamp,
    ) -> Result<ScheduleTerms, Refusal> {
        let times = &self.times;
        let next = ScheduleTerms {
            times: ScheduleTimes {
                starts_at: change.starts_at.unwrap_or(times.starts_at),
                ends_at: change.ends_at.unwrap_or(times.ends_at),
                sale_starts_at: change.sale_starts_at.unwrap_or(times.sale_starts_at),
                sale_ends_at: change.sale_ends_at.unwrap_or(times.sale_ends_at),
            },
            seats_per_person: change.seats_per_person.unwrap_or(self.seats_per_person),
            seats_per_order: change.seats_per_order.unwrap_or(self.seats_per_order),
            prices: change.prices.clone().unwrap_or_else(|| self.prices.clone()),
            resale_delay: change.resale_delay.unwrap_or(self.resale_delay),
        };
        next.check()?;
        if now < times.sale_starts_at {
            return Ok(next);
        }
        let is_kept = next.times.sale_starts_at == times.sale_starts_at
            && next.prices == self.prices
            && self.seats_per_person <= next.seats_per_person
            && self.seats_per_order <= next.seats_per_order;
        let end = next.times.sale_ends_at;
        let ends_in_the_past = end != times.sale_ends_at && end < now;
        if !is_kept || ends_in_the_past {
            return Err(Refusal::SaleBegun);
        }
        Ok(next)
    }
}

/// Whether an organiser may permit orders of this size.
pub const fn is_order_size(n_seats: u32) -> bool {
    0 < n_seats && n_seats as usize <= SEATS_PER_PICK_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn terms() -> ScheduleTerms {
        ScheduleTerms {
            times: ScheduleTimes {
                starts_at: at(1_000),
                ends_at: at(2_000),
                sale_starts_at: at(100),
                sale_ends_at: at(900),
            },
            seats_per_person: 4,
            seats_per_order: 4,
            prices: BTreeMap::from([("R".to_owned(), Won::ZERO)]),
            resale_delay: ResaleDelay::default(),
        }
    }

    #[test]
    fn everything_may_change_before_the_opening() {
        let change = ScheduleChange {
            sale_starts_at: Some(at(200)),
            seats_per_person: Some(2),
            prices: Some(BTreeMap::new()),
            ..ScheduleChange::default()
        };
        let next = terms().change(&change, at(99)).unwrap();
        assert_eq!((next.times.sale_starts_at, next.seats_per_person), (at(200), 2));
        assert_eq!(terms().change(&change, at(100)), Err(Refusal::SaleBegun));
    }

    #[test]
    fn once_fans_rely_on_it_little_may_change() {
        let check = |change: ScheduleChange, is_allowed: bool| {
            assert_eq!(terms().change(&change, at(500)).is_ok(), is_allowed, "{change:?}");
        };
        let none = ScheduleChange::default;
        check(ScheduleChange { sale_ends_at: Some(at(600)), ..none() }, true);
        check(ScheduleChange { sale_ends_at: Some(at(499)), ..none() }, false);
        check(ScheduleChange { starts_at: Some(at(1_500)), ..none() }, true);
        check(ScheduleChange { seats_per_person: Some(5), ..none() }, true);
        check(ScheduleChange { seats_per_person: Some(3), ..none() }, false);
        check(ScheduleChange { seats_per_order: Some(10), ..none() }, true);
        check(ScheduleChange { seats_per_order: Some(3), ..none() }, false);
        check(ScheduleChange { sale_starts_at: Some(at(101)), ..none() }, false);
        let dearer = BTreeMap::from([("R".to_owned(), Won::PER_PAYMENT_MAX)]);
        check(ScheduleChange { prices: Some(dearer), ..none() }, false);
        let delay = ResaleDelay { min_seconds: 600, max_seconds: 3_600 };
        check(ScheduleChange { resale_delay: Some(delay), ..none() }, true);
        let wrong = ResaleDelay { min_seconds: 2, max_seconds: 1 };
        check(ScheduleChange { resale_delay: Some(wrong), ..none() }, false);
    }

    #[test]
    fn an_order_has_one_to_ten_seats() {
        for (size, is_right) in [(0, false), (1, true), (10, true), (11, false)] {
            let change = ScheduleChange { seats_per_order: Some(size), ..Default::default() };
            let wrong = Err(Refusal::InvalidSchedule { field: "seatsPerOrder" });
            let changed = terms().change(&change, at(0)).map(|next| next.seats_per_order);
            assert_eq!(changed, if is_right { Ok(size) } else { wrong });
        }
    }

    #[test]
    fn a_canceled_seat_rests_between_the_two_lengths() {
        let delay = ResaleDelay { min_seconds: 600, max_seconds: 3_600 };
        for random in [0, 1, 3_000_000, u64::MAX] {
            let back = delay.back_at(at(0), random).unwrap();
            assert!(at(600_000) <= back && back <= at(3_600_000), "{back:?}");
        }
        assert_eq!(ResaleDelay::default().back_at(at(0), 7), None);
    }
}

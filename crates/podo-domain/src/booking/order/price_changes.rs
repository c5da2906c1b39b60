//! Price changes of a date: from a moment on, free seats cost something else. Orders
//! keep the price at which their seats were held.

use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most changes of a date, past and planned.
const CHANGES_MAX: usize = 50;

/// The prices of all grades from a moment on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PriceChange {
    pub from: Timestamp,
    pub prices: BTreeMap<String, Won>,
}

/// The changes of a date, the earliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceChanges(Vec<PriceChange>);

impl PriceChanges {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn all(&self) -> &[PriceChange] {
        &self.0
    }

    /// The change in force; none if the date still has the prices that it was created with.
    pub fn current(&self, now: Timestamp) -> Option<&PriceChange> {
        self.0.iter().rev().find(|change| change.from <= now)
    }

    /// The change that comes next.
    pub fn next(&self, now: Timestamp) -> Option<&PriceChange> {
        self.0.iter().find(|change| now < change.from)
    }

    /// Adds a change that begins now or later.
    pub fn add(&self, change: PriceChange, now: Timestamp) -> Result<PriceChanges, Refusal> {
        let is_known = self.0.iter().any(|known| known.from == change.from);
        if change.from < now || is_known || CHANGES_MAX <= self.0.len() {
            return Err(Refusal::InvalidPriceChange { field: "from" });
        }
        let at = self.0.partition_point(|known| known.from < change.from);
        let mut changes = self.0.clone();
        changes.insert(at, change);
        Ok(PriceChanges(changes))
    }

    /// Withdraws a change that hasn't begun. One in force is part of what fans have paid.
    pub fn withdraw(&self, from: Timestamp, now: Timestamp) -> Result<PriceChanges, Refusal> {
        let is_planned = |change: &PriceChange| change.from == from;
        if !self.0.iter().any(is_planned) {
            return Err(Refusal::NotFound);
        }
        if from <= now {
            return Err(Refusal::PriceChangeBegun);
        }
        Ok(PriceChanges(self.0.iter().filter(|change| !is_planned(change)).cloned().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn change(from: i64, price: i64) -> PriceChange {
        let prices = [("R".to_owned(), Won::new(price).unwrap())].into();
        PriceChange { from: at(from), prices }
    }

    fn changes() -> PriceChanges {
        let later = PriceChanges::default().add(change(20, 200), at(5)).unwrap();
        later.add(change(10, 100), at(5)).unwrap()
    }

    #[test]
    fn each_change_is_in_force_from_its_moment_until_the_next() {
        let changes = changes();
        assert_eq!(changes.current(at(9)), None);
        assert_eq!(changes.current(at(10)), Some(&change(10, 100)));
        assert_eq!(changes.current(at(19)), Some(&change(10, 100)));
        assert_eq!(changes.current(at(20)), Some(&change(20, 200)));
        assert_eq!(changes.next(at(9)), Some(&change(10, 100)));
        assert_eq!(changes.next(at(10)), Some(&change(20, 200)));
        assert_eq!(changes.next(at(20)), None);
    }

    #[test]
    fn a_change_cannot_begin_in_the_past_or_twice_at_one_moment() {
        let refused = Err(Refusal::InvalidPriceChange { field: "from" });
        assert_eq!(changes().add(change(4, 1), at(5)), refused);
        assert_eq!(changes().add(change(20, 1), at(5)), refused);
        assert!(changes().add(change(5, 1), at(5)).is_ok(), "now is not the past");
    }

    #[test]
    fn a_date_has_no_more_than_fifty_changes() {
        let full = (0..50)
            .fold(PriceChanges::default(), |all, from| all.add(change(from, 1), at(0)).unwrap());
        let refused = Err(Refusal::InvalidPriceChange { field: "from" });
        assert_eq!(full.add(change(50, 1), at(0)), refused);
    }

    #[test]
    fn only_a_planned_change_is_withdrawn() {
        assert_eq!(changes().withdraw(at(10), at(10)), Err(Refusal::PriceChangeBegun));
        assert_eq!(changes().withdraw(at(11), at(9)), Err(Refusal::NotFound));
        let left = changes().withdraw(at(10), at(9)).unwrap();
        assert_eq!(left.all(), [change(20, 200)]);
    }
}

//! Differences between the seat filter and the store, and which of them count.

use crate::id::SeatIndex;
use crate::{Timestamp, UserId};
use std::collections::BTreeMap;
use std::time::Duration;

/// A difference must last this long to count: a new hold is in the filter before the store commits
/// it, and an ended one leaves the store before the filter.
pub const GRACE: Duration = Duration::from_secs(20);

/// A hold in the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterHold {
    pub fan: UserId,
    pub until: Timestamp,
}

/// The claim on a seat in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub fan: UserId,
    /// `None` while money may be moving: however long that takes.
    pub until: Option<Timestamp>,
}

impl Claim {
    fn matches(self, hold: FilterHold) -> bool {
        self.fan == hold.fan && self.until.is_none_or(|until| until == hold.until)
    }

    /// What the filter should contain.
    pub fn as_hold(self) -> FilterHold {
        FilterHold { fan: self.fan, until: self.until.unwrap_or(Timestamp::FAR_FUTURE) }
    }
}

/// One seat on which the two disagree. The store is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub seat: SeatIndex,
    pub filter: Option<FilterHold>,
    pub store: Option<Claim>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The filter doesn't know about the claim: losers of a race reach the store.
    Missing,
    /// The filter refuses a free seat, so it can't be sold.
    Orphaned,
    /// Both have a hold, but of another fan or until another time.
    Changed,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Missing, Kind::Orphaned, Kind::Changed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Missing => "missing",
            Kind::Orphaned => "orphaned",
            Kind::Changed => "changed",
        }
    }
}

impl Difference {
    pub fn kind(&self) -> Kind {
        match (self.filter, self.store) {
            (None, _) => Kind::Missing,
            (Some(_), None) => Kind::Orphaned,
            (Some(_), Some(_)) => Kind::Changed,
        }
    }
}

/// Compares the live holds of both sides.
pub fn compare(
    filter: &BTreeMap<SeatIndex, FilterHold>,
    store: &BTreeMap<SeatIndex, Claim>,
) -> Vec<Difference> {
    let unknown = store.iter().filter(|(seat, _)| !filter.contains_key(seat));
    let unknown = unknown.map(|(seat, claim)| (*seat, None, Some(*claim)));
    let known = filter.iter().map(|(seat, hold)| (*seat, Some(*hold), store.get(seat).copied()));
    let told = |filter: Option<FilterHold>, store: Option<Claim>| {
        filter.zip(store).is_some_and(|(hold, claim)| claim.matches(hold))
    };
    let differ = unknown.chain(known).filter(|(_, filter, store)| !told(*filter, *store));
    differ.map(|(seat, filter, store)| Difference { seat, filter, store }).collect()
}

/// Differences that were seen, and since when.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    since: BTreeMap<SeatIndex, (Difference, Timestamp)>,
}

impl Suspects {
    pub fn is_empty(&self) -> bool {
        self.since.is_empty()
    }

    /// Takes the differences of a new comparison; returns those that have been there, unchanged,
    /// for at least `grace`.
    pub fn confirm(
        &mut self,
        found: Vec<Difference>,
        grace: Duration,
        now: Timestamp,
    ) -> Vec<Difference> {
        let before = std::mem::take(&mut self.since);
        for difference in found {
            let known = before.get(&difference.seat).filter(|(known, _)| *known == difference);
            let since = known.map_or(now, |(_, since)| *since);
            self.since.insert(difference.seat, (difference, since));
        }
        let is_old = |since: Timestamp| since.plus(grace) <= now;
        let old = self.since.values().filter(|(_, since)| *since < now && is_old(*since));
        old.map(|(difference, _)| *difference).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn fan(number: u128) -> UserId {
        UserId::new(Uuid::from_u128(number))
    }

    fn hold(number: u128, until_ms: i64) -> FilterHold {
        FilterHold { fan: fan(number), until: Timestamp::from_ms(until_ms) }
    }

    fn claim(number: u128, until_ms: i64) -> Claim {
        Claim { fan: fan(number), until: Some(Timestamp::from_ms(until_ms)) }
    }

    fn kinds(filter: &[(u32, FilterHold)], store: &[(u32, Claim)]) -> Vec<(u32, Kind)> {
        let (filter, store) = (filter.iter().copied().collect(), store.iter().copied().collect());
        let mut found: Vec<_> =
            compare(&filter, &store).iter().map(|it| (it.seat, it.kind())).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn what_both_know_alike_is_no_difference() {
        let paying = Claim { fan: fan(2), until: None };
        let store = [(1, claim(1, 10)), (2, paying)];
        assert_eq!(kinds(&[(1, hold(1, 10)), (2, hold(2, 7))], &store), []);
    }

    #[test]
    fn each_way_to_disagree_has_its_name() {
        let filter = [(1, hold(1, 10)), (2, hold(2, 10)), (4, hold(4, 9))];
        let store = [(2, claim(3, 10)), (3, claim(3, 10)), (4, claim(4, 10))];
        let expected =
            [(1, Kind::Orphaned), (2, Kind::Changed), (3, Kind::Missing), (4, Kind::Changed)];
        assert_eq!(kinds(&filter, &store), expected);
    }

    #[test]
    fn a_difference_counts_when_it_stays_and_only_then() {
        let orphan = |until| Difference { seat: 1, filter: Some(hold(1, until)), store: None };
        let at = |s: u64| Timestamp::from_ms(0).plus(Duration::from_secs(s));
        let mut suspects = Suspects::default();
        let mut look = |found: &[Difference], s| suspects.confirm(found.to_vec(), GRACE, at(s));
        assert_eq!(look(&[orphan(5)], 0), []);
        assert_eq!(look(&[orphan(5)], 19), [], "younger than the grace");
        assert_eq!(look(&[orphan(5)], 20), [orphan(5)]);
        assert_eq!(look(&[orphan(6)], 40), [], "another hold of the seat starts anew");
        assert_eq!(look(&[], 50), []);
        assert_eq!(look(&[orphan(6)], 70), [], "what was gone in between starts anew");
    }

    #[test]
    fn one_look_is_never_enough() {
        let orphan = Difference { seat: 1, filter: Some(hold(1, 5)), store: None };
        let mut suspects = Suspects::default();
        let now = Timestamp::from_ms(0);
        assert_eq!(suspects.confirm(vec![orphan], Duration::ZERO, now), []);
        assert_eq!(suspects.confirm(vec![orphan], Duration::ZERO, now), []);
    }
}

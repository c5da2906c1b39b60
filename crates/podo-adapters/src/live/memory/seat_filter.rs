//! The seat filter in memory: a map per schedule, at most one hold per seat.

use crate::live::memory::schedules::Schedules;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::booking::port::seat_filter;
use podo_app::booking::port::seat_filter::{Correction, Taken};
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::{BTreeMap, HashMap};

#[derive(Default)]
pub struct SeatFilter {
    schedules: Schedules<Seats>,
}

/// Expired holds stay until the seat is taken again; there are never more than seats.
#[derive(Default)]
struct Seats {
    holds: HashMap<SeatIndex, FilterHold>,
}

impl Seats {
    fn take(&mut self, pick: &SeatPick, hold: FilterHold, now: Timestamp) -> Taken {
        let blocked = self.blocked(pick, now);
        if blocked.is_empty() {
            self.holds.extend(pick.indexes().iter().map(|seat| (*seat, hold)));
            return Taken::Yes;
        }
        let by_self = self.are_all_held_by(&blocked, hold.fan);
        Taken::Blocked { seats: blocked, by_self }
    }

    fn blocked(&self, pick: &SeatPick, now: Timestamp) -> Vec<SeatIndex> {
        let live = |seat: &&SeatIndex| self.live(**seat, now).is_some();
        pick.indexes().iter().filter(live).copied().collect()
    }

    fn are_all_held_by(&self, seats: &[SeatIndex], fan: UserId) -> bool {
        seats.iter().all(|seat| self.is_held_by(*seat, fan))
    }

    fn release(&mut self, seats: &[SeatIndex], fan: UserId) {
        for seat in seats {
            if self.is_held_by(*seat, fan) {
                self.holds.remove(seat);
            }
        }
    }

    fn live(&self, seat: SeatIndex, now: Timestamp) -> Option<FilterHold> {
        self.holds.get(&seat).filter(|hold| now < hold.until).copied()
    }

    /// Whether the seat's hold was still the one seen.
    fn correct(&mut self, correction: &Correction, now: Timestamp) -> bool {
        let Correction { seat, seen, right } = *correction;
        if self.live(seat, now) != seen {
            return false;
        }
        match right {
            Some(hold) => self.holds.insert(seat, hold),
            None => self.holds.remove(&seat),
        };
        true
    }

    fn is_held_by(&self, seat: SeatIndex, fan: UserId) -> bool {
        self.holds.get(&seat).is_some_and(|hold| hold.fan == fan)
    }
}

#[async_trait]
impl seat_filter::SeatFilter for SeatFilter {
    fn cached_refusal(
        &self,
        pick: &SeatPick,
        fan: UserId,
        now: Timestamp,
    ) -> Option<Vec<SeatIndex>> {
        let looked = self.schedules.with_known(pick.schedule(), |seats| {
            let blocked = seats.blocked(pick, now);
            (!seats.are_all_held_by(&blocked, fan)).then_some(blocked)
        });
        looked.ok().flatten().flatten()
    }

    async fn take(
        &self,
        pick: &SeatPick,
        fan: UserId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Taken> {
        let hold = FilterHold { fan, until };
        self.schedules.with(pick.schedule(), Seats::default, |seats| seats.take(pick, hold, now))
    }

    async fn keep(
        &self,
        schedule: ScheduleId,
        seats: &[SeatIndex],
        fan: UserId,
        until: Timestamp,
    ) -> Result<()> {
        let hold = FilterHold { fan, until };
        self.schedules.with(schedule, Seats::default, |known| {
            known.holds.extend(seats.iter().map(|seat| (*seat, hold)));
        })
    }

    async fn release(&self, schedule: ScheduleId, seats: &[SeatIndex], fan: UserId) -> Result<()> {
        self.schedules.with_known(schedule, |known| known.release(seats, fan))?;
        Ok(())
    }

    async fn known(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, FilterHold>> {
        let known = self.schedules.with_known(schedule, |seats| {
            let seats = &*seats;
            let live = |seat: &SeatIndex| Some((*seat, seats.live(*seat, now)?));
            seats.holds.keys().filter_map(live).collect()
        })?;
        Ok(known.unwrap_or_default())
    }

    async fn correct(
        &self,
        schedule: ScheduleId,
        corrections: &[Correction],
        now: Timestamp,
    ) -> Result<u64> {
        self.schedules.with(schedule, Seats::default, |seats| {
            corrections.iter().map(|correction| u64::from(seats.correct(correction, now))).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_the_contract() {
        seat_filter::contract::check(
            &SeatFilter::default(),
            1,
            Timestamp::from_ms(1_900_000_000_000),
        )
        .await;
    }
}

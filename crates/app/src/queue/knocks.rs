//! How often each fan asks. Whoever asks far faster than they are told to is put off; the place is
//! kept in any case.

use domain::{ScheduleId, Timestamp, UserId};
use std::sync::atomic::{AtomicU64, Ordering};

/// Two questions a second for a while, and a burst of twenty: several tabs and devices of one fan
/// together stay far below, since each is told to ask every two seconds at most.
const EVERY_MS: u64 = 500;
const BURST: u64 = 20;

/// One word per slot: sixteen bits that tell fans apart, and the moment until which the questions so
/// far are paid for. Two fans who share a slot forget each other's count; nobody is put off for
/// another's questions.
const SLOTS: usize = 1 << 16;
const MS_BITS: u32 = 48;

pub struct Knocks {
    slots: Box<[AtomicU64]>,
}

impl Default for Knocks {
    fn default() -> Knocks {
        Knocks::with_slots(SLOTS)
    }
}

impl Knocks {
    /// For as many fans at once as there are slots, a power of two.
    pub fn with_slots(n_slots: usize) -> Knocks {
        Knocks { slots: (0..n_slots).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Counts one question. No lock, no memory of its own. `Err` says in how many seconds the next
    /// is welcome; a question that is put off costs nothing.
    pub fn take(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<(), u64> {
        let mixed = mix(schedule.uuid().as_u128() ^ fan.uuid().as_u128().rotate_left(64));
        let slot = &self.slots[(mixed as usize) & (self.slots.len() - 1)];
        let tag = mixed >> MS_BITS;
        let now = u64::try_from(now.ms()).unwrap_or(0);
        let before = slot.load(Ordering::Relaxed);
        let is_same = before >> MS_BITS == tag;
        let paid_until = if is_same { before & ((1 << MS_BITS) - 1) } else { 0 };
        // A clock that was set back by far starts anew.
        let is_possible = paid_until <= now + EVERY_MS * (BURST + 1);
        let paid_until = if is_possible { paid_until.max(now) } else { now };
        if paid_until > now + EVERY_MS * (BURST - 1) {
            let wait_ms = paid_until - now - EVERY_MS * (BURST - 1);
            return Err(wait_ms.div_ceil(1_000));
        }
        // Two questions at the same moment may count as one.
        slot.store((tag << MS_BITS) | (paid_until + EVERY_MS), Ordering::Relaxed);
        Ok(())
    }
}

/// Spreads ids over the slots: the ids of one day begin alike.
fn mix(id: u128) -> u64 {
    let folded = (id ^ (id >> 64)) as u64;
    let folded = (folded ^ (folded >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let folded = (folded ^ (folded >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    folded ^ (folded >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const START: i64 = 1_900_000_000_000;

    fn knock(knocks: &Knocks, fan: u128, ms: i64) -> Result<(), u64> {
        let schedule = ScheduleId::new(Uuid::from_u128(7 << 64));
        knocks.take(schedule, UserId::new(Uuid::from_u128(fan)), Timestamp::from_ms(START + ms))
    }

    #[test]
    fn whoever_asks_when_told_is_never_put_off() {
        let knocks = Knocks::default();
        for tab in 0..3 {
            assert_eq!((0..500).find(|poll| knock(&knocks, 1, poll * 1_600 + tab).is_err()), None);
        }
    }

    #[test]
    fn a_burst_passes_and_then_two_a_second() {
        let knocks = Knocks::default();
        let n_passed = (0..1_000).filter(|_| knock(&knocks, 1, 0).is_ok()).count();
        assert_eq!(n_passed, 20);
        let n_passed = (0..10_000).filter(|ms| knock(&knocks, 1, *ms).is_ok()).count();
        assert_eq!(n_passed, 19, "in ten seconds; the knocking itself costs nothing");
        assert_eq!(knock(&knocks, 2, 9_999), Ok(()), "others are not disturbed");
    }

    #[test]
    fn the_wait_that_is_told_is_long_enough() {
        let knocks = Knocks::default();
        let wait_s = (0..100).find_map(|_| knock(&knocks, 1, 0).err()).unwrap();
        assert_eq!(wait_s, 1);
        assert_eq!(knock(&knocks, 1, 1_000), Ok(()));
    }

    #[test]
    fn a_clock_set_back_locks_nobody_out() {
        let knocks = Knocks::default();
        let n_passed = (0..100).filter(|_| knock(&knocks, 1, 3_600_000).is_ok()).count();
        assert_eq!(n_passed, 20);
        assert_eq!(knock(&knocks, 1, 0), Ok(()));
    }
}

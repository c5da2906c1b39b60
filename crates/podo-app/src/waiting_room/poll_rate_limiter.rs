//! Rate limits the polls of each fan. A fan over the limit keeps their place.

use podo_domain::{ScheduleId, Timestamp, UserId};
use std::sync::atomic::{AtomicU64, Ordering};

/// Two polls a second with a burst of twenty. Several tabs and devices of one fan stay far below,
/// because clients poll every two seconds at most.
const EVERY_MS: u64 = 500;
const BURST: u64 = 20;

/// One word per slot: a 16-bit tag that tells fans apart, and the moment until which the polls so
/// far are paid for. Two fans who share a slot overwrite each other's count; they never consume
/// each other's budget.
const SLOTS: usize = 1 << 16;
const MS_BITS: u32 = 48;

pub struct PollRateLimiter {
    slots: Box<[AtomicU64]>,
}

impl Default for PollRateLimiter {
    fn default() -> PollRateLimiter {
        PollRateLimiter::with_slots(SLOTS)
    }
}

impl PollRateLimiter {
    /// `n_slots` is a power of two: the number of fans who can be tracked at once.
    pub fn with_slots(n_slots: usize) -> PollRateLimiter {
        PollRateLimiter { slots: (0..n_slots).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Counts one poll, without locks or allocation. `Err` is the number of seconds to wait; a
    /// rejected poll isn't counted.
    pub fn take(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<(), u64> {
        let mixed = mix(schedule.uuid().as_u128() ^ fan.uuid().as_u128().rotate_left(64));
        let slot = &self.slots[(mixed as usize) & (self.slots.len() - 1)];
        let tag = mixed >> MS_BITS;
        let now = u64::try_from(now.ms()).unwrap_or(0);
        let before = slot.load(Ordering::Relaxed);
        let is_same = before >> MS_BITS == tag;
        let paid_until = if is_same { before & ((1 << MS_BITS) - 1) } else { 0 };
        // If the clock was set back far, start anew.
        let is_possible = paid_until <= now + EVERY_MS * (BURST + 1);
        let paid_until = if is_possible { paid_until.max(now) } else { now };
        if paid_until > now + EVERY_MS * (BURST - 1) {
            let wait_ms = paid_until - now - EVERY_MS * (BURST - 1);
            return Err(wait_ms.div_ceil(1_000));
        }
        // Two simultaneous polls may count as one.
        slot.store((tag << MS_BITS) | (paid_until + EVERY_MS), Ordering::Relaxed);
        Ok(())
    }
}

/// Spreads ids over the slots: ids of one day share a prefix.
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

    fn poll_at(poll_rate_limiter: &PollRateLimiter, fan: u128, ms: i64) -> Result<(), u64> {
        let schedule = ScheduleId::new(Uuid::from_u128(7 << 64));
        poll_rate_limiter.take(
            schedule,
            UserId::new(Uuid::from_u128(fan)),
            Timestamp::from_ms(START + ms),
        )
    }

    #[test]
    fn a_fan_who_polls_on_schedule_is_never_limited() {
        let poll_rate_limiter = PollRateLimiter::default();
        for tab in 0..3 {
            assert_eq!(
                (0..500).find(|poll| poll_at(&poll_rate_limiter, 1, poll * 1_600 + tab).is_err()),
                None
            );
        }
    }

    #[test]
    fn a_burst_passes_and_then_two_a_second() {
        let poll_rate_limiter = PollRateLimiter::default();
        let n_passed = (0..1_000).filter(|_| poll_at(&poll_rate_limiter, 1, 0).is_ok()).count();
        assert_eq!(n_passed, 20);
        let n_passed = (0..10_000).filter(|ms| poll_at(&poll_rate_limiter, 1, *ms).is_ok()).count();
        assert_eq!(n_passed, 19, "in ten seconds; rejected polls cost nothing");
        assert_eq!(poll_at(&poll_rate_limiter, 2, 9_999), Ok(()), "others are not disturbed");
    }

    #[test]
    fn the_announced_wait_is_long_enough() {
        let poll_rate_limiter = PollRateLimiter::default();
        let wait_s = (0..100).find_map(|_| poll_at(&poll_rate_limiter, 1, 0).err()).unwrap();
        assert_eq!(wait_s, 1);
        assert_eq!(poll_at(&poll_rate_limiter, 1, 1_000), Ok(()));
    }

    #[test]
    fn a_clock_that_is_set_back_locks_no_fan_out() {
        let poll_rate_limiter = PollRateLimiter::default();
        let n_passed =
            (0..100).filter(|_| poll_at(&poll_rate_limiter, 1, 3_600_000).is_ok()).count();
        assert_eq!(n_passed, 20);
        assert_eq!(poll_at(&poll_rate_limiter, 1, 0), Ok(()));
    }
}

//! Deliveries to webhook endpoints: how often they are tried, and what an answer means.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The pauses between attempts, as Standard Webhooks proposes them: three days in total.
const PAUSES_S: [u64; 9] =
    [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Delivered,
    Again(Duration),
    /// It was the last attempt, after three days without success.
    GiveUp,
    /// The endpoint wants no more messages.
    Disable,
}

/// `attempts` includes the latest one; no status means no answer. Redirects aren't followed,
/// because they would bypass the check of the address.
pub fn after(attempts: u32, status: Option<u16>) -> Next {
    match status {
        Some(200..=299) => return Next::Delivered,
        Some(410) => return Next::Disable,
        Some(_) | None => {}
    }
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES_S.get(index).map_or(Next::GiveUp, |pause| Next::Again(Duration::from_secs(*pause)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_is_a_delivery() {
        assert_eq!(after(1, Some(204)), Next::Delivered);
        for status in [None, Some(301), Some(404), Some(500)] {
            assert_eq!(after(1, status), Next::Again(Duration::from_secs(5)), "{status:?}");
        }
        assert_eq!(after(1, Some(410)), Next::Disable);
    }

    #[test]
    fn tries_slow_down_and_end_after_three_days() {
        let mut total = Duration::ZERO;
        for attempts in 1..=9 {
            let Next::Again(pause) = after(attempts, None) else { panic!("{attempts}") };
            total += pause;
        }
        assert!(total > Duration::from_secs(3 * 24 * 3_600), "{total:?}");
        assert_eq!(after(10, None), Next::GiveUp);
    }
}

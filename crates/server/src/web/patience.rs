//! How long clients may take.

use crate::config::Config;
use std::time::Duration;

/// From the settings.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To begin a request, and from its first byte to the end of its headers.
    pub header: Duration,
    /// From the first byte of a request to the last one of its body.
    pub request: Duration,
    /// A connection of HTTP/2 on which nothing is asked.
    pub idle: Duration,
    /// A client that takes nothing of its answer.
    pub send_stall: Duration,
}

/// Bytes a second that a client takes at least of an answer whose length is known.
const SEND_RATE_MIN: u64 = 8 * 1_024;

impl Patience {
    pub fn of(config: &Config) -> Patience {
        let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds));
        Patience {
            header: seconds(config.header_seconds),
            request: seconds(config.request_seconds),
            idle: seconds(config.idle_seconds),
            send_stall: seconds(config.send_stall_seconds),
        }
    }

    /// When a client that has taken so much `since` must have taken more: it neither stands still nor
    /// takes a byte now and then. A stream has no length; it only must not stand still.
    pub(super) fn take_more_by(&self, now: Duration, taken: &Taken) -> Duration {
        let still = now + self.send_stall;
        match taken.is_stream {
            true => still,
            false => {
                let slowest = Duration::from_secs(taken.n_bytes / SEND_RATE_MIN);
                still.min(taken.since + self.send_stall + slowest)
            }
        }
    }
}

/// What a client has taken of an answer. Times are since the connection began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) since: Duration,
    pub(super) n_bytes: u64,
    pub(super) is_stream: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const PATIENCE: Patience =
        Patience { header: s(1), request: s(1), idle: s(1), send_stall: s(20) };

    #[test]
    fn who_takes_nothing_has_the_time_of_a_stall() {
        let taken = Taken { since: s(100), n_bytes: 0, is_stream: false };
        assert_eq!(PATIENCE.take_more_by(s(100), &taken), s(120));
    }

    #[test]
    fn a_byte_now_and_then_is_not_enough() {
        let taken = Taken { since: s(100), n_bytes: 19, is_stream: false };
        assert_eq!(PATIENCE.take_more_by(s(119), &taken), s(120));
        let quick = Taken { n_bytes: 80 * 1_024, ..taken };
        assert_eq!(PATIENCE.take_more_by(s(119), &quick), s(130));
    }

    #[test]
    fn who_was_quick_at_first_must_not_stand_still_later() {
        let taken = Taken { since: s(100), n_bytes: 800 * 1_024, is_stream: false };
        assert_eq!(PATIENCE.take_more_by(s(101), &taken), s(121));
    }

    #[test]
    fn a_stream_may_go_on_for_days() {
        let taken = Taken { since: s(100), n_bytes: 1_000, is_stream: true };
        assert_eq!(PATIENCE.take_more_by(s(99_000), &taken), s(99_020));
    }
}

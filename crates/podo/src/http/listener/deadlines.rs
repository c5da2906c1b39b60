//! Deadlines for clients.

use crate::config::Config;
use std::time::Duration;

/// From the settings.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To start a request, and from its first byte to the end of its headers.
    pub header: Duration,
    /// From the first byte of a request to the last byte of its body.
    pub request: Duration,
    /// How long an HTTP/2 connection may stay open without a request.
    pub idle: Duration,
    /// How long a client may read nothing of its response.
    pub send_stall: Duration,
}

/// Least rate in bytes per second at which a client reads a response of known length.
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

    /// When the client must have read more: it may neither stall nor trickle. A stream has no
    /// length, so it only must not stall.
    pub(crate) fn take_more_by(&self, now: Duration, taken: &Taken) -> Duration {
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

/// What a client has read of a response. Times count from the start of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) since: Duration,
    pub(crate) n_bytes: u64,
    pub(crate) is_stream: bool,
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

//! The crowd of one on-sale, as flows instead of individuals.

use crate::capacity::Costs;
use podo_domain::waiting_room::poll_after_ms;

/// The share of the crowd that arrives before the opening, and over how long.
const EARLY: f64 = 0.7;
const LOBBY_S: u64 = 600;

/// The half-life of late arrivals.
const LATE_HALF_S: f64 = 120.0;

/// How long an admitted fan stays, and what they do. Of ten, eight buy two seats; every second
/// attempt hits a taken seat.
const STAY_S: f64 = 60.0;
const LOOKS: f64 = 10.0;
const LOST_ATTEMPTS: f64 = 1.0;
const BUYERS: f64 = 0.8;
const SEATS_EACH: f64 = 2.0;

/// The store's target utilisation.
const STORE_BUSY: f64 = 0.5;

/// The maximum simulated time.
const LONGEST_S: u64 = 6 * 3_600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    pub fans: u32,
    pub seats: u32,
}

/// The events of one second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Second {
    pub enters: f64,
    pub polls: f64,
    pub looks: f64,
    pub attempts: f64,
    pub holds: f64,
    pub purchases: f64,
    pub waiting: f64,
}

#[derive(Clone, Debug)]
pub struct Course {
    pub seconds: Vec<Second>,
    pub admit_per_second: u32,
    pub inside_at_most: f64,
    pub sold_out_after_s: Option<u64>,
    pub last_let_in_after_s: u64,
}

impl Day {
    /// From the opening of the lobby until every fan is admitted or everything is sold.
    pub fn play(&self, costs: &Costs) -> Course {
        // Admits as many fans as the store can sell to.
        let rate = (costs.store_purchases_per_second * STORE_BUSY / BUYERS).floor();
        let (fans, mut left) = (f64::from(self.fans), f64::from(self.seats));
        let mut seconds = lobby(fans * EARLY, rate);
        let mut waiting = fans * EARLY;
        let (mut sold_out_after_s, mut last_let_in_after_s) = (None, 0);
        for since in 0..LONGEST_S {
            let enters = late(fans, since);
            waiting += enters;
            let admitted = waiting.min(rate);
            waiting -= admitted;
            let holds = (admitted * BUYERS).min(left / SEATS_EACH);
            left -= holds * SEATS_EACH;
            let lost = if left > 0.0 { admitted * LOST_ATTEMPTS } else { admitted * 2.0 };
            seconds.push(Second {
                enters,
                polls: polls_per_second(waiting, rate),
                looks: admitted * LOOKS,
                attempts: lost,
                holds,
                purchases: holds,
                waiting,
            });
            if left < SEATS_EACH && sold_out_after_s.is_none() {
                sold_out_after_s = Some(since);
            }
            if waiting < 1.0 && late(fans, since) < 1.0 {
                last_let_in_after_s = since;
                break;
            }
        }
        Course {
            seconds,
            admit_per_second: rate as u32,
            inside_at_most: (rate * STAY_S).min(fans),
            sold_out_after_s,
            last_let_in_after_s,
        }
    }
}

/// Fans arrive evenly, and those present poll.
fn lobby(fans: f64, admit_per_second: f64) -> Vec<Second> {
    let each = fans / LOBBY_S as f64;
    let second = |at: u64| {
        let waiting = each * at as f64;
        Second {
            enters: each,
            polls: polls_per_second(waiting, admit_per_second),
            waiting,
            ..Second::default()
        }
    };
    (1..=LOBBY_S).map(second).collect()
}

/// Arrivals in this second after the opening.
fn late(fans: f64, since_s: u64) -> f64 {
    let share = |at: f64| 1.0 - 0.5_f64.powf(at / LATE_HALF_S);
    fans * (1.0 - EARLY) * (share(since_s as f64 + 1.0) - share(since_s as f64))
}

/// Polls per second of a line of this length, by the platform's poll intervals.
fn polls_per_second(waiting: f64, admit_per_second: f64) -> f64 {
    /// The line is split into this many pieces, each with the interval of its middle.
    const PIECES: u32 = 1_000;
    let piece = waiting / f64::from(PIECES);
    let rate = |nth: u32| {
        let ahead = (f64::from(nth) + 0.5) * piece;
        // Random jitter spreads the intervals by a fifth both ways: the middle is the mean.
        let middle =
            (f64::from(poll_after_ms(ahead as u64, admit_per_second as u32, 0)) / 0.8).max(1.0);
        piece * 1_000.0 / middle
    };
    (0..PIECES).map(rate).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_comes_and_no_seat_is_sold_twice() {
        let day = Day { fans: 100_000, seats: 20_000 };
        let course = day.play(&Costs::default());
        let came: f64 = course.seconds.iter().map(|it| it.enters).sum();
        assert!((99_000.0..=100_000.0).contains(&came), "{came}");
        let bought: f64 = course.seconds.iter().map(|it| it.purchases).sum();
        assert!((9_999.0..=10_000.0).contains(&bought), "{bought}");
        assert!(course.sold_out_after_s.is_some_and(|at| at < course.last_let_in_after_s));
    }

    #[test]
    fn a_long_line_asks_every_forty_five_seconds() {
        let rate = polls_per_second(1_000_000.0, 500.0);
        assert!((22_000.0..25_000.0).contains(&rate), "{rate}");
        let rate = polls_per_second(20_000.0, 500.0);
        assert!((1_300.0..2_500.0).contains(&rate), "{rate}: fifteen, and less near the front");
        assert!(polls_per_second(10.0, 500.0) > 4.0, "two seconds near the front");
    }
}

//! What a waiting fan is told: how long it may take, and when to ask again.

const POLL_NEAR_MS: u64 = 2_000;
const POLL_FAR_MS: u64 = 15_000;

/// Each fan ahead adds this much, so that the far end of the line begins at 6,500 fans.
const POLL_PER_FAN_MS: u64 = 2;

/// When to ask again: 2 s near the front, 15 s far back, give or take a fifth by `chance`, so
/// that fans who came together do not ask together.
pub fn poll_after_ms(ahead: u64, chance: u64) -> u32 {
    let middle =
        ahead.saturating_mul(POLL_PER_FAN_MS).saturating_add(POLL_NEAR_MS).min(POLL_FAR_MS);
    let fifth = middle / 5;
    let ms = middle - fifth + chance % (2 * fifth + 1);
    u32::try_from(ms).expect("at most a fifth above 15,000")
}

/// How long a wait may take, in seconds, rounded as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub seconds: u32,
    pub low: u32,
    pub high: u32,
}

/// The wait at the measured outflow; nothing when nobody has been let in lately. The range is
/// wider upwards: fans who stay longer than expected are more common than sudden exits.
pub fn estimate_wait(ahead: u64, admitted_per_second: f64) -> Option<Estimate> {
    if !(admitted_per_second.is_finite() && admitted_per_second > 0.0) {
        return None;
    }
    let exact = (ahead as f64 + 1.0) / admitted_per_second;
    Some(Estimate {
        seconds: round_up(exact),
        low: round_down(exact * 0.75),
        high: round_up(exact * 1.5),
    })
}

/// The step people round to at this length: nobody believes "17 minutes and 3 seconds".
fn step(seconds: u32) -> u32 {
    match seconds {
        0..60 => 5,
        60..600 => 30,
        600..3_600 => 60,
        3_600.. => 300,
    }
}

fn round_down(seconds: f64) -> u32 {
    // A conversion from a float stops at the ends of the range.
    let whole = seconds as u32;
    whole - whole % step(whole)
}

fn round_up(seconds: f64) -> u32 {
    let whole = seconds.ceil() as u32;
    whole.checked_next_multiple_of(step(whole)).unwrap_or(u32::MAX)
}

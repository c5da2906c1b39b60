//! What a waiting fan learns: the estimated wait, and when to poll again.

use std::time::Duration;

const POLL_NEAR_MS: u64 = 2_000;
const POLL_FAR_MS: u64 = 15_000;

/// Each fan ahead adds this much, so that the usual longest interval is reached at 6,500 fans.
const POLL_PER_FAN_MS: u64 = 2;

/// Behind this many fans the usual interval is the longest.
pub const FAR_BACK: u64 = POLL_FAR_MS / POLL_PER_FAN_MS;

/// Behind more fans than this the interval grows further, because a million fans who poll every
/// 15 seconds are 67,000 requests a second. An admitted fan has to appear within `CLAIM_WINDOW`,
/// which is longer.
const CROWD: u64 = 20_000;
const POLL_IN_CROWD_MS: u64 = 45_000;

/// The polling interval: 2 s near the front, 15 s far back, ± 20 % at random, so that fans who
/// arrived together don't poll together. In a crowd it is up to 45 s, but at most a quarter of the
/// shortest possible wait: no fan can be admitted, or passed after the engine lost the room, before
/// they poll again.
pub fn poll_after_ms(ahead: u64, admit_per_second: u32, random: u64) -> u32 {
    let usual = ahead.saturating_mul(POLL_PER_FAN_MS).saturating_add(POLL_NEAR_MS).min(POLL_FAR_MS);
    if ahead <= CROWD {
        return around(usual, random);
    }
    let shortest_wait_ms = ahead.saturating_mul(1_000) / u64::from(admit_per_second.max(1));
    around(usual.max((shortest_wait_ms / 4).min(POLL_IN_CROWD_MS)), random)
}

/// The opening brings every fan of the lobby back. A crowd spreads over up to 20 seconds, 50,000
/// fans each second.
const LOBBY_FANS_PER_MS: u64 = 50;

/// The polling interval in the lobby: nothing changes there before the opening, but every fan has
/// to poll soon after it.
pub fn lobby_poll_after_ms(
    n_gathered: u64,
    admit_per_second: u32,
    until_open: Duration,
    random: u64,
) -> u32 {
    let usual = poll_after_ms(n_gathered.max(FAR_BACK), admit_per_second, random);
    let spread = (n_gathered / LOBBY_FANS_PER_MS).clamp(1_000, 20_000);
    let until_open = u32::try_from(until_open.as_millis()).unwrap_or(u32::MAX);
    usual.min(until_open.saturating_add((random % spread) as u32).max(500))
}

const TELL_NEAR_MS: u64 = 500;
const TELL_FAR_MS: u64 = 5_000;

/// The interval of a stream's updates: half a second near the front, five far back, ± 20 %.
pub fn tell_after_ms(ahead: u64, random: u64) -> u32 {
    around(ahead.saturating_add(TELL_NEAR_MS).min(TELL_FAR_MS), random)
}

/// The length ± 20 % at random.
fn around(ms: u64, random: u64) -> u32 {
    let fifth = ms / 5;
    u32::try_from(ms - fifth + random % (2 * fifth + 1))
        .expect("an interval of seconds fits into u32")
}

/// How likely it is that seats are left when a fan is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Outlook {
    Good,
    Fair,
    /// Fewer seats than people, or only seats that are held just now.
    Slim,
    /// Everything is sold.
    None,
}

/// Two seats are a typical purchase, so two per fan up to this one are a good chance, and one is a
/// fair one.
pub fn outlook(ahead: u64, n_available: u32, n_held: u32) -> Outlook {
    let (n_fans, n_available) = (ahead.saturating_add(1), u64::from(n_available));
    match n_available {
        0 if n_held == 0 => Outlook::None,
        _ if n_fans.saturating_mul(2) <= n_available => Outlook::Good,
        _ if n_fans <= n_available => Outlook::Fair,
        _ => Outlook::Slim,
    }
}

/// The estimated wait in seconds, rounded for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub seconds: u32,
    pub low: u32,
    pub high: u32,
}

/// The wait at the measured outflow; `None` if no fan has been admitted recently. The range is
/// wider upwards, because fans who stay longer than expected are more common than sudden exits.
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

/// The rounding step at this length; a false precision like "17 minutes and 3 seconds" isn't
/// credible.
fn step(seconds: u32) -> u32 {
    match seconds {
        0..60 => 5,
        60..600 => 30,
        600..3_600 => 60,
        3_600.. => 300,
    }
}

fn round_down(seconds: f64) -> u32 {
    // Float casts saturate.
    let whole = seconds as u32;
    whole - whole % step(whole)
}

fn round_up(seconds: f64) -> u32 {
    let whole = seconds.ceil() as u32;
    whole.checked_next_multiple_of(step(whole)).unwrap_or(u32::MAX)
}

//! The kind of sale that a seed runs.

use crate::cluster::N_NODES;
use crate::rng::Rng;
use podo_adapters::gateways::sandbox::Choice;
use std::time::Duration;

/// Percentages unless the name says otherwise.
#[derive(Clone, Debug)]
pub(crate) struct SalePlan {
    pub(crate) n_fans: usize,
    pub(crate) n_seats: u32,
    pub(crate) seats_per_fan: u32,
    pub(crate) max_active: u32,
    pub(crate) entry_ttl_s: u32,
    pub(crate) sale: Duration,
    /// Each node has its own hold length.
    pub(crate) nodes: Vec<usize>,
    pub(crate) at_the_edge: u64,
    pub(crate) from_wallet: u64,
    pub(crate) choices: &'static [Choice],
    pub(crate) webhooks: u64,
    pub(crate) gives_back: u64,
    pub(crate) walks_away: u64,
    pub(crate) cancels: u64,
    pub(crate) uses_tickets: u64,
    pub(crate) stands_by: u64,
    /// Calls made twice concurrently, with the same key on two nodes.
    pub(crate) repeats: u64,
    /// Steps during which the fan acts in another tab.
    pub(crate) tabs: u64,
    /// Calls that their node drops midway.
    pub(crate) drops: u64,
    pub(crate) is_called_off: bool,
    /// The date has ticket types, fees and a promotion code.
    pub(crate) has_options: bool,
    /// An organiser keeps seats, sells at the box office, changes prices and moves bookings.
    pub(crate) has_desk: bool,
    /// Winners of a draw buy before everybody does.
    pub(crate) has_draw: bool,
}

const GOOD_CARDS: &[Choice] = &[Choice::Approve];
const MIXED_CARDS: &[Choice] = &[Choice::Approve, Choice::Approve, Choice::Decline];
/// Charged at once, and known a moment later.
const LATE_CARDS: &[Choice] = &[Choice::Late, Choice::Late, Choice::Approve];
const ALL_CARDS: &[Choice] = &Choice::ALL;

impl SalePlan {
    pub(crate) fn drawn(rng: &mut Rng) -> SalePlan {
        let n_away = rng.one_of(&[0, 1]);
        let first = rng.below(N_NODES as u64) as usize;
        let is_called_off = rng.happens(20);
        SalePlan {
            n_fans: 3 + rng.below(10) as usize,
            n_seats: 1 + rng.below(8) as u32,
            seats_per_fan: rng.one_of(&[1, 2, 4]),
            max_active: rng.one_of(&[1, 2, 5, 20]),
            entry_ttl_s: rng.one_of(&[60, 120, 300]),
            sale: Duration::from_secs(rng.one_of(&[120, 180, 240])),
            nodes: (0..N_NODES - n_away).map(|step| (first + step) % N_NODES).collect(),
            at_the_edge: rng.one_of(&[0, 10, 30]),
            from_wallet: rng.one_of(if is_called_off { &[0, 50] } else { &[0, 50, 100] }),
            // The date is canceled while payments are in progress, so they must take a while.
            choices: rng.one_of(match is_called_off {
                true => &[LATE_CARDS, ALL_CARDS],
                false => &[GOOD_CARDS, MIXED_CARDS, ALL_CARDS],
            }),
            webhooks: rng.one_of(&[0, 50]),
            gives_back: rng.one_of(&[0, 10, 30]),
            walks_away: rng.one_of(&[0, 10, 30]),
            cancels: rng.one_of(&[0, 30, 80]),
            uses_tickets: rng.one_of(&[0, 30, 80]),
            stands_by: rng.one_of(&[0, 30, 80]),
            repeats: rng.one_of(&[0, 20, 60]),
            tabs: rng.one_of(&[0, 20, 60]),
            drops: rng.one_of(&[0, 5, 20]),
            is_called_off,
            // The last choices, so that those before them stay as they were.
            has_options: rng.happens(33),
            has_desk: rng.happens(33),
            has_draw: rng.happens(12),
        }
    }
}

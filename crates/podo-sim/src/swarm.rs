//! The kind of on-sale that a seed plays. Moderate values everywhere find nothing, so every seed is
//! extreme in some dimensions and calm in others.

use crate::gateway::Company;
use crate::rng::Rng;
use std::time::Duration;

/// Percentages unless the name says otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swarm {
    pub(crate) n_nodes: usize,
    /// The machines' clocks are minutes off, drift and jump.
    pub(crate) clocks_are_wrong: bool,
    /// The live engines die with their node.
    pub(crate) is_embedded: bool,
    pub(crate) n_fans: usize,
    pub(crate) n_seats: u32,
    pub(crate) max_active: u32,
    pub(crate) entry_ttl_s: u32,
    pub(crate) sale: Duration,
    pub(crate) hold_length: Duration,
    /// Fans who arrive before the opening.
    pub(crate) early: u64,
    /// Fans who click in the same millisecond.
    pub(crate) at_once: u64,
    /// Payment steps that wait for the very end of the hold.
    pub(crate) at_the_edge: u64,
    pub(crate) from_wallet: u64,
    pub(crate) cancels: u64,
    pub(crate) gives_back: u64,
    pub(crate) stands_by: u64,
    /// Tickets that are transferred or shown at the gate.
    pub(crate) uses_tickets: u64,
    pub(crate) is_called_off: bool,
    pub(crate) repeats: u64,
    pub(crate) store_fails_per_mille: u64,
    pub(crate) store_slow: u64,
    pub(crate) live_fails_per_mille: u64,
    pub(crate) live_forgets_per_mille: u64,
    pub(crate) crash_per_mille: u64,
    pub(crate) company: Company,
    pub(crate) gateway_slow: u64,
    pub(crate) gateway_declines: u64,
    pub(crate) gateway_errs: u64,
    pub(crate) wrong_amount: u64,
    pub(crate) webhooks: u64,
    pub(crate) network_loses: u64,
    /// The date has ticket types, fees and a promotion code.
    pub(crate) has_options: bool,
    /// The sale is one phase for fans with a code.
    pub(crate) has_phase: bool,
}

impl Swarm {
    pub(crate) fn drawn(rng: &Rng, has_options: bool, has_phase: bool) -> Swarm {
        let n_nodes = rng.one_of(&[1, 1, 2, 3, 4]);
        Swarm {
            n_nodes,
            clocks_are_wrong: rng.happens(50),
            is_embedded: n_nodes == 1 && rng.happens(70),
            n_fans: rng.one_of(&[2, 4, 7, 10]),
            n_seats: rng.one_of(&[1, 3, 8]),
            max_active: rng.one_of(&[1, 2, 5, 20]),
            entry_ttl_s: rng.one_of(&[60, 120, 300]),
            sale: Duration::from_secs(rng.one_of(&[100, 200, 350])),
            hold_length: Duration::from_secs(rng.one_of(&[30, 60, 120])),
            early: rng.one_of(&[0, 50, 100]),
            at_once: rng.one_of(&[0, 50, 100]),
            at_the_edge: rng.one_of(&[0, 15, 40]),
            from_wallet: rng.one_of(&[0, 30, 100]),
            cancels: rng.one_of(&[0, 30, 80]),
            gives_back: rng.one_of(&[0, 10, 30]),
            stands_by: rng.one_of(&[0, 30, 80]),
            uses_tickets: rng.one_of(&[0, 30, 80]),
            is_called_off: rng.happens(15),
            repeats: rng.one_of(&[0, 20, 60]),
            store_fails_per_mille: rng.one_of(&[0, 0, 5, 30]),
            store_slow: rng.one_of(&[0, 10, 50]),
            live_fails_per_mille: rng.one_of(&[0, 0, 5, 30]),
            live_forgets_per_mille: rng.one_of(&[0, 0, 0, 3]),
            crash_per_mille: rng.one_of(&[0, 0, 2, 8]),
            company: rng.one_of(&Company::ALL),
            gateway_slow: rng.one_of(&[0, 20, 60]),
            gateway_declines: rng.one_of(&[0, 20, 50]),
            gateway_errs: rng.one_of(&[0, 10, 40]),
            wrong_amount: rng.one_of(&[0, 10, 30]),
            webhooks: rng.one_of(&[0, 50, 100]),
            network_loses: rng.one_of(&[0, 5, 20]),
            has_options,
            has_phase,
        }
    }
}

//! The kind of on-sale that a seed plays. Moderate values everywhere find nothing, so every seed is
//! extreme in some dimensions and calm in others.

use crate::gateway::Company;
use crate::rng::Rng;
use std::time::Duration;

/// How a seed sells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhasePlan {
    /// To everybody during the whole sale.
    None,
    /// In one phase, to fans with a code.
    Code,
    /// To members first, and then to everybody.
    Members,
    /// To winners of a draw first, and then to everybody.
    Draw,
}

/// What a seed adds to a plain sale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extras {
    /// The date has ticket types, fees and a promotion code.
    has_options: bool,
    phases: PhasePlan,
    /// An organiser keeps seats, sells at the box office, moves bookings and changes prices.
    has_desk: bool,
    /// Fans may pay by deposit.
    has_deposits: bool,
}

impl Extras {
    /// Not drawn from the seed's stream: seeds without an extra keep the runs that they had before
    /// it existed.
    pub(crate) fn of(seed: u64) -> Extras {
        let phases = match seed % 16 {
            3 => PhasePlan::Members,
            6 => PhasePlan::Code,
            11 | 14 => PhasePlan::Draw,
            _ => PhasePlan::None,
        };
        let has_desk = match seed % 16 {
            5 | 8 => true,
            3 | 11 | 14 => (seed / 16).is_multiple_of(2),
            _ => false,
        };
        let has_deposits = seed % 16 == 7;
        Extras { has_options: seed % 3 == 1, phases, has_desk, has_deposits }
    }
}

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
    pub(crate) phases: PhasePlan,
    /// How long the first of two phases lasts.
    pub(crate) first_phase: Duration,
    /// Seats of the date per person; with two phases their own limits add up to more.
    pub(crate) seats_per_person: u32,
    pub(crate) has_desk: bool,
    /// Fans may pay to virtual accounts of the company.
    pub(crate) has_deposits: bool,
}

/// A draw needs ten minutes for the first offers, and as long for those that follow expired ones.
const DRAW_PHASE: Duration = Duration::from_secs(1_300);

impl Swarm {
    pub(crate) fn drawn(rng: &Rng, extras: Extras) -> Swarm {
        Swarm::plain(rng).with(extras)
    }

    fn with(self, extras: Extras) -> Swarm {
        let Extras { has_options, phases, has_desk, has_deposits } = extras;
        let (first_phase, sale) = match phases {
            PhasePlan::None | PhasePlan::Code => (Duration::ZERO, self.sale),
            PhasePlan::Members => (self.sale / 2, self.sale),
            PhasePlan::Draw => (DRAW_PHASE, DRAW_PHASE + self.sale),
        };
        let seats_per_person = match phases {
            PhasePlan::None | PhasePlan::Code => self.seats_per_person,
            PhasePlan::Members | PhasePlan::Draw => 3,
        };
        // Two rows at least, and room for several fans to reach their limits.
        let n_seats = match self.n_seats {
            n_seats if has_desk => (n_seats + 3) / 2 * 2,
            n_seats if first_phase.is_zero() => n_seats,
            n_seats => n_seats + 2,
        };
        Swarm {
            has_options,
            phases,
            has_desk,
            has_deposits: has_deposits && self.company.issues_accounts(),
            first_phase,
            sale,
            seats_per_person,
            n_seats,
            ..self
        }
    }

    fn plain(rng: &Rng) -> Swarm {
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
            has_options: false,
            phases: PhasePlan::None,
            first_phase: Duration::ZERO,
            seats_per_person: 4,
            has_desk: false,
            has_deposits: false,
        }
    }
}

//! A seeded simulation of an on-sale. Fans, a moody gateway, the sweeper and the reconciler act
//! on the real rules of `domain` under a virtual clock; after every step a checker looks at the
//! whole world. A seed replays its run exactly.
//!
//! `cargo run -p sim -- --seeds 0..200`
//!
//! A checker that never fails proves nothing. So a run can be given a [`Mutation`], which takes
//! one rule away, and the tests ask the checker to notice; and [`Sight`]s are counted, so that
//! rare moments are known to have happened.

mod chance;
mod check;
mod fan;
mod gateway;
mod money;
mod sales;
mod sight;
mod world;

pub use sight::{Sight, Sightings};

use std::fmt;
use world::World;

/// A rule that is taken away, to see whether the checker would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// All rules stand.
    None,
    /// The sweeper frees seats whose hold is over, even while they are being paid for.
    SweeperTakesPaying,
    /// No answer in time is taken for a no.
    TimeoutIsFailure,
    /// Who takes the seats of an expired hold leaves the old reservation as it was.
    TakeoverLeavesOldClaim,
    /// A captured payment confirms whatever the amount.
    AnyAmountWillDo,
    /// A refund whose answer was lost is asked for again as if it were another one.
    RefundUnderNewName,
    /// Money that must go back is not put on the list of refunds.
    RefundForgotten,
    /// A reservation that is given back leaves its seats as they were.
    ReleaseForgetsSeats,
    /// A second payment may start while the first one is under way.
    TwoPaymentsAtOnce,
}

impl Mutation {
    pub const ALL: [Mutation; 9] = [
        Mutation::None,
        Mutation::SweeperTakesPaying,
        Mutation::TimeoutIsFailure,
        Mutation::TakeoverLeavesOldClaim,
        Mutation::AnyAmountWillDo,
        Mutation::RefundUnderNewName,
        Mutation::RefundForgotten,
        Mutation::ReleaseForgetsSeats,
        Mutation::TwoPaymentsAtOnce,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Mutation::None => "none",
            Mutation::SweeperTakesPaying => "sweeper-takes-paying",
            Mutation::TimeoutIsFailure => "timeout-is-failure",
            Mutation::TakeoverLeavesOldClaim => "takeover-leaves-old-claim",
            Mutation::AnyAmountWillDo => "any-amount-will-do",
            Mutation::RefundUnderNewName => "refund-under-new-name",
            Mutation::RefundForgotten => "refund-forgotten",
            Mutation::ReleaseForgetsSeats => "release-forgets-seats",
            Mutation::TwoPaymentsAtOnce => "two-payments-at-once",
        }
    }

    pub fn parse(text: &str) -> Option<Mutation> {
        Mutation::ALL.into_iter().find(|mutation| mutation.as_str() == text)
    }
}

/// A run in which every rule held.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub steps: u64,
    pub sightings: Sightings,
    /// Everything that happened: two runs of one seed have the same trace.
    pub trace: Vec<String>,
}

/// A rule that did not hold, and how it came to that.
#[derive(Clone, Debug)]
pub struct Violation {
    pub seed: u64,
    /// The invariant's name in the reliability document: `I1`, `Q1`.
    pub rule: &'static str,
    pub detail: String,
    pub trace: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.trace {
            writeln!(f, "  {line}")?;
        }
        write!(f, "seed {}: {} is broken: {}", self.seed, self.rule, self.detail)
    }
}

/// Plays one on-sale to its end.
pub fn simulate(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    let mut world = World::new(seed, mutation);
    let mut steps = 0;
    while world.step() {
        steps += 1;
        if let Err(broken) = check::after_step(&world) {
            return Err(Box::new(broken.in_run(seed, world.trace)));
        }
    }
    match check::at_end(&world) {
        Ok(()) => Ok(Run { steps, sightings: world.sightings, trace: world.trace }),
        Err(broken) => Err(Box::new(broken.in_run(seed, world.trace))),
    }
}

#[cfg(test)]
mod tests;

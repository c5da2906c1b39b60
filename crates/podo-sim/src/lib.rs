//! A seeded simulation of an on-sale. The real use cases, jobs, SQL and live engines run on one
//! thread under a virtual clock. Around them are simulated fans, payment gateways that fail, a bus
//! that delivers twice, engines that forget, and nodes that die at any await point. A seed replays
//! its run exactly.
//!
//! ```
//! use podo_sim::{Mutation, simulate};
//!
//! // A rule that doesn't hold would be the error, with the trace of all that led to it.
//! let run = simulate(7, Mutation::None).unwrap_or_else(|violation| panic!("{violation}"));
//! assert!(run.steps > 0);
//! ```
//!
//! `cargo run -p podo-sim -- --seeds 0..2000` plays many seeds. A seed that once broke a rule goes
//! into `regress-seeds.txt`, which the tests play for ever.
//!
//! A checker that never fails proves nothing. So a run can be given a [`Mutation`], which removes
//! one guard, and the tests expect the checkers to notice; [`Coverage`] counts rare moments, so
//! that we know they happened.
//!
//! To extend it: a new job runs in `node.rs`, a new behaviour of fans in `fan/`, a new fault in
//! `faults/` with a point in [`Coverage`], and a new rule in `check/` with a mutation that it
//! catches.
//!
//! [`capacity`] plays the same crowd as numbers, to find out how many nodes it needs.

pub mod capacity;
mod check;
mod fan;
pub(crate) mod faults;
mod gateway;
mod live;
mod node;
mod rng;
mod swarm;
mod time;
mod world;

pub use check::coverage::{Coverage, CoverageCounts};
pub use faults::mutation::Mutation;

use std::fmt;
use std::sync::Arc;
use time::{Owner, Thread};
use world::World;

/// Seeds that once broke a rule, as regression tests.
pub const REGRESS: &str = include_str!("../regress-seeds.txt");

/// A run in which every rule held.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub steps: u64,
    pub sightings: CoverageCounts,
    /// The full trace, if requested: two runs of one seed have the same.
    pub trace: Vec<String>,
}

/// A broken rule, and the events that led to it.
#[derive(Clone, Debug)]
pub struct Violation {
    pub seed: u64,
    /// The invariant's name in docs/reliability.md: `I1`, `Q1`.
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

/// Plays one on-sale to its end. A broken rule is replayed with its trace.
pub fn simulate(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    play(seed, mutation, false).or_else(|_untold| trace(seed, mutation))
}

/// Like `simulate`, without a trace: only the result matters.
pub fn holds(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    play(seed, mutation, false)
}

/// Like `simulate`, with the full trace.
pub fn trace(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    play(seed, mutation, true)
}

fn play(seed: u64, mutation: Mutation, is_traced: bool) -> Result<Run, Box<Violation>> {
    let world = Arc::new(World::new(seed, mutation, is_traced));
    world.note(|| format!("{:?}", world.swarm));
    let (opening, time) = (world.clone(), world.time.clone());
    time.spawn(Owner::World, async move {
        opening.set_stage().await.expect("the catalog can be created");
        for node in 0..opening.swarm.n_nodes {
            opening.start_node(node).await;
        }
        for fan in 0..opening.swarm.n_fans {
            opening.time.spawn(Owner::World, fan::live(opening.clone(), fan));
        }
        opening.time.spawn(Owner::World, check::watch(opening.clone()));
        opening.time.spawn(Owner::World, fan::organiser::call_off(opening.clone()));
        opening.time.spawn(Owner::World, fan::organiser::work(opening.clone()));
        opening.time.spawn(Owner::World, faults::clocks::suspend_machines(opening.clone()));
    });
    let steps = Thread::new(time).run(|| world.notes.is_broken());
    let (sightings, trace, broken) = world.notes.close();
    match broken {
        None => Ok(Run { steps, sightings, trace }),
        Some(broken) => {
            let (rule, detail) = (broken.rule, broken.detail);
            Err(Box::new(Violation { seed, rule, detail, trace }))
        }
    }
}

#[cfg(test)]
mod tests;

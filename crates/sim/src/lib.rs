//! A seeded simulation of an on-sale. The real use cases, jobs, SQL and live engines run on one
//! thread under a virtual clock; around them fans, a moody gateway, a bus that repeats itself,
//! engines that forget, and nodes that die at any await point. A seed replays its run exactly.
//!
//! `cargo run -p sim -- --seeds 0..2000`
//!
//! The same crowd as numbers, to find out how many nodes it needs, is in [`capacity`].
//!
//! A checker that never fails proves nothing. So a run can be given a [`Mutation`], which takes
//! one guard away, and the tests ask the checkers to notice; and [`Sight`]s are counted, so that
//! rare moments are known to have happened.

mod bus;
pub mod capacity;
mod chance;
mod check;
mod clocks;
mod fan;
mod gateway;
mod live;
mod mutation;
mod node;
mod notes;
mod organiser;
mod sight;
mod swarm;
mod time;
mod weather;
mod world;

pub use mutation::Mutation;
pub use sight::{Sight, Sightings};

use std::fmt;
use std::sync::Arc;
use time::{Owner, Thread};
use world::World;

/// Seeds that once broke a rule: they are played for ever.
pub const REGRESS: &str = include_str!("../regress-seeds.txt");

/// A run in which every rule held.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub steps: u64,
    pub sightings: Sightings,
    /// Everything that happened, if it was asked for: two runs of one seed have the same.
    pub trace: Vec<String>,
}

/// A rule that did not hold, and how it came to that.
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

/// Plays one on-sale to its end. A broken rule is played again with its trace.
pub fn simulate(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    play(seed, mutation, false).or_else(|_untold| trace(seed, mutation))
}

/// The same without words: whether it holds is all that matters.
pub fn holds(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    play(seed, mutation, false)
}

/// The same with everything that happened.
pub fn trace(seed: u64, mutation: Mutation) -> Result<Run, Box<Violation>> {
    play(seed, mutation, true)
}

fn play(seed: u64, mutation: Mutation, is_traced: bool) -> Result<Run, Box<Violation>> {
    let world = Arc::new(World::new(seed, mutation, is_traced));
    world.note(|| format!("{:?}", world.swarm));
    let (opening, time) = (world.clone(), world.time.clone());
    time.spawn(Owner::World, async move {
        opening.set_stage().await.expect("the stage can be set");
        for node in 0..opening.swarm.n_nodes {
            opening.start_node(node).await;
        }
        for fan in 0..opening.swarm.n_fans {
            opening.time.spawn(Owner::World, fan::live(opening.clone(), fan));
        }
        opening.time.spawn(Owner::World, check::watch(opening.clone()));
        opening.time.spawn(Owner::World, organiser::call_off(opening.clone()));
        opening.time.spawn(Owner::World, clocks::suspend_machines(opening.clone()));
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

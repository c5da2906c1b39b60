//! Small seeded sales of the real use cases on real PostgreSQL and Redis: several nodes, each with
//! connections of its own, all fans and all jobs at the same time. What the simulation cannot meet
//! on one thread and SQLite happens here: transactions that interleave under READ COMMITTED, row
//! locks, batches, scripts, copies of waiting rooms that are a moment old.
//!
//! A seed decides what kind of sale it is, not in which order things happen: a seed that failed may
//! pass when it is played again. `PODO_SEEDS=N` plays more of them, `PODO_FIRST_SEED=N` others.
#![cfg(test)]

mod clock;
mod cluster;
mod coverage;
mod fan;
mod plan;
mod rest;
mod rng;
mod sale;

#[path = "../it/open_door.rs"]
mod open_door;

use adapters::sql::Guard;
use cluster::Cluster;
use sale::Sale;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinSet;

const SEEDS: u64 = 200;

/// Sales at the same time: they share nodes, batches and jobs.
const AT_ONCE: usize = 24;

/// A number that was asked for beyond the usual one.
fn asked(name: &str, usual: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a switch of tests, not a setting")]
    let asked = std::env::var(name).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

/// Plays the seeds, or as many of them as it takes until something is found; says how many.
async fn play(cluster: &Arc<Cluster>, ends_at_first: bool) -> u64 {
    let first = asked("PODO_FIRST_SEED", 0);
    let mut seeds = first..first + asked("PODO_SEEDS", SEEDS);
    let (mut sales, mut n_played) = (JoinSet::new(), 0);
    loop {
        let is_over = ends_at_first && !cluster.problems().is_empty();
        while sales.len() < AT_ONCE
            && !is_over
            && let Some(seed) = seeds.next()
        {
            sales.spawn(Sale::play(cluster.clone(), seed));
        }
        if is_over {
            return n_played;
        }
        match sales.join_next().await {
            Some(played) => played.unwrap(),
            None => return n_played,
        }
        n_played += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sales_on_real_engines_keep_every_promise() {
    let (mut background, start) = (JoinSet::new(), Instant::now());
    let cluster = Cluster::start(&[], &mut background).await;
    let n_played = play(&cluster, false).await;
    cluster.check_in_the_end().await;
    background.shutdown().await;
    println!("{n_played} seeds in {:.1} s", start.elapsed().as_secs_f64());
    let counts = cluster.coverage.counts();
    for (moment, n_times) in &counts {
        println!("{n_times:>7} {moment:?}");
    }
    let problems = cluster.problems();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let missing: Vec<_> = counts.iter().filter(|(_, n_times)| *n_times == 0).collect();
    assert!(missing.is_empty() || n_played < SEEDS, "never seen in {n_played} seeds: {missing:?}");
}

/// The control: the checks find what the guards of a seat prevent.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_guards_of_a_seat_a_double_sale_is_found() {
    let mut background = JoinSet::new();
    let off = [Guard::SeatIsCompared, Guard::OneClaimPerSeat];
    let cluster = Cluster::start(&off, &mut background).await;
    let n_played = play(&cluster, true).await;
    background.shutdown().await;
    let problems = cluster.problems();
    println!("{n_played} seeds: {problems:?}");
    assert!(problems.iter().any(|it| it.contains("I1 ")), "{problems:?}");
}

//! Small seeded sales of the real use cases on real PostgreSQL and Redis: several nodes, each with
//! its own connections, all fans and all jobs concurrently. This covers what the simulation cannot
//! reach on one thread and SQLite: interleaved transactions under READ COMMITTED, row locks,
//! batches, scripts, slightly stale copies of waiting rooms.
//!
//! A seed decides the kind of sale, not the order of events: a failed seed may pass when it is run
//! again. `PODO_SEEDS=N` runs more of them, `PODO_FIRST_SEED=N` others.
#![cfg(test)]

mod clock;
mod cluster;
mod coverage;
mod fan;
mod organiser;
mod plan;
mod rest;
mod rng;
mod sale;

#[path = "../it/waiting_room/open_door.rs"]
mod open_door;

use cluster::Cluster;
use podo_adapters::sql::Guard;
use sale::Sale;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinSet;

const SEEDS: u64 = 200;

/// Concurrent sales: they share nodes, batches and jobs.
const AT_ONCE: usize = 24;

/// A number from the environment, or the usual one.
fn asked(name: &str, usual: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a switch of tests, not a setting")]
    let asked = std::env::var(name).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

/// Runs the seeds, or as many of them as it takes to find something; returns how many.
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
async fn sales_on_real_engines_keep_every_invariant() {
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

/// The control: the checks find what a seat's guards prevent.
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

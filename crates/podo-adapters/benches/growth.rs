//! Whether a purchase costs more on a store that has seen a whole season: wallet purchases of two
//! seats on a fresh store and on one with a million reservations, in turns.

#[path = "../tests/store/engine.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod engine;

#[path = "shared/purchases.rs"]
mod purchases;

#[path = "../tests/store/world.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod world;

use purchases::{confirm_all, median, prepare, print_head, print_row};
use rusqlite::Connection;
use std::path::Path;
use world::{Plan, World};

/// The allocator of the shipped binary; SQLite uses it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: u32 = 5;

const CLIENTS: usize = 64;

const PURCHASES_PER_ROUND: usize = CLIENTS * 32;

const SEATS_PER_ROW: u32 = 800;

// Every purchase takes two seats of a hall with 26 rows.
const _: () = assert!(2 * PURCHASES_PER_ROUND * ROUNDS as usize <= 26 * SEATS_PER_ROW as usize);

const SEASON: &str = include_str!("verify/million.sql");

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let plan =
        || Plan { rows: 26, seats_per_row: SEATS_PER_ROW, seats_per_person: 4, off: Vec::new() };
    let worlds = [plan(), plan()].map(|plan| runtime.block_on(World::planned(plan)));
    fill(&worlds[1].engine.path());
    let mut rates = [const { Vec::new() }; 2];
    for round in 0..ROUNDS {
        for (world, rates) in worlds.iter().zip(&mut rates) {
            let ready = runtime.block_on(prepare(world, round, PURCHASES_PER_ROUND));
            rates.push(runtime.block_on(confirm_all(&world.store, ready, CLIENTS)));
        }
    }
    for world in worlds {
        runtime.block_on(world.finish());
    }
    let fresh = median(&rates[0]);
    print_head();
    print_row("purchases, 64 clients: a fresh store", &rates[0], fresh);
    print_row("purchases, 64 clients: a million reservations", &rates[1], fresh);
}

fn fill(path: &Path) {
    let connection = Connection::open(path).expect("the store's file");
    connection.execute_batch(SEASON).expect("a season");
    connection.execute_batch("pragma wal_checkpoint(truncate)").expect("a checkpoint");
}

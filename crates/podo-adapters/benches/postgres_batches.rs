//! What batching gains on PostgreSQL: wallet purchases of two seats per second, in batches and one
//! by one, compared with `pgbench` on the same server in the same run; and how much of the
//! processor time is ours, which bounds what batches written by hand could save.

mod engine {
    //! A server that waits for the disk, as in production.

    use podo_adapters::sql::{Connections, Guard, PostgresSettings, SqlStore};
    use podo_app::operations::port::clock::Rng;
    use podo_testbed::Postgres;
    use std::sync::Arc;

    const CONNECTIONS: usize = 32;

    pub(crate) struct Engine {
        pub(crate) server: Postgres,
    }

    impl Engine {
        pub(crate) async fn open(rng: Arc<dyn Rng>, off: Vec<Guard>) -> (Engine, SqlStore) {
            let server = Postgres::durable().expect("a server");
            let engine = Engine { server };
            let store = SqlStore::postgres_without(&engine.settings(), rng, &off).await;
            (engine, store.expect("an empty database"))
        }

        pub(crate) async fn again(&self, rng: Arc<dyn Rng>) -> SqlStore {
            SqlStore::postgres(&self.settings(), rng).await.expect("the same server")
        }

        fn settings(&self) -> PostgresSettings {
            let url = self.server.url("postgres");
            PostgresSettings::new(&url, Connections::Shared(CONNECTIONS))
        }
    }
}

#[path = "shared/purchases.rs"]
mod purchases;

#[path = "../tests/store/world.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod world;

use purchases::{confirm_all, median, prepare, print_head, print_row};
use rustix::time::{ClockId, clock_gettime};
use world::{Plan, World};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: u32 = 5;

/// How long `pgbench` runs in a round, in seconds, for each number of clients.
const YARDSTICK_S: u32 = 2;

const YARDSTICKS: [u32; 2] = [8, 256];

/// Clients, purchases of each per round, and whether they are batched.
const LOADS: [(usize, usize, bool); 4] =
    [(32, 16, false), (256, 2, false), (64, 28, true), (256, 12, true)];

const PURCHASES_PER_ROUND: usize = 32 * 16 + 256 * 2 + 64 * 28 + 256 * 12;

const SEATS_PER_ROW: u32 = 2_300;

// Every purchase takes two seats of a hall with 26 rows.
const _: () = assert!(2 * PURCHASES_PER_ROUND * ROUNDS as usize <= 26 * SEATS_PER_ROW as usize);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let plan =
        Plan { rows: 26, seats_per_row: SEATS_PER_ROW, seats_per_person: 4, off: Vec::new() };
    let world = runtime.block_on(World::planned(plan));
    let one_by_one = runtime.block_on(world.restart()).without_batches();
    let server = &world.engine.server;
    server.prepare_pgbench("yardstick").expect("pgbench");
    let mut yardsticks = [const { Vec::new() }; YARDSTICKS.len()];
    let mut rates = [const { Vec::new() }; LOADS.len()];
    let mut own_us = [const { Vec::new() }; LOADS.len()];
    for round in 0..ROUNDS {
        let mut ready = runtime.block_on(prepare(&world, round, PURCHASES_PER_ROUND));
        for (rates, n_clients) in yardsticks.iter_mut().zip(YARDSTICKS) {
            rates.push(server.pgbench("yardstick", n_clients, YARDSTICK_S).expect("pgbench"));
        }
        // Each round starts with another load, so that none always runs on the same state.
        for turn in 0..LOADS.len() {
            let load = (turn + round as usize) % LOADS.len();
            let (n_clients, n_each, is_shared) = LOADS[load];
            let commands = ready.split_off(ready.len() - n_clients * n_each);
            let store = if is_shared { &world.store } else { &one_by_one };
            let (n_commands, before) = (commands.len(), own_time_us());
            rates[load].push(runtime.block_on(confirm_all(store, commands, n_clients)));
            own_us[load].push((own_time_us() - before) / n_commands as f64);
        }
    }
    runtime.block_on(world.finish());
    let best = yardsticks.iter().map(|rates| median(rates)).fold(0.0, f64::max);
    print_head();
    for (n_clients, rates) in YARDSTICKS.iter().zip(&yardsticks) {
        print_row(&format!("pgbench simple-update, {n_clients} clients"), rates, best);
    }
    for ((n_clients, _, is_shared), rates) in LOADS.iter().zip(&rates) {
        let how = if *is_shared { "in batches" } else { "one by one" };
        print_row(&format!("purchases {how}, {n_clients} clients"), rates, best);
    }
    for (((n_clients, _, is_shared), rates), own) in LOADS.iter().zip(&rates).zip(&own_us) {
        let how = if *is_shared { "in batches" } else { "one by one" };
        print_share(&format!("{how}, {n_clients} clients"), median(rates), median(own));
    }
}

/// The processor time of this process, on all its threads.
fn own_time_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Our processor time for a purchase, beside all the processor time there was for it.
#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print_share(what: &str, rate: f64, own_us: f64) {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let all_us = n_cores as f64 * 1e6 / rate;
    println!("{what:<40}{own_us:>8.0} µs of {all_us:.0} µs a purchase are ours");
}

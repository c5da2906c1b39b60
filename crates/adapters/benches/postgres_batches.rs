//! What sharing statements and commits is worth on PostgreSQL: wallet purchases of two seats per
//! second, in batches and one by one, beside `pgbench` on the same server in the same run.

mod engine {
    //! A server that waits for the disk, like one in production.

    use adapters::sql::{Connections, Guard, PostgresSettings, SqlStore};
    use app::ports::clock::Chance;
    use std::sync::Arc;
    use testbed::Postgres;

    const CONNECTIONS: usize = 32;

    pub(crate) struct Engine {
        pub(crate) server: Postgres,
    }

    impl Engine {
        pub(crate) async fn open(chance: Arc<dyn Chance>, off: Vec<Guard>) -> (Engine, SqlStore) {
            let server = Postgres::durable().expect("a server");
            let engine = Engine { server };
            let store = SqlStore::postgres_without(&engine.settings(), chance, off).await;
            (engine, store.expect("an empty database"))
        }

        pub(crate) async fn again(&self, chance: Arc<dyn Chance>) -> SqlStore {
            SqlStore::postgres(&self.settings(), chance).await.expect("the same server")
        }

        fn settings(&self) -> PostgresSettings {
            let url = self.server.url("postgres");
            PostgresSettings::new(&url, Connections::Shared(CONNECTIONS))
        }
    }
}

#[path = "../tests/store/world.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod world;

use adapters::sql::SqlStore;
use app::ports::payments::{ConfirmPayment, Payments};
use domain::payments::PaymentMethod;
use futures::future::join_all;
use std::time::Instant;
use world::{Fan, Plan, World, at};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: u32 = 5;

/// How long `pgbench` runs in a round, in seconds, for each number of clients.
const YARDSTICK_S: u32 = 2;

const YARDSTICKS: [u32; 2] = [8, 256];

/// Clients, purchases of each in a round, and whether they share.
const LOADS: [(usize, usize, bool); 4] =
    [(32, 16, false), (256, 2, false), (64, 28, true), (256, 12, true)];

const PURCHASES_PER_ROUND: usize = 32 * 16 + 256 * 2 + 64 * 28 + 256 * 12;

const SEATS_PER_ROW: u32 = 2_300;

// Every purchase takes two seats of a hall with 26 rows.
const _: () = assert!(2 * PURCHASES_PER_ROUND * ROUNDS as usize <= 26 * SEATS_PER_ROW as usize);

/// Preparations that are sent at once; they are not timed.
const PREPARED_AT_ONCE: usize = 512;

#[expect(clippy::print_stdout, reason = "the table is the result")]
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
    for round in 0..ROUNDS {
        let mut ready = runtime.block_on(prepare(&world, round));
        for (rates, n_clients) in yardsticks.iter_mut().zip(YARDSTICKS) {
            rates.push(server.pgbench("yardstick", n_clients, YARDSTICK_S).expect("pgbench"));
        }
        // Each round starts with another load, so that none always runs on the same state.
        for turn in 0..LOADS.len() {
            let load = (turn + round as usize) % LOADS.len();
            let (n_clients, n_each, is_shared) = LOADS[load];
            let commands = ready.split_off(ready.len() - n_clients * n_each);
            let store = if is_shared { &world.store } else { &one_by_one };
            rates[load].push(runtime.block_on(confirm_all(store, commands, n_clients)));
        }
    }
    runtime.block_on(world.is_sound(at(2)));
    let best = yardsticks.iter().map(|rates| median(rates)).fold(0.0, f64::max);
    println!("{:<50}{:>10}{:>17}{:>9}", "", "per second", "range", "ratio");
    for (n_clients, rates) in YARDSTICKS.iter().zip(&yardsticks) {
        print_row(&format!("pgbench simple-update, {n_clients} clients"), rates, best);
    }
    for ((n_clients, _, is_shared), rates) in LOADS.iter().zip(&rates) {
        let how = if *is_shared { "in batches" } else { "one by one" };
        print_row(&format!("purchases {how}, {n_clients} clients"), rates, best);
    }
}

/// Fans with money, two seats each, about to confirm.
async fn prepare(world: &World, round: u32) -> Vec<ConfirmPayment> {
    let fans = world.fans(PURCHASES_PER_ROUND).await;
    let first = round * u32::try_from(2 * PURCHASES_PER_ROUND).expect("few enough");
    let pairs: Vec<(u32, &Fan)> = (first..).step_by(2).zip(&fans).collect();
    let mut ready = Vec::with_capacity(pairs.len());
    for some in pairs.chunks(PREPARED_AT_ONCE) {
        ready.extend(join_all(some.iter().map(|(seat, fan)| prepare_one(world, fan, *seat))).await);
    }
    ready
}

async fn prepare_one(world: &World, fan: &Fan, seat: u32) -> ConfirmPayment {
    world.charge(fan, 300_000).await;
    let held = world.hold(fan, &[seat, seat + 1], at(1)).await.expect("free seats");
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(fan, held.reservation_id, wallet, at(1)).await.expect("a hold");
    world.confirm_command(fan, &ready, at(2))
}

/// Each client waits for its answer before it sends the next; purchases per second of all.
async fn confirm_all(store: &SqlStore, commands: Vec<ConfirmPayment>, n_clients: usize) -> f64 {
    let n_commands = commands.len();
    let mut clients: Vec<Vec<ConfirmPayment>> = vec![Vec::new(); n_clients];
    for (turn, command) in commands.into_iter().enumerate() {
        clients[turn % n_clients].push(command);
    }
    let started = Instant::now();
    join_all(clients.into_iter().map(async |mine| {
        for command in mine {
            store.confirm_payment(command).await.expect("a purchase");
        }
    }))
    .await;
    n_commands as f64 / started.elapsed().as_secs_f64()
}

fn sorted(rates: &[f64]) -> Vec<f64> {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(rates: &[f64]) -> f64 {
    sorted(rates)[rates.len() / 2]
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print_row(what: &str, rates: &[f64], best: f64) {
    let (sorted, middle) = (sorted(rates), median(rates));
    let range = format!("{:.0} to {:.0}", sorted[0], sorted[sorted.len() - 1]);
    println!("{what:<50}{middle:>10.0}{range:>17}{:>8.2}x", middle / best);
}

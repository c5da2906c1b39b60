//! What sharing a COMMIT is worth: wallet purchases of two seats per second, with more and more
//! clients at once, beside one COMMIT per purchase on the same disk in the same run.

#[path = "../tests/store/engine.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod engine;

#[path = "../tests/store/world.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod world;

use app::ports::payments::{ConfirmPayment, Payments};
use domain::payments::PaymentMethod;
use futures::future::join_all;
use rusqlite::Connection;
use std::path::Path;
use std::time::Instant;
use world::{Fan, Plan, World, at};

/// The allocator of the shipped binary; SQLite uses it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: u32 = 5;

/// How many clients wait at once, and how many purchases each of them makes in a round.
const LOADS: [(usize, usize); 3] = [(1, 200), (64, 32), (256, 11)];

const PURCHASES_PER_ROUND: usize = 200 + 64 * 32 + 256 * 11;

const INSERTS_PER_ROUND: u32 = 300;

const SEATS_PER_ROW: u32 = 2_000;

// Every purchase takes two seats of a hall with 26 rows.
const _: () = assert!(2 * PURCHASES_PER_ROUND * ROUNDS as usize <= 26 * SEATS_PER_ROW as usize);

/// Preparations that are sent at once; they are not timed.
const PREPARED_AT_ONCE: usize = 512;

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let plan =
        Plan { rows: 26, seats_per_row: SEATS_PER_ROW, seats_per_person: 4, off: Vec::new() };
    let world = runtime.block_on(World::planned(plan));
    let plain = open_plain(&world.engine.path().with_file_name("plain.db"));
    let mut plain_rates = Vec::new();
    let mut rates = [const { Vec::new() }; LOADS.len()];
    for round in 0..ROUNDS {
        let mut ready = runtime.block_on(prepare(&world, round));
        plain_rates.push(insert_one_by_one(&plain));
        // Each round starts with another load, so that none always runs on the same state.
        for turn in 0..LOADS.len() {
            let load = (turn + round as usize) % LOADS.len();
            let (n_clients, n_each) = LOADS[load];
            let commands = ready.split_off(ready.len() - n_clients * n_each);
            rates[load].push(runtime.block_on(confirm_all(&world, commands, n_clients)));
        }
    }
    runtime.block_on(world.is_sound(at(2)));
    let alone = median(&rates[0]);
    println!("{:<44}{:>10}{:>17}{:>9}", "", "per second", "range", "ratio");
    print_row("SQLite alone: one small insert per COMMIT", &plain_rates, alone);
    for ((n_clients, _), rates) in LOADS.iter().zip(&rates) {
        let what = match n_clients {
            1 => "purchases, 1 client: one COMMIT each".to_owned(),
            _ => format!("purchases, {n_clients} clients: shared COMMITs"),
        };
        print_row(&what, rates, alone);
    }
}

/// The pragmas of the store.
fn open_plain(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a new file");
    connection
        .execute_batch(
            "pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536;
             create table plain (id integer primary key, body text not null);",
        )
        .expect("the pragmas of the store");
    connection
}

fn insert_one_by_one(connection: &Connection) -> f64 {
    let mut insert =
        connection.prepare("insert into plain (body) values ('a small row')").expect("one table");
    let started = Instant::now();
    for _ in 0..INSERTS_PER_ROUND {
        insert.execute([]).expect("an insert");
    }
    f64::from(INSERTS_PER_ROUND) / started.elapsed().as_secs_f64()
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
async fn confirm_all(world: &World, commands: Vec<ConfirmPayment>, n_clients: usize) -> f64 {
    let n_commands = commands.len();
    let mut clients: Vec<Vec<ConfirmPayment>> = vec![Vec::new(); n_clients];
    for (turn, command) in commands.into_iter().enumerate() {
        clients[turn % n_clients].push(command);
    }
    let started = Instant::now();
    join_all(clients.into_iter().map(async |mine| {
        for command in mine {
            world.store.confirm_payment(command).await.expect("a purchase");
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
fn print_row(what: &str, rates: &[f64], alone: f64) {
    let (sorted, middle) = (sorted(rates), median(rates));
    let range = format!("{:.0} to {:.0}", sorted[0], sorted[sorted.len() - 1]);
    println!("{what:<44}{middle:>10.0}{range:>17}{:>8.1}x", middle / alone);
}

//! What group commit gains: wallet purchases of two seats per second, with increasing numbers of
//! clients, compared with one COMMIT per purchase on the same disk in the same run. The gain
//! depends on the disk: `--sync-ms N` makes each sync take that much longer.

#[path = "../tests/store/engine.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod engine;

#[path = "shared/purchases.rs"]
mod purchases;

#[path = "group_commit/slow_disk.rs"]
mod slow_disk;

#[path = "../tests/store/world.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod world;

use futures::future::join_all;
use podo_adapters::sql::SqlStore;
use podo_app::payments::port::payments::{ConfirmPayment, Payments};
use purchases::{confirm_all, median, prepare, print_head, print_row};
use rusqlite::Connection;
use std::path::Path;
use std::time::Instant;
use world::{Plan, World};

/// The allocator of the shipped binary; SQLite uses it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: u32 = 5;

/// Concurrent clients, and the purchases of each per round.
const LOADS: [(usize, usize); 3] = [(1, 200), (64, 32), (256, 11)];

/// As many clients with a connection each, as in a program without a single writer: one COMMIT per
/// purchase, and the connections compete for SQLite's lock.
const APART: (usize, usize) = (64, 6);

const PURCHASES_PER_ROUND: usize = 200 + 64 * 32 + 256 * 11 + 64 * 6;

const INSERTS_PER_ROUND: u32 = 300;

const SEATS_PER_ROW: u32 = 2_200;

// Every purchase takes two seats of a hall with 26 rows.
const _: () = assert!(2 * PURCHASES_PER_ROUND * ROUNDS as usize <= 26 * SEATS_PER_ROW as usize);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|argument| argument == "--sync-ms") {
        Some(option) => {
            let ms = arguments.get(option + 1).and_then(|ms| ms.parse().ok());
            slow_disk::run_again(ms.expect("`--sync-ms` takes milliseconds, such as 3"));
        }
        None => measure(),
    }
}

fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let plan =
        Plan { rows: 26, seats_per_row: SEATS_PER_ROW, seats_per_person: 4, off: Vec::new() };
    let world = runtime.block_on(World::planned(plan));
    let plain = open_plain(&world.engine.path().with_file_name("plain.db"));
    let stores: Vec<SqlStore> =
        (0..APART.0).map(|_| world.engine.open_copy(&world.engine.path())).collect();
    let (mut plain_rates, mut apart_rates) = (Vec::new(), Vec::new());
    let mut rates = [const { Vec::new() }; LOADS.len()];
    for round in 0..ROUNDS {
        let mut ready = runtime.block_on(prepare(&world, round, PURCHASES_PER_ROUND));
        plain_rates.push(insert_one_by_one(&plain));
        let commands = ready.split_off(ready.len() - APART.0 * APART.1);
        apart_rates.push(runtime.block_on(confirm_apart(&stores, commands)));
        // Each round starts with another load, so that none always runs on the same state.
        for turn in 0..LOADS.len() {
            let load = (turn + round as usize) % LOADS.len();
            let (n_clients, n_each) = LOADS[load];
            let commands = ready.split_off(ready.len() - n_clients * n_each);
            rates[load].push(runtime.block_on(confirm_all(&world.store, commands, n_clients)));
        }
    }
    runtime.block_on(world.finish());
    let alone = median(&rates[0]);
    print_head();
    print_row("SQLite alone: one small insert per COMMIT", &plain_rates, alone);
    let what = format!("purchases, {} clients: a connection and COMMITs each", APART.0);
    print_row(&what, &apart_rates, alone);
    for ((n_clients, _), rates) in LOADS.iter().zip(&rates) {
        let what = match n_clients {
            1 => "purchases, 1 client: one COMMIT each".to_owned(),
            _ => format!("purchases, {n_clients} clients: shared COMMITs"),
        };
        print_row(&what, rates, alone);
    }
}

/// Each client has its own store on the same file. One that doesn't get SQLite's lock in time
/// retries.
async fn confirm_apart(stores: &[SqlStore], commands: Vec<ConfirmPayment>) -> f64 {
    let n_commands = commands.len();
    let shares: Vec<_> = commands.chunks(n_commands / stores.len()).collect();
    let started = Instant::now();
    join_all(stores.iter().zip(shares).map(async |(store, mine)| {
        for command in mine {
            while store.confirm_payment(command.clone()).await.is_err() {}
        }
    }))
    .await;
    n_commands as f64 / started.elapsed().as_secs_f64()
}

/// The pragmas of the store.
fn open_plain(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a new file can be opened");
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

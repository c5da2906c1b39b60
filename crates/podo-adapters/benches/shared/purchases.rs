//! Shared by the benchmarks of both engines: purchases ready to confirm, clients that confirm them,
//! and the table.

use crate::world::{Fan, World, at};
use futures::future::join_all;
use podo_adapters::sql::SqlStore;
use podo_app::payments::port::payments::{ConfirmPayment, Payments};
use podo_domain::payments::PaymentMethod;
use std::time::Instant;

/// Concurrent preparations; they aren't timed.
const PREPARED_AT_ONCE: usize = 512;

/// Fans with money and two held seats each, ready to confirm.
pub(crate) async fn prepare(world: &World, round: u32, n_purchases: usize) -> Vec<ConfirmPayment> {
    let fans = world.fans(n_purchases).await;
    let first = round * u32::try_from(2 * n_purchases).expect("few enough");
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

/// Each client waits for its answer before it sends the next. Returns the total purchases per
/// second.
pub(crate) async fn confirm_all(
    store: &SqlStore,
    commands: Vec<ConfirmPayment>,
    n_clients: usize,
) -> f64 {
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

pub(crate) fn median(rates: &[f64]) -> f64 {
    sorted(rates)[rates.len() / 2]
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
pub(crate) fn print_head() {
    println!("{:<50}{:>10}{:>17}{:>9}", "", "per second", "range", "ratio");
}

/// The median, the range, and the ratio to the baseline.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub(crate) fn print_row(what: &str, rates: &[f64], one: f64) {
    let (sorted, middle) = (sorted(rates), median(rates));
    let range = format!("{:.0} to {:.0}", sorted[0], sorted[sorted.len() - 1]);
    println!("{what:<50}{middle:>10.0}{range:>17}{:>8.2}x", middle / one);
}

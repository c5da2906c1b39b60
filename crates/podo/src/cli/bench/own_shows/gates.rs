//! Fifty gates behind one address scan five tickets a second each, under the limits of production:
//! how long does a guest wait, and is any of them refused?

use crate::bootstrap;
use crate::cli::bench::figure::table::PER_SECOND;
use crate::cli::bench::figure::{Figure, Times};
use crate::cli::bench::process::Meter;
use crate::cli::bench::{Bench, prepare, start};
use crate::config::Config;
use crate::simulated_fans;
use anyhow::{Context, Result};
use podo_app::tickets::gate_port::ChangedSince;
use podo_app::tickets::holders::code_text;
use podo_domain::{ScheduleId, Timestamp};
use podo_load::{Crowd, FanAccount, GateCall, Target, call_from_gates};
use uuid::Uuid;

const N_GATES: u32 = 50;
const SCANS_PER_GATE: u32 = 5;

/// Every device asks for the counts every ten seconds: once in fifty of its scans.
const SCANS_PER_COUNT: usize = 50;

/// Returns the figures, and whether every ticket was admitted.
pub(super) async fn measure(bench: &Bench, config: &Config) -> Result<(Vec<Figure>, bool)> {
    let schedule = sell(bench, config).await?;
    let (stewards, calls) = open_gates(config, schedule).await?;
    let n_calls = calls.len() as u64;
    let mut server = start(&config.data, &[("PODO_LIMITS", "on")], &Meter::Time)?;
    let target = Target::at(&server.url)?.from_one_address();
    let scans_per_second = f64::from(N_GATES * SCANS_PER_GATE);
    let per_second = scans_per_second * (1.0 + 1.0 / SCANS_PER_COUNT as f64);
    let run = call_from_gates(&target, schedule, &stewards, calls, per_second).await?;
    server.stop()?;
    let n_refused = n_calls - run.statuses.get(&200).copied().unwrap_or(0);
    let what = format!("scans and counts of {N_GATES} gates behind one address");
    let calls = Figure {
        times: Times::of(&run.latencies),
        ..Figure::alone(what, run.per_second(), PER_SECOND)
    };
    let refused = Figure::alone(format!("refused of {n_calls}"), n_refused as f64, "calls");
    Ok((vec![calls, refused], n_refused == 0))
}

/// Sells two seats to every fan.
async fn sell(bench: &Bench, config: &Config) -> Result<ScheduleId> {
    let (schedule, accounts) = prepare(bench, config).await?;
    let mut server = start(&config.data, &[("PODO_LIMITS", "off")], &Meter::Time)?;
    let target = Target::at(&server.url)?;
    let crowd = Crowd::queue(target, schedule, &accounts, bench.connections).await?;
    let ready = crowd.prepare_to_pay(0..accounts.len()).await?;
    crowd.pay(ready).await?;
    server.stop()?;
    Ok(schedule)
}

/// The stewards, and what they will ask: to admit every ticket, and the counts.
async fn open_gates(
    config: &Config,
    schedule: ScheduleId,
) -> Result<(Vec<FanAccount>, Vec<GateCall>)> {
    let context = bootstrap::context(config).await?.context;
    let stewards = simulated_fans::stewards(&context, N_GATES).await?;
    let since = ChangedSince { at: Timestamp::from_ms(0), ticket: Uuid::nil() };
    let tickets = context.store.gate_tickets(schedule, since, u32::MAX >> 1).await?;
    tickets.first().context("no ticket was sold: use more seats or fewer fans")?;
    let mut calls = Vec::with_capacity(tickets.len() + tickets.len() / SCANS_PER_COUNT);
    for (number, ticket) in tickets.iter().enumerate() {
        let code = code_text(&context, ticket.ticket.uuid(), &ticket.code);
        calls.push(GateCall::CheckIn { code });
        if number % SCANS_PER_COUNT == 0 {
            calls.push(GateCall::Attendance);
        }
    }
    Ok((stewards, calls))
}

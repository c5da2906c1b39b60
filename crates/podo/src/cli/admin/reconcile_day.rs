//! `podo admin reconcile`: compares the gateways' records, our payments and the tickets of a day.

use crate::bootstrap;
use crate::config::Config;
use anyhow::{Result, anyhow};
use clap::Args;
use podo_app::payments::reports::{CurrencySum, reconcile_day};
use podo_domain::Money;
use std::process::ExitCode;

#[derive(Args)]
pub(crate) struct Reconcile {
    /// The day in the time zone of the settings, YYYY-MM-DD.
    #[arg(long, value_name = "DAY")]
    day: String,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(command: Reconcile, config: Config) -> Result<ExitCode> {
    let context = bootstrap::context(&config).await?.context;
    let report = reconcile_day(&context, &command.day).await;
    let report = report.map_err(|error| anyhow!("{error}"))?;
    let is_clean = report.n_differences == 0;
    if command.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{}: {} payments, {} tickets", report.day, report.payments, report.tickets);
        for CurrencySum { currency, captured, refunded, .. } in &report.sums {
            let of = |amount| Money::new(amount, *currency);
            println!("{} charged, {} refunded", of(*captured), of(*refunded));
        }
        for it in &report.differences {
            println!(
                "{} {:<8} {} {:<9} ours {:>12} theirs {:>12}",
                it.payment_id,
                it.gateway,
                it.currency.as_str(),
                format!("{:?}", it.kind),
                it.ours,
                it.theirs
            );
        }
        match report.n_differences {
            0 => println!("Gateways, payments and tickets agree."),
            n => println!("{n} differences."),
        }
    }
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

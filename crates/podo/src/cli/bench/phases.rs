//! A presale for members, then the general sale, with ticket types, a fee and a code.

use crate::bootstrap;
use crate::cli::bench::{Bench, Profile, sales};
use crate::cli::stage::terms;
use crate::cli::stage::terms::{SaleTerms, StagedPhase};
use crate::config::Config;
use anyhow::{Context, Result};
use podo_domain::booking::order::options::{Discount, Fee, FeeRefund, Fees, TicketTypeInput};
use podo_domain::booking::order::promotions::PromotionPer;
use podo_domain::catalog::phases::PhaseAudience;
use podo_domain::{ScheduleId, Won};
use podo_load::{Ending, LoadPlan, Report};
use std::time::Duration;

/// Fans who verify and gather in a second, and members who buy in a second of the presale. Slow
/// enough for a debug build.
const FANS_PER_SECOND: u32 = 100;

/// The shortest presale, and the least time before it.
const LEAST: Duration = Duration::from_secs(10);

fn at_least(n_fans: u32) -> Duration {
    Duration::from_secs(u64::from(n_fans / FANS_PER_SECOND)).max(LEAST)
}

/// Time between the setup of the stage and the presale.
pub(super) fn opens_in(n_fans: u32) -> Duration {
    at_least(n_fans)
}

/// Sets up the phases, and what the fans do in them; `None` for other profiles.
pub(super) async fn plan(
    bench: &Bench,
    config: &Config,
    schedule: ScheduleId,
) -> Result<Option<LoadPlan>> {
    if bench.profile != Profile::Phases {
        return Ok(None);
    }
    let context = bootstrap::context(config).await?.context;
    let n_members = bench.fans.div_ceil(2);
    let presale = StagedPhase::presale(PhaseAudience::Members, n_members, at_least(n_members));
    let sale = SaleTerms {
        phases: vec![presale, StagedPhase::general(bench.fans - n_members)],
        ticket_types: vec![youth()],
        fees: Fees { booking: Some(booking_fee()?), order: None },
        codes: vec![(Discount::Percent(10), PromotionPer::Order)],
        kept: Vec::new(),
    };
    let staged = terms::set(&context, schedule, sale).await?;
    let patience = Duration::from_secs(3_600);
    let plan = sales::plan(bench, schedule);
    Ok(Some(LoadPlan { phases: staged.phases, checkout: staged.checkout, patience, ..plan }))
}

fn youth() -> TicketTypeInput {
    TicketTypeInput {
        id: None,
        name: "청소년".to_owned(),
        name_en: "Youth".to_owned(),
        grades: None,
        discount: Discount::Percent(20),
        per_order: None,
        proof: None,
        proof_en: None,
    }
}

fn booking_fee() -> Result<Fee> {
    let amount = Won::new(2_000).context("a fee is an amount")?;
    Ok(Fee { amount, refund: FeeRefund::BookingDay })
}

/// Whether each waiting room kept its order, and no answer was unexpected.
pub(super) fn judge(report: &Report) -> bool {
    println!("{}", report.places);
    let places = &report.places;
    let is_kept = report.unexpected == 0
        && report.ended(Ending::Failed) == 0
        && places.lost + places.grown + places.doubled + places.passed == 0;
    if !is_kept {
        println!("a guarantee to the fans was violated, see above");
    }
    is_kept
}

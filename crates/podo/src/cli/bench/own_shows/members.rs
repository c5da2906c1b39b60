//! How fast a member list is read over HTTP, and how much memory the server needs for it.

use crate::bootstrap;
use crate::cli::bench::figure::Figure;
use crate::cli::bench::figure::table::PER_SECOND;
use crate::cli::bench::process::{Meter, peak_kb};
use crate::cli::bench::{Bench, prepare, start};
use crate::cli::stage::terms;
use crate::cli::stage::terms::{Lines, SaleTerms, StagedPhase};
use crate::config::Config;
use crate::simulated_fans;
use anyhow::{Context, Result};
use podo_domain::catalog::phases::PhaseAudience;
use podo_load::{Target, upload_members};
use std::time::{Duration, Instant};

/// The sale opens after the list was read.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the figures, and whether every line became a member.
pub(super) async fn measure(bench: &Bench, config: &Config) -> Result<(Vec<Figure>, bool)> {
    let n_members = bench.fans;
    let (schedule, _) = prepare(&Bench { fans: 1, ..bench.clone() }, config).await?;
    let context = bootstrap::context(config).await?.context;
    let presale = StagedPhase::presale(PhaseAudience::Members, 0, DAY);
    let sale = SaleTerms { phases: vec![presale], ..SaleTerms::default() };
    let staged = terms::set(&context, schedule, sale).await?;
    let phase = staged.phases.first().context("the presale is staged")?.phase;
    let organiser = simulated_fans::organiser(&context).await?;
    drop(context);
    let mut server = start(&config.data, &[("PODO_LIMITS", "off")], &Meter::Time)?;
    let target = Target::at(&server.url)?;
    let before_kb = peak_kb(server.process.id())?;
    let began = Instant::now();
    let view = upload_members(&target, &organiser, phase, Lines::of(n_members)).await?;
    let length = began.elapsed();
    let more = peak_kb(server.process.id())?.saturating_sub(before_kb);
    server.stop()?;
    let rate = f64::from(n_members) / length.as_secs_f64();
    let figures = vec![
        Figure::alone(format!("lines of a list of {n_members} members"), rate, PER_SECOND),
        Figure::alone("length of that upload", length.as_secs_f64(), "s"),
        Figure::alone("more memory of the server during it", more as f64 / 1e3, "MB"),
    ];
    Ok((figures, view["added"] == n_members && view["wrong"] == 0))
}

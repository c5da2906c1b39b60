//! Profiles that create their own shows, or need none.

mod drain;
mod gates;
mod grown;
mod members;

use crate::cli::bench::figure::Figure;
use crate::cli::bench::{Bench, Profile};
use crate::config::Config;
use anyhow::Result;

/// The figures, and whether every guarantee holds; `None` for profiles with a prepared show.
pub(super) async fn measure(bench: &Bench, config: &Config) -> Result<Option<(Vec<Figure>, bool)>> {
    Ok(match bench.profile {
        Profile::Drain => Some((vec![drain::measure(config, bench.fans).await?], true)),
        Profile::Grown => Some((grown::measure(bench, config).await?, true)),
        Profile::Gates => Some(gates::measure(bench, config).await?),
        Profile::Members => Some(members::measure(bench, config).await?),
        Profile::Sale
        | Profile::Phases
        | Profile::Opening
        | Profile::National
        | Profile::Connections
        | Profile::Streams
        | Profile::Attack
        | Profile::Polls
        | Profile::Growth
        | Profile::OneSeat
        | Profile::Holds
        | Profile::Wallet
        | Profile::SeatMap => None,
    })
}

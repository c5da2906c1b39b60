//! All profiles one after the other, as `docs/performance.md` shows them.

use super::figure::markdown;
use super::page::Findings;
use super::{Bench, Profile, against_own_server, memory};
use crate::config::Config;
use anyhow::Result;

/// A profile with as many fans and seats as its figure asks for.
struct Part {
    profile: Profile,
    fans: u32,
    seats: u32,
}

const PARTS: [Part; 7] = [
    Part { profile: Profile::Polls, fans: 20_000, seats: 1_000 },
    Part { profile: Profile::OneSeat, fans: 10_000, seats: 1_000 },
    Part { profile: Profile::Holds, fans: 15_000, seats: 60_000 },
    Part { profile: Profile::Wallet, fans: 30_000, seats: 60_000 },
    Part { profile: Profile::SeatMap, fans: 64, seats: 50_000 },
    Part { profile: Profile::Connections, fans: 5_000, seats: 1_000 },
    // Last: the course of this sale is shown.
    Part { profile: Profile::Sale, fans: 50_000, seats: 20_000 },
];

/// Each part has a store of its own. Says what was found, and whether all promises were kept.
pub(super) async fn run(bench: &Bench, config: &Config) -> Result<(Findings, bool)> {
    let mut all = Findings::default();
    let mut is_clean = true;
    for (number, part) in PARTS.iter().enumerate() {
        let Part { profile, fans, seats } = *part;
        let bench = Bench { profile, fans, seats, ..bench.clone() };
        let mut config = config.clone();
        config.data = config.data.join(number.to_string());
        println!("\n{profile:?}: {fans} fans, {seats} seats");
        let (found, is_kept) = against_own_server(&bench, &config).await?;
        is_clean &= is_kept;
        all.figures.extend(found.figures);
        all.sale = found.sale.or(all.sale);
        if number + 1 == PARTS.len() {
            all.figures.extend(memory::idle(&config.data).await?);
        }
    }
    println!("\n{}", markdown(&all.figures));
    Ok((all, is_clean))
}

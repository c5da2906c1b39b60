//! Runs all profiles in turn, as in `docs/performance.md`.

use crate::cli::bench::figure::markdown;
use crate::cli::bench::figure::page::Findings;
use crate::cli::bench::{Bench, Profile, against_own_server, memory};
use crate::config::Config;
use anyhow::Result;

/// A profile with the numbers of fans and seats that its figure needs.
struct Part {
    profile: Profile,
    fans: u32,
    seats: u32,
}

const PARTS: [Part; 10] = [
    Part { profile: Profile::Polls, fans: 20_000, seats: 1_000 },
    Part { profile: Profile::OneSeat, fans: 10_000, seats: 1_000 },
    Part { profile: Profile::Holds, fans: 15_000, seats: 60_000 },
    Part { profile: Profile::Wallet, fans: 30_000, seats: 60_000 },
    Part { profile: Profile::SeatMap, fans: 64, seats: 50_000 },
    Part { profile: Profile::Connections, fans: 5_000, seats: 1_000 },
    Part { profile: Profile::Gates, fans: 1_000, seats: 2_000 },
    Part { profile: Profile::Grown, fans: 20_000, seats: 1_000 },
    Part { profile: Profile::Sale, fans: 50_000, seats: 20_000 },
    // Last, because the report shows the course of this sale.
    Part { profile: Profile::National, fans: 1_000_000, seats: 50_000 },
];

/// Every part has its own store. Returns the findings, and whether all invariants hold.
pub(super) async fn run(bench: &Bench, config: &Config) -> Result<(Findings, bool)> {
    let mut all = Findings::default();
    let mut is_clean = true;
    for Part { profile, fans, seats } in PARTS {
        let bench = Bench { profile, fans, seats, ..bench.clone() };
        let mut config = config.clone();
        config.data = config.data.join(format!("{profile:?}"));
        println!("\n{profile:?}: {fans} fans, {seats} seats");
        let (found, is_kept) = against_own_server(&bench, &config).await?;
        is_clean &= is_kept;
        all.figures.extend(found.figures);
        all.sale = found.sale.or(all.sale);
        if profile == Profile::Sale {
            all.figures.extend(memory::idle(&config.data).await?);
        }
    }
    println!("\n{}", markdown(&all.figures));
    Ok((all, is_clean))
}

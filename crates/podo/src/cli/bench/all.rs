//! Runs all profiles in turn, as in `docs/performance.md`.

use crate::cli::bench::figure::page::Findings;
use crate::cli::bench::figure::{Beside, Figure, markdown};
use crate::cli::bench::seats::WALLET_PURCHASES;
use crate::cli::bench::{Bench, Profile, against_own_server, is_embedded, memory};
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

/// The parts that say something of PostgreSQL and Redis; they share one store.
const DISTRIBUTED: [Profile; 6] = [
    Profile::Polls,
    Profile::OneSeat,
    Profile::Holds,
    Profile::Wallet,
    Profile::Grown,
    Profile::Sale,
];

/// Every part has its own embedded store. Returns the findings, and whether all invariants hold.
pub(super) async fn run(bench: &Bench, config: &Config) -> Result<(Findings, bool)> {
    let mut all = Findings::default();
    let mut is_clean = true;
    let is_embedded = is_embedded(config);
    for Part { profile, fans, seats } in PARTS {
        if !is_embedded && !DISTRIBUTED.contains(&profile) {
            continue;
        }
        let bench = Bench { profile, fans, seats, ..bench.clone() };
        let mut config = config.clone();
        config.data = config.data.join(format!("{profile:?}"));
        println!("\n{profile:?}: {fans} fans, {seats} seats");
        let (mut found, is_kept) = against_own_server(&bench, &config).await?;
        is_clean &= is_kept;
        if profile == Profile::Sale {
            compare_with_bare_purchases(&mut found.figures, &all.figures);
        }
        all.figures.extend(found.figures);
        all.sale = found.sale.or(all.sale);
        if profile == Profile::Sale {
            all.figures.extend(memory::idle(&config.data).await?);
        }
    }
    println!("\n{}", markdown(&all.figures));
    Ok((all, is_clean))
}

/// A purchase in a sale does more than the payment: it waits, looks and chooses before, and fans who
/// get no seat do so too.
fn compare_with_bare_purchases(sale: &mut [Figure], before: &[Figure]) {
    let bare = before.iter().find(|figure| figure.what == WALLET_PURCHASES);
    if let (Some(sale), Some(bare)) = (sale.first_mut(), bare) {
        sale.beside.push(Beside { what: bare.what.clone(), value: bare.value, times: None });
    }
}

//! `podo verify-draw`: lets anyone recompute the order of a lobby, or the winners of a draw sale.

#[path = "draw/applications.rs"]
mod applications;
#[path = "draw/list.rs"]
mod list;

use crate::config::secret::parse;
use anyhow::{Context, Result, bail};
use applications::Quantity;
use clap::Args;
use podo_domain::waiting_room::draw;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct VerifyDraw {
    /// The seed, as published after the opening (64 hexadecimal digits).
    #[arg(long)]
    seed: String,
    /// The hash of the seed, as published before the opening.
    #[arg(long)]
    hash: String,
    /// The number of indexes in the draw.
    #[arg(long)]
    drawn: u32,
    /// Show only this index.
    #[arg(long)]
    index: Option<u32>,
    /// The published list of applications of a draw sale: recompute who wins.
    #[arg(long, value_name = "FILE", requires = "quantity")]
    applications: Option<PathBuf>,
    /// The quantity of a grade in a draw sale, such as `VIP=100`; repeat it for every grade.
    #[arg(long, value_name = "GRADE=SEATS")]
    quantity: Vec<Quantity>,
    /// The hash of the list of applications, as published after the draw.
    #[arg(long, value_name = "HASH", requires = "applications")]
    list_hash: Option<String>,
}

pub(super) fn run(asked: &VerifyDraw) -> Result<ExitCode> {
    let seed = parse(&asked.seed).context("--seed: 64 hexadecimal digits")?;
    let hash = parse(&asked.hash).context("--hash: 64 hexadecimal digits")?;
    if !draw::verify(&seed, &hash) {
        println!("The seed doesn't match the published hash: this draw was tampered with.");
        return Ok(ExitCode::FAILURE);
    }
    println!("The seed matches the published hash.");
    let places = draw::permutation(&seed, asked.drawn);
    if let Some(file) = &asked.applications {
        return applications::check(asked, file, &places);
    }
    match asked.index {
        Some(index) => match places.get(index as usize) {
            Some(place) => println!("Lobby index {index} was drawn as number {}.", place + 1),
            None => bail!("--index: must be below --drawn"),
        },
        None => {
            for (index, place) in places.iter().enumerate() {
                println!("{index} {}", place + 1);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

//! `podo verify-draw`: lets anyone recompute the order of a lobby.

use crate::config::secret::parse;
use anyhow::{Context, Result, bail};
use clap::Args;
use podo_domain::waiting_room::draw;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct VerifyDraw {
    /// The seed, as published after the opening (64 hexadecimal digits).
    #[arg(long)]
    seed: String,
    /// The hash of the seed, as published before the opening.
    #[arg(long)]
    hash: String,
    /// The number of lobby indexes in the draw.
    #[arg(long)]
    drawn: u32,
    /// Show only the place of this lobby index.
    #[arg(long)]
    index: Option<u32>,
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

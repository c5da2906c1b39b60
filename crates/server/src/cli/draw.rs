//! `podo verify-draw`: anybody can recompute the order of a lobby.

use crate::secret::parse;
use anyhow::{Context, Result, bail};
use clap::Args;
use domain::draw;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct VerifyDraw {
    /// The seed, as published after the opening (64 hexadecimal digits).
    #[arg(long)]
    seed: String,
    /// The seed's hash, as published before it.
    #[arg(long)]
    hash: String,
    /// Over how many indexes of the lobby the draw went.
    #[arg(long)]
    drawn: u32,
    /// Show the place of this lobby index only.
    #[arg(long)]
    index: Option<u32>,
}

pub(super) fn run(asked: &VerifyDraw) -> Result<ExitCode> {
    let seed = parse(&asked.seed).context("--seed: 64 hexadecimal digits")?;
    let hash = parse(&asked.hash).context("--hash: 64 hexadecimal digits")?;
    if !draw::verify(&seed, &hash) {
        println!("The seed does not have the published hash: this draw was tampered with.");
        return Ok(ExitCode::FAILURE);
    }
    println!("The seed has the published hash.");
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

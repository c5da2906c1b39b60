//! `sim --seeds 0..2000 [--mutation NAME]`: plays many on-sales and stops at the first broken rule,
//! with its trace and the seed that replays it. `--mutation all` shows which seed catches each
//! removed guard.
//!
//! `sim capacity --fans 100000 --seats 20000 [--cores 4] [--costs FILE]`: how many nodes such a
//! crowd needs, by the figures of docs/performance.md or of `podo bench --all --json FILE`.

use podo_sim::capacity::{Costs, Day, Need};
use podo_sim::{Coverage, CoverageCounts, Mutation, holds, simulate};
use std::io::{self, Write};
use std::ops::Range;
use std::process::ExitCode;

const USAGE: &str = "usage: sim [--seeds FROM..TO] [--mutation NAME|all]
       sim capacity --fans N --seats N [--cores N] [--costs FILE]";

struct Arguments {
    seeds: Range<u64>,
    /// None for all of them, one after the other.
    mutation: Option<Mutation>,
}

fn main() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == "capacity").is_some() {
        return match weigh(words) {
            Ok(need) => write!(out, "{need}").map(|()| ExitCode::SUCCESS),
            Err(problem) => {
                writeln!(io::stderr(), "{problem}\n{USAGE}")?;
                Ok(ExitCode::from(2))
            }
        };
    }
    match parse(words) {
        Ok(Arguments { seeds, mutation: Some(mutation) }) => play(seeds, mutation, &mut out),
        Ok(Arguments { seeds, mutation: None }) => catch_all(&seeds, &mut out),
        Err(problem) => {
            writeln!(io::stderr(), "{problem}\n{USAGE}")?;
            Ok(ExitCode::from(2))
        }
    }
}

fn weigh(mut words: impl Iterator<Item = String>) -> Result<Need, String> {
    let (mut day, mut cores, mut costs) = (Day { fans: 0, seats: 0 }, 4, Costs::default());
    let number = |text: &str| text.parse().map_err(|error| format!("`{text}`: {error}"));
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--fans" => day.fans = number(&value)?,
            "--seats" => day.seats = number(&value)?,
            "--cores" => cores = number(&value)?,
            "--costs" => {
                let text = std::fs::read_to_string(&value);
                costs = Costs::read(&text.map_err(|error| format!("{value}: {error}"))?)?;
            }
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if day.fans == 0 || day.seats == 0 || cores == 0 {
        return Err("--fans, --seats and --cores must be at least 1".to_owned());
    }
    Ok(Need::of(&day, &costs, cores))
}

fn play(seeds: Range<u64>, mutation: Mutation, out: &mut impl Write) -> io::Result<ExitCode> {
    let (mut steps, mut sightings) = (0, CoverageCounts::default());
    let n_seeds = seeds.end.saturating_sub(seeds.start);
    for seed in seeds {
        // A failed assertion is a violation too: report the seed that replays it.
        let run = std::panic::catch_unwind(|| simulate(seed, mutation));
        match run {
            Ok(Ok(run)) => {
                steps += run.steps;
                sightings.add(&run.sightings);
            }
            Ok(Err(violation)) => {
                writeln!(out, "{violation}")?;
                writeln!(out, "put {seed} into crates/podo-sim/regress-seeds.txt")?;
                return Ok(ExitCode::FAILURE);
            }
            Err(_panic) => {
                writeln!(out, "seed {seed}: something refused to go on; see the panic above")?;
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    for coverage in Coverage::ALL {
        writeln!(out, "{:>8}  {coverage:?}", sightings.count(*coverage))?;
    }
    writeln!(out, "{n_seeds} seeds, {steps} steps, 0 violations")?;
    Ok(ExitCode::SUCCESS)
}

/// The first seed that catches each mutation, as rows of a table.
fn catch_all(seeds: &Range<u64>, out: &mut impl Write) -> io::Result<ExitCode> {
    let mut is_all = true;
    for mutation in Mutation::ALL {
        let found = seeds.clone().find_map(|seed| holds(seed, *mutation).err());
        match found {
            Some(it) => {
                writeln!(out, "| {} | {} | {} |", mutation.as_str(), it.rule, it.seed)?;
            }
            None => {
                is_all = false;
                writeln!(out, "| {} | NOT CAUGHT | |", mutation.as_str())?;
            }
        }
    }
    Ok(if is_all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { seeds: 0..200, mutation: Some(Mutation::None) };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--seeds" => arguments.seeds = parse_seeds(&value)?,
            "--mutation" if value == "all" => arguments.mutation = None,
            "--mutation" => {
                let found = Mutation::parse(&value);
                arguments.mutation =
                    Some(found.ok_or_else(|| format!("no mutation is called {value}"))?);
            }
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok(arguments)
}

/// `3..7`, or `3` for one seed.
fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |part: &str| part.parse().map_err(|error| format!("`{part}`: {error}"));
    match text.split_once("..") {
        Some((from, to)) => Ok(number(from)?..number(to)?),
        None => number(text).map(|seed: u64| seed..seed.saturating_add(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_or_one_number() {
        assert_eq!(parse_seeds("3..7"), Ok(3..7));
        assert_eq!(parse_seeds("3"), Ok(3..4));
        assert!(parse_seeds("3..").is_err() && parse_seeds("many").is_err());
    }
}

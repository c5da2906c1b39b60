//! `sim --seeds 0..200 [--mutation NAME]`: plays many on-sales and stops at the first broken
//! rule, with the seed that replays it.

use sim::{Mutation, Sight, Sightings, simulate};
use std::io::{self, Write};
use std::ops::Range;
use std::process::ExitCode;

const USAGE: &str = "usage: sim [--seeds FROM..TO] [--mutation NAME]";

struct Arguments {
    seeds: Range<u64>,
    mutation: Mutation,
}

fn main() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match parse(std::env::args().skip(1)) {
        Ok(arguments) => play(&arguments, &mut out),
        Err(problem) => {
            writeln!(io::stderr(), "{problem}\n{USAGE}")?;
            Ok(ExitCode::from(2))
        }
    }
}

fn play(arguments: &Arguments, out: &mut impl Write) -> io::Result<ExitCode> {
    let mut steps = 0;
    let mut sightings = Sightings::default();
    for seed in arguments.seeds.clone() {
        // A broken assertion of a rule is a violation too: say which seed replays it.
        let run = std::panic::catch_unwind(|| simulate(seed, arguments.mutation));
        match run {
            Ok(Ok(run)) => {
                steps += run.steps;
                sightings.add(&run.sightings);
            }
            Ok(Err(violation)) => {
                writeln!(out, "{violation}")?;
                return Ok(ExitCode::FAILURE);
            }
            Err(_panic) => {
                writeln!(out, "seed {seed}: a rule refused to go on; see the panic above")?;
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    for sight in Sight::ALL {
        writeln!(out, "{:>8}  {sight:?}", sightings.count(sight))?;
    }
    let n_seeds = arguments.seeds.end.saturating_sub(arguments.seeds.start);
    writeln!(out, "{n_seeds} seeds, {steps} steps, 0 violations")?;
    Ok(ExitCode::SUCCESS)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { seeds: 0..200, mutation: Mutation::None };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--seeds" => arguments.seeds = parse_seeds(&value)?,
            "--mutation" => {
                arguments.mutation = Mutation::parse(&value)
                    .ok_or_else(|| format!("no mutation is called {value}"))?;
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

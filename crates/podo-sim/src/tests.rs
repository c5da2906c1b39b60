//! The rules hold over 2,000 seeds, every rare event occurs, and the checkers notice each removed
//! guard. Parts of it run in parallel.

use crate::*;
use podo_adapters::sql::Edit;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// The maximum number of seeds to catch a mutation.
const CAUGHT_WITHIN: u64 = 2_000;

#[track_caller]
fn hold_over(seeds: Range<u64>) -> CoverageCounts {
    let mut sightings = CoverageCounts::default();
    for seed in seeds {
        match simulate(seed, Mutation::None) {
            Ok(run) => sightings.add(&run.sightings),
            Err(violation) => panic!("{violation}"),
        }
    }
    sightings
}

#[test]
fn every_rare_moment_was_seen() {
    let mut sightings = hold_over(0..250);
    // A change of the product moves the rarest moments to other seeds.
    let mut more = 2_000..2_500;
    while !sightings.missing().is_empty() && !more.is_empty() {
        let next = more.start + 25;
        sightings.add(&hold_over(more.start..next));
        more.start = next;
    }
    assert_eq!(sightings.missing(), Vec::new(), "never seen in {} seeds", 250 + more.start - 2_000);
    const { assert!(Coverage::ALL.len() >= 25) };
}

macro_rules! every_rule_holds {
    ($($name:ident: $seeds:expr,)+) => {
        $(#[test]
        fn $name() {
            hold_over($seeds);
        })+
    };
}

every_rule_holds! {
    every_rule_holds_from_250: 250..500,
    every_rule_holds_from_500: 500..750,
    every_rule_holds_from_750: 750..1_000,
    every_rule_holds_from_1000: 1_000..1_250,
    every_rule_holds_from_1250: 1_250..1_500,
    every_rule_holds_from_1500: 1_500..1_750,
    every_rule_holds_from_1750: 1_750..2_000,
}

#[test]
fn seeds_that_once_broke_a_rule_hold() {
    let seeds = REGRESS.lines().filter(|line| !line.starts_with('#'));
    for line in seeds {
        let seed = line.split_whitespace().next().and_then(|word| word.parse().ok());
        let seed: u64 = seed.unwrap_or_else(|| panic!("no seed in `{line}`"));
        hold_over(seed..seed + 1);
    }
}

#[test]
fn a_seed_replays_its_run_exactly() {
    let told = |seed| trace(seed, Mutation::None).unwrap().trace;
    for seed in [3, 4, 5, 6] {
        assert_eq!(told(seed), told(seed));
    }
    assert_ne!(told(3), told(4));
}

/// Every mutation is noticed, and by the right rule. Part of them, because some take hundreds of
/// seeds.
#[track_caller]
fn miss_guards(part: usize) {
    for mutation in Mutation::ALL.iter().skip(part).step_by(N_PARTS) {
        let found = (0..CAUGHT_WITHIN).find_map(|seed| holds(seed, *mutation).err());
        let rule = found.map(|violation| violation.rule);
        let is_known = rule.is_some_and(|rule| mutation.caught_as().contains(&rule));
        assert!(is_known, "{}: caught as {rule:?}", mutation.as_str());
    }
}

const N_PARTS: usize = 5;

macro_rules! every_guard_is_missed {
    ($($name:ident: $part:expr,)+) => {
        $(#[test]
        fn $name() {
            miss_guards($part);
        })+
    };
}

every_guard_is_missed! {
    every_guard_that_is_taken_away_is_missed: 0,
    every_guard_that_is_taken_away_is_missed_1: 1,
    every_guard_that_is_taken_away_is_missed_2: 2,
    every_guard_that_is_taken_away_is_missed_3: 3,
    every_guard_that_is_taken_away_is_missed_4: 4,
}

#[test]
fn there_are_many_guards() {
    assert!(Mutation::ALL.len() >= 45);
}

/// An edit whose statement was reworded removes no guard, and its test would show nothing.
#[test]
fn every_edit_matches_a_statement_of_the_product() {
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("../podo-adapters/src/sql");
    let mut statements = String::new();
    read_sources(&sql, &mut statements);
    for mutation in Mutation::ALL {
        for edit in mutation.edits() {
            let (Edit::Replace { from, .. } | Edit::ReplaceIn { from, .. } | Edit::Skip(from)) =
                edit;
            assert!(statements.contains(from), "{}: no statement has `{from}`", mutation.as_str());
        }
    }
}

fn read_sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, text);
        } else if !path.ends_with("mutants.rs") {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

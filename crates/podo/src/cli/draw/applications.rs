//! Recomputes the winners of a draw sale from the published list, and checks that the offers kept
//! to the drawn order.

use super::VerifyDraw;
use super::list::{Line, read};
use crate::config::secret::parse;
use anyhow::{Context, Result, bail};
use podo_domain::booking::draws::{Application, ApplicationState, ListHash, winners};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

/// `VIP=100`.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    grade: String,
    seats: u32,
}

impl FromStr for Quantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Quantity, String> {
        let (grade, seats) = text.rsplit_once('=').ok_or("such as VIP=100")?;
        let seats = seats.parse().map_err(|_error| "such as VIP=100")?;
        Ok(Quantity { grade: grade.to_owned(), seats })
    }
}

pub(super) fn check(asked: &VerifyDraw, file: &Path, places: &[u32]) -> Result<ExitCode> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = read(&text).with_context(|| file.display().to_string())?;
    if lines.len() != places.len() {
        bail!("--drawn is {}, but the list has {} lines", places.len(), lines.len());
    }
    if let Some(hash) = &asked.list_hash {
        let hash = parse(hash).context("--list-hash: 64 hexadecimal digits")?;
        if hash_of(&lines) != hash {
            println!("The list doesn't match its published hash: applications were changed.");
            return Ok(ExitCode::FAILURE);
        }
        println!("The list matches its published hash.");
    }
    let quantities: BTreeMap<&str, u32> =
        asked.quantity.iter().map(|it| (it.grade.as_str(), it.seats)).collect();
    let wins = winners(places, &applications(&lines, &quantities)?, &values(&quantities));
    let problems = problems(&lines, places, &quantities);
    for problem in &problems {
        println!("{problem}");
    }
    match asked.index {
        Some(index) => show_one(&lines, places, &wins, index)?,
        None => show_winners(&lines, places, &wins),
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn hash_of(lines: &[Line]) -> [u8; 32] {
    let mut hash = ListHash::default();
    for (index, line) in (0..).zip(lines) {
        let is_withdrawn = line.state == ApplicationState::Withdrawn;
        hash.add(index, (!is_withdrawn).then_some((line.grade.as_str(), line.count)));
    }
    hash.finish()
}

fn values(quantities: &BTreeMap<&str, u32>) -> Vec<u32> {
    quantities.values().copied().collect()
}

fn applications(lines: &[Line], quantities: &BTreeMap<&str, u32>) -> Result<Vec<Application>> {
    let read = |line: &Line| {
        let grade = quantities.keys().position(|grade| *grade == line.grade);
        let grade = grade.with_context(|| format!("--quantity: none for `{}`", line.grade))?;
        Ok(Application {
            grade: u16::try_from(grade)?,
            n_seats: u8::try_from(line.count)?,
            is_withdrawn: line.state == ApplicationState::Withdrawn,
        })
    };
    lines.iter().map(read).collect()
}

/// What contradicts the seed, the order or the quantities; empty for a fair draw.
fn problems(lines: &[Line], places: &[u32], quantities: &BTreeMap<&str, u32>) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, (line, place)) in lines.iter().zip(places).enumerate() {
        if line.place.is_some_and(|listed| listed != place + 1) {
            problems
                .push(format!("Index {index} has the place {}, not the listed one.", place + 1));
        }
    }
    for (grade, quantity) in quantities {
        let mut order: Vec<usize> =
            (0..lines.len()).filter(|index| lines[*index].grade == *grade).collect();
        order.sort_by_key(|index| places[*index]);
        let waits = order.iter().position(|index| lines[*index].state == ApplicationState::Drawn);
        let behind = order.iter().skip(waits.unwrap_or(order.len()));
        for index in behind.filter(|index| lines[**index].state.was_offered()) {
            problems.push(format!("Index {index} of grade {grade} got an offer before its turn."));
        }
        let is_out = |index: &&usize| {
            matches!(lines[**index].state, ApplicationState::Offered | ApplicationState::Taken)
        };
        let n_out: u32 = order.iter().filter(is_out).map(|index| lines[*index].count).sum();
        if *quantity < n_out {
            problems.push(format!("Grade {grade} has {n_out} seats out, of {quantity}."));
        }
    }
    problems
}

fn show_one(lines: &[Line], places: &[u32], wins: &[bool], index: u32) -> Result<()> {
    let at = index as usize;
    let (Some(line), Some(place)) = (lines.get(at), places.get(at)) else {
        bail!("--index: must be below --drawn");
    };
    let result = if wins[at] { "wins" } else { "doesn't win" };
    println!(
        "Index {index} ({}, {} seats) has place {} and {result}; it is {}.",
        line.grade,
        line.count,
        place + 1,
        line.state.as_str()
    );
    Ok(())
}

fn show_winners(lines: &[Line], places: &[u32], wins: &[bool]) {
    let n_wins = wins.iter().filter(|wins| **wins).count();
    println!("{n_wins} of {} applications win: index, grade, seats, place", lines.len());
    let mut order: Vec<usize> = (0..lines.len()).filter(|index| wins[*index]).collect();
    order.sort_by_key(|index| places[*index]);
    for index in order {
        println!("{index} {} {} {}", lines[index].grade, lines[index].count, places[index] + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ApplicationState::{Drawn, Lapsed, Offered, Taken, Withdrawn};

    fn line(count: u32, state: ApplicationState) -> Line {
        Line { grade: "VIP".to_owned(), count, place: None, state }
    }

    fn problems_of(lines: &[Line], places: &[u32], quantity: u32) -> usize {
        problems(lines, places, &BTreeMap::from([("VIP", quantity)])).len()
    }

    #[test]
    fn offers_that_keep_the_order_are_fair() {
        let lines = [line(1, Drawn), line(1, Taken), line(1, Lapsed), line(2, Withdrawn)];
        assert_eq!(problems_of(&lines, &[2, 0, 1, 3], 1), 0);
    }

    #[test]
    fn an_offer_before_its_turn_too_many_seats_or_another_place_are_found() {
        let lines = [line(1, Drawn), line(1, Offered)];
        assert_eq!(problems_of(&lines, &[0, 1], 2), 1, "index 1 came before index 0");
        assert_eq!(problems_of(&lines, &[1, 0], 2), 0);
        let lines = [line(2, Taken), line(1, Offered)];
        assert_eq!(problems_of(&lines, &[0, 1], 2), 1, "three seats of two");
        let listed = Line { place: Some(2), ..line(1, Taken) };
        assert_eq!(problems_of(&[listed], &[0], 1), 1, "the list shows another place");
    }
}

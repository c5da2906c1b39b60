//! An arena of any size: blocks on the floor, surrounded by tiers of arcs that open to the stage.

use crate::cli::stage::GRADES;
use podo_domain::catalog::{
    Arc, RowLine, RowTemplate, SeatTemplate, SectionTemplate, SectionedTemplate, Stage,
};
use std::f64::consts::PI;

/// Distances between seats of a row, between rows, and between tiers.
const SEAT: i32 = 12;
const ROW: i32 = 13;
const TIER_GAP: i32 = 24;

/// Half of the distance between two sections.
const AISLE: i32 = 10;

/// The tiers run from the right of the stage around to its left; 90 degrees is opposite the stage.
const FROM_DEGREES: i32 = -26;
const TO_DEGREES: i32 = 206;

/// Approximate width of a section.
const SECTION_WIDTH: i32 = 190;

/// The shape of an arena of this size: number of tiers, and rows of each.
fn shape(n_seats: u32) -> (i32, i32) {
    match n_seats {
        0..800 => (1, 6),
        800..3_000 => (2, 6),
        3_000..12_000 => (3, 8),
        12_000..30_000 => (3, 14),
        30_000.. => (4, 18),
    }
}

/// The smallest arena of its shape with enough seats, minus the surplus.
pub(super) fn of(n_seats: u32) -> SeatTemplate {
    let radius = (90..).step_by(10).find(|radius| count(&sections(n_seats, *radius)) >= n_seats);
    let radius = radius.expect("a larger radius always yields more seats");
    let mut sections = sections(n_seats, radius);
    take_away(&mut sections, n_seats);
    let width = radius * 6 / 5;
    SeatTemplate::Sections(SectionedTemplate {
        stage: Some(Stage {
            x: -width / 2,
            y: -radius - 30,
            width: width.unsigned_abs(),
            height: (radius / 3).unsigned_abs(),
        }),
        focus: None,
        sections,
    })
}

fn sections(n_seats: u32, radius: i32) -> Vec<SectionTemplate> {
    let (n_tiers, n_rows) = shape(n_seats);
    let mut sections = floor(radius);
    for tier in 0..n_tiers {
        let inner = radius + 40 + tier * (n_rows * ROW + TIER_GAP);
        let grade = (tier * 3 / n_tiers + 1).min(3);
        sections.extend(tier_of(tier, inner, n_rows, GRADES[grade.unsigned_abs() as usize].0));
    }
    sections
}

/// Blocks of straight rows between the stage and the tiers.
fn floor(radius: i32) -> Vec<SectionTemplate> {
    let (n_columns, n_rows) = (3, 2);
    let (width, height) = (radius * 13 / 10 / n_columns, radius / n_rows);
    let n_seats = (width - 20) / SEAT;
    let block = |index: i32| {
        let left = index % n_columns * width - n_columns * width / 2 + 10 + SEAT / 2;
        let top = index / n_columns * height - radius / 2;
        let row = |row: i32| RowTemplate {
            label: (row + 1).to_string(),
            count: Some(n_seats.unsigned_abs()),
            line: Some(RowLine { x: left, y: top + row * ROW, dx: SEAT, dy: 0 }),
            ..RowTemplate::default()
        };
        SectionTemplate {
            name: format!("F{}", index + 1),
            grade: Some(GRADES[0].0.to_owned()),
            rows: (0..((height - 20) / ROW).max(1)).map(row).collect(),
            standing: None,
            shape: None,
        }
    };
    if n_seats < 2 { Vec::new() } else { (0..n_columns * n_rows).map(block).collect() }
}

fn tier_of(tier: i32, inner: i32, n_rows: i32, grade: &str) -> Vec<SectionTemplate> {
    let whole = TO_DEGREES - FROM_DEGREES;
    let n_sections = (arc_length(inner, whole) / f64::from(SECTION_WIDTH)).round().max(2.0) as i32;
    let aisle = (f64::from(AISLE) / arc_length(inner, 1)).ceil() as i32;
    let section = |index: i32| {
        let from = FROM_DEGREES + whole * index / n_sections + aisle;
        let to = FROM_DEGREES + whole * (index + 1) / n_sections - aisle;
        let row = |row: i32| {
            let radius = inner + row * ROW;
            let n_seats = (arc_length(radius, to - from) / f64::from(SEAT)) as u32 + 1;
            RowTemplate {
                label: (row + 1).to_string(),
                count: Some(n_seats),
                // From the left, facing the stage.
                arc: Some(Arc {
                    x: 0,
                    y: 0,
                    radius: radius.unsigned_abs(),
                    from_degrees: to,
                    to_degrees: from,
                }),
                ..RowTemplate::default()
            }
        };
        (
            from,
            SectionTemplate {
                name: String::new(),
                grade: Some(grade.to_owned()),
                rows: (0..n_rows).map(row).collect(),
                standing: None,
                shape: None,
            },
        )
    };
    let mut made: Vec<_> = (0..n_sections).map(section).collect();
    made.sort_by_key(|(from, _)| -from);
    let name = |(index, (_, section)): (usize, (i32, SectionTemplate))| SectionTemplate {
        name: format!("{}{:02}", tier + 1, index + 1),
        ..section
    };
    made.into_iter().enumerate().map(name).collect()
}

fn arc_length(radius: i32, degrees: i32) -> f64 {
    f64::from(radius) * f64::from(degrees) * PI / 180.0
}

fn count(sections: &[SectionTemplate]) -> u32 {
    sections.iter().flat_map(|it| &it.rows).filter_map(|row| row.count).sum()
}

/// The last rows lose one seat each in turn, so that the arena stays symmetric.
fn take_away(sections: &mut Vec<SectionTemplate>, n_seats: u32) {
    let mut too_many = count(sections).saturating_sub(n_seats);
    while too_many > 0 {
        let n_front = sections.len() / 2;
        for section in &mut sections[n_front..] {
            let Some(row) = section.rows.last_mut().filter(|_| too_many > 0) else { continue };
            row.count = row.count.map(|count| count - 1);
            too_many -= 1;
            if row.count == Some(0) {
                section.rows.pop();
            }
        }
        sections.retain(|section| !section.rows.is_empty());
    }
}

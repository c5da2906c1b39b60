//! How an organiser describes the seats of a hall.

pub(super) mod rows;
pub(super) mod seat_list;
pub(super) mod shapes;

use crate::Refusal;
use crate::catalog::template::rows::{RowTemplate, SingleSeat};
use crate::catalog::template::shapes::SectionShape;
use crate::catalog::{PlannedSeat, SeatPlan};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a label: of a section, a row, a seat, a grade and a whole seat number.
const LABEL_LENGTH_MAX: usize = 20;

/// More than any hall has; few enough for one request and one map.
const SEATS_MAX: usize = 60_000;

/// Distance between neighbours in a grid, in units of the seat map.
const GRID_STEP: i32 = 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "layoutType", rename_all = "camelCase")]
pub enum SeatTemplate {
    /// Rows of equal length; seat numbers are `row-column`.
    Grid(GridTemplate),
    /// Seats drawn one by one; seat numbers are `section-row-seat`.
    Sections(SectionedTemplate),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GridTemplate {
    /// Labels of the rows, from the stage backwards.
    pub rows: Vec<String>,
    pub seats_per_row: u32,
    /// The grade of each row.
    pub grade_mapping: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SectionedTemplate {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// The focal point of the audience; the middle of the stage if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<Point>,
    pub sections: Vec<SectionTemplate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// The stage as a rectangle in the units of the seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stage {
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SectionTemplate {
    #[serde(deserialize_with = "text_or_number")]
    pub name: String,
    /// The default grade of its seats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RowTemplate>,
    /// Places without seats; their numbers are the order of entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingZone>,
    /// How the editor drew it; dates are created without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<SectionShape>,
}

/// A standing zone, as a rectangle in the units of the seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandingZone {
    pub count: u32,
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

/// Accepts numbers too, because most halls number their sections, rows and seats, and people write
/// numbers without quotes.
pub(super) fn text_or_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a label: text or a whole number")]
    enum Label {
        Text(String),
        Number(u32),
    }
    Ok(match Label::deserialize(deserializer)? {
        Label::Text(text) => text,
        Label::Number(number) => number.to_string(),
    })
}

impl SeatTemplate {
    /// Every seat in layout order, validated. A refusal names the row or seat to correct.
    pub fn plan(&self) -> Result<SeatPlan, Refusal> {
        let plan = match self {
            SeatTemplate::Grid(grid) => grid.plan()?,
            SeatTemplate::Sections(sections) => sections.plan()?,
        };
        check_seats(&plan.seats)?;
        Ok(plan)
    }

    /// Only what is sold: a date keeps no drawing.
    #[must_use]
    pub fn without_shapes(mut self) -> SeatTemplate {
        if let SeatTemplate::Sections(sections) = &mut self {
            sections.sections.iter_mut().for_each(|section| section.shape = None);
        }
        self
    }
}

impl GridTemplate {
    fn plan(&self) -> Result<SeatPlan, Refusal> {
        let rows = check_labels("row", &self.rows)?;
        check_count(self.rows.len().saturating_mul(self.seats_per_row as usize))?;
        let unknown = self.grade_mapping.keys().find(|row| !rows.contains(row));
        if let Some(row) = unknown {
            return Err(refuse(format!("gradeMapping {row}"), "there is no such row"));
        }
        let mut seats = Vec::with_capacity(self.rows.len() * self.seats_per_row as usize);
        for (y, row) in (0_i32..).step_by(GRID_STEP as usize).zip(&self.rows) {
            seats.extend(self.plan_row(row, y)?);
        }
        Ok(SeatPlan { seats, stage: None, focus: None, zones: BTreeMap::new() })
    }

    fn plan_row(&self, row: &str, y: i32) -> Result<impl Iterator<Item = PlannedSeat>, Refusal> {
        let grade = self
            .grade_mapping
            .get(row)
            .ok_or_else(|| refuse(format!("row {row}"), "gradeMapping has no grade for it"))?;
        check_label(|| format!("grade of row {row}"), grade)?;
        let columns = (1..=self.seats_per_row).zip((0_i32..).step_by(GRID_STEP as usize));
        Ok(columns.map(move |(column, x)| PlannedSeat {
            number: format!("{row}-{column}"),
            section: None,
            row: row.to_owned(),
            grade: grade.clone(),
            x,
            y,
            accessible: false,
            companion: false,
            restricted_view: false,
            standing: false,
        }))
    }
}

impl SectionedTemplate {
    fn plan(&self) -> Result<SeatPlan, Refusal> {
        check_count(self.sections.iter().map(SectionTemplate::n_seats).sum())?;
        check_labels("section", self.sections.iter().map(|section| &section.name))?;
        let mut seats = Vec::new();
        for section in &self.sections {
            section.plan(&mut seats)?;
        }
        let zone = |section: &SectionTemplate| Some((section.name.clone(), section.standing?));
        let zones = self.sections.iter().filter_map(zone).collect();
        Ok(SeatPlan { seats, stage: self.stage, focus: self.focus, zones })
    }
}

impl SectionTemplate {
    fn n_seats(&self) -> usize {
        let n_seated: usize = self.rows.iter().map(RowTemplate::n_seats).sum();
        n_seated.saturating_add(self.standing.map_or(0, |zone| zone.count as usize))
    }

    fn plan(&self, seats: &mut Vec<PlannedSeat>) -> Result<(), Refusal> {
        let what = format!("section {}: row", self.name);
        check_labels(&what, self.rows.iter().map(|row| &row.label))?;
        match (self.rows.is_empty(), self.standing) {
            (true, None) => {
                return Err(refuse(format!("section {}", self.name), "has no rows and no zone"));
            }
            (false, Some(_)) => {
                let problem = "has rows and a standing zone: make two sections";
                return Err(refuse(format!("section {}", self.name), problem));
            }
            (true, Some(zone)) => self.plan_zone(zone, seats)?,
            (false, None) => {}
        }
        for row in &self.rows {
            for seat in row.place(&format!("{what} {}", row.label))? {
                seats.push(self.plan_seat(row, &seat)?);
            }
        }
        Ok(())
    }

    fn plan_seat(&self, row: &RowTemplate, seat: &SingleSeat) -> Result<PlannedSeat, Refusal> {
        let number = format!("{}-{}-{}", self.name, row.label, seat.number);
        check_label(|| format!("seat {number}"), &seat.number)?;
        let grade = seat.grade.as_ref().or(self.grade.as_ref()).ok_or_else(|| {
            refuse(format!("seat {number}"), "neither the seat nor its section has a grade")
        })?;
        check_label(|| format!("grade of seat {number}"), grade)?;
        Ok(PlannedSeat {
            number,
            section: Some(self.name.clone()),
            row: row.label.clone(),
            grade: grade.clone(),
            x: seat.x,
            y: seat.y,
            accessible: seat.accessible,
            companion: seat.companion,
            restricted_view: seat.restricted_view,
            standing: false,
        })
    }

    /// All places are in the middle of the zone; only the order of entry distinguishes them.
    fn plan_zone(&self, zone: StandingZone, seats: &mut Vec<PlannedSeat>) -> Result<(), Refusal> {
        let at = || format!("section {}", self.name);
        if zone.count == 0 {
            return Err(refuse(at(), "the standing zone has no places"));
        }
        let no_grade = || refuse(at(), "a standing zone needs the grade of its section");
        let grade = self.grade.as_ref().ok_or_else(no_grade)?;
        check_label(|| format!("grade of section {}", self.name), grade)?;
        let half = |length: u32| i32::try_from(length / 2).unwrap_or(i32::MAX);
        seats.extend((1..=zone.count).map(|entry| PlannedSeat {
            number: format!("{}-{entry}", self.name),
            section: Some(self.name.clone()),
            row: String::new(),
            grade: grade.clone(),
            x: zone.x.saturating_add(half(zone.width)),
            y: zone.y.saturating_add(half(zone.height)),
            accessible: false,
            companion: false,
            restricted_view: false,
            standing: true,
        }));
        Ok(())
    }
}

pub(super) fn refuse(at: String, problem: &str) -> Refusal {
    Refusal::InvalidTemplate { at, problem: problem.to_owned() }
}

/// Checked before the seats are created, so that a small request can't ask for a huge plan.
fn check_count(n_seats: usize) -> Result<(), Refusal> {
    match n_seats {
        0 => Err(refuse("seats".to_owned(), "there are none")),
        1..=SEATS_MAX => Ok(()),
        _ => Err(refuse("seats".to_owned(), "there are more than 60,000")),
    }
}

fn check_labels<'a>(
    what: &str,
    labels: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeSet<&'a String>, Refusal> {
    let mut seen = BTreeSet::new();
    for (index, label) in labels.into_iter().enumerate() {
        // A blank label can't name its row, so its position is given too.
        check_label(|| format!("{what} {label} (number {})", index + 1), label)?;
        if !seen.insert(label) {
            return Err(refuse(format!("{what} {label}"), "the label is used twice"));
        }
    }
    Ok(seen)
}

fn check_label(at: impl FnOnce() -> String, label: &str) -> Result<(), Refusal> {
    let problem = if label.trim().is_empty() {
        "the label is blank"
    } else if label.trim() != label {
        "the label begins or ends with a space"
    } else if label.chars().count() > LABEL_LENGTH_MAX {
        "the label is longer than 20 characters"
    } else if label.chars().any(char::is_control) {
        "the label has control characters"
    } else {
        return Ok(());
    };
    Err(refuse(at(), problem))
}

/// Labels with dashes can produce the same seat number, so whole numbers are compared.
fn check_seats(seats: &[PlannedSeat]) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    for seat in seats {
        check_label(|| format!("seat {}", seat.number), &seat.number)?;
        if !seen.insert(&seat.number) {
            return Err(refuse(format!("seat {}", seat.number), "the number is used twice"));
        }
    }
    Ok(())
}

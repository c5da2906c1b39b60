//! Rows of seats: drawn one by one, along a straight line, or along an arc.

use crate::Refusal;
use crate::catalog::template::{refuse, text_or_number};
use serde::{Deserialize, Serialize};

/// A row has `seats`, or a `count` with a `line` or an `arc`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RowTemplate {
    #[serde(deserialize_with = "text_or_number")]
    pub label: String,
    /// Seats drawn one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<SingleSeat>,
    /// The number of seats along the line or the arc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The number of the first of them; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_number: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<RowLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc: Option<Arc>,
    /// The grade of the seats along the line or the arc; the section's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<String>,
    /// Numbers of the wheelchair seats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accessible: Vec<u32>,
    /// Numbers of the companion seats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub companion: Vec<u32>,
    /// Numbers of the seats with a restricted view.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restricted_view: Vec<u32>,
}

/// The first seat and the step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Line))]
#[serde(deny_unknown_fields)]
pub struct RowLine {
    pub x: i32,
    pub y: i32,
    pub dx: i32,
    pub dy: i32,
}

/// An arc of a circle around `x`, `y`. Angles are in degrees, 0 to the right, 90 downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arc {
    pub x: i32,
    pub y: i32,
    pub radius: u32,
    pub from_degrees: i32,
    pub to_degrees: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SingleSeat {
    #[serde(deserialize_with = "text_or_number")]
    pub number: String,
    pub x: i32,
    pub y: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<String>,
    /// Room for a wheelchair.
    #[serde(default, skip_serializing_if = "is_false")]
    pub accessible: bool,
    /// Beside an accessible seat, for a companion.
    #[serde(default, skip_serializing_if = "is_false")]
    pub companion: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub restricted_view: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The positions of a row's seats.
enum Shape {
    Line(RowLine),
    Arc(Arc),
}

impl RowTemplate {
    /// Counted before the seats are created, so that a small request can't ask for a huge plan.
    pub(super) fn n_seats(&self) -> usize {
        self.seats.len().saturating_add(self.count.unwrap_or(0) as usize)
    }

    /// Every seat of the row. `at` names the row in a refusal.
    pub(super) fn place(&self, at: &str) -> Result<Vec<SingleSeat>, Refusal> {
        let no = |problem: &str| Err(refuse(at.to_owned(), problem));
        let shape = match (self.line, self.arc) {
            (Some(line), None) => Some(Shape::Line(line)),
            (None, Some(arc)) => Some(Shape::Arc(arc)),
            (None, None) => None,
            (Some(_), Some(_)) => return no("has a line and an arc"),
        };
        match (shape, self.count) {
            (None, None) if self.seats.is_empty() => no("has no seats"),
            (None, None) if self.has_lists() => no("says of each seat itself what it is like"),
            (None, None) => Ok(self.seats.clone()),
            (Some(_), _) if !self.seats.is_empty() => no("has seats and a line or an arc"),
            (Some(_), None | Some(0)) => no("has no count of its seats"),
            (None, Some(_)) => no("has a count, but no line and no arc"),
            (Some(shape), Some(count)) => self.along(&shape, count, at),
        }
    }

    fn has_lists(&self) -> bool {
        let lists = [&self.accessible, &self.companion, &self.restricted_view];
        lists.iter().any(|list| !list.is_empty()) || self.first_number.is_some()
    }

    fn along(&self, shape: &Shape, count: u32, at: &str) -> Result<Vec<SingleSeat>, Refusal> {
        let first = self.first_number.unwrap_or(1);
        let last = first.checked_add(count - 1);
        let last = last.ok_or_else(|| refuse(at.to_owned(), "the seat numbers are too large"))?;
        let lists = [&self.accessible, &self.companion, &self.restricted_view];
        let unknown = lists.into_iter().flatten().find(|number| !(first..=last).contains(number));
        if let Some(number) = unknown {
            return Err(refuse(format!("{at}: seat {number}"), "there is no such seat"));
        }
        let seat = |index: u32| {
            let number = first + index;
            let (x, y) = shape.at(index, count);
            SingleSeat {
                number: number.to_string(),
                x,
                y,
                grade: self.grade.clone(),
                accessible: self.accessible.contains(&number),
                companion: self.companion.contains(&number),
                restricted_view: self.restricted_view.contains(&number),
            }
        };
        Ok((0..count).map(seat).collect())
    }
}

impl Shape {
    fn at(&self, index: u32, count: u32) -> (i32, i32) {
        match self {
            Shape::Line(line) => {
                let step = i32::try_from(index).unwrap_or(i32::MAX);
                let along = |start: i32, by: i32| start.saturating_add(by.saturating_mul(step));
                (along(line.x, line.dx), along(line.y, line.dy))
            }
            Shape::Arc(arc) => arc.at(index, count),
        }
    }
}

impl Arc {
    fn at(&self, index: u32, count: u32) -> (i32, i32) {
        let part = if count < 2 { 0.5 } else { f64::from(index) / f64::from(count - 1) };
        let (from, to) = (f64::from(self.from_degrees), f64::from(self.to_degrees));
        let angle = (from + (to - from) * part).to_radians();
        let radius = f64::from(self.radius);
        // Float casts saturate.
        let x = (f64::from(self.x) + radius * angle.cos()).round() as i32;
        let y = (f64::from(self.y) + radius * angle.sin()).round() as i32;
        (x, y)
    }
}

//! A hall for the seat search: positions of the seats, and which are neighbours.

use crate::catalog::{PlannedSeat, SeatPlan};
use crate::id::SeatIndex;
use std::ops::Range;

/// One seat; compact, because up to sixty thousand per hall are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HallSeat {
    pub x: i32,
    pub y: i32,
    /// Index into [`Hall::grades`].
    pub grade: u16,
    pub kind: PlaceKind,
    pub restricted_view: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    Seat,
    /// Room for a wheelchair, reserved for those who need it.
    Accessible,
    /// Beside a wheelchair, for a companion.
    Companion,
    /// A place in a standing zone; all places of a zone are adjacent.
    Standing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hall {
    pub places: Vec<HallSeat>,
    pub grades: Vec<String>,
    /// The focal point of the audience.
    pub focus: (i32, i32),
    /// Adjacent seats without an aisle between them, or one standing zone.
    pub blocks: Vec<Range<SeatIndex>>,
    /// The first seat of each section, in layout order.
    pub sections: Vec<(SeatIndex, Option<String>)>,
}

/// A gap wider than the row's narrowest one by this factor is an aisle.
const AISLE: f64 = 1.75;

impl Hall {
    pub fn of(plan: &SeatPlan) -> Hall {
        let mut grades: Vec<String> = Vec::new();
        let mut places = Vec::with_capacity(plan.seats.len());
        for seat in &plan.seats {
            let known = grades.iter().position(|grade| *grade == seat.grade);
            let grade = known.unwrap_or_else(|| {
                grades.push(seat.grade.clone());
                grades.len() - 1
            });
            places.push(place(seat, u16::try_from(grade).unwrap_or(u16::MAX)));
        }
        let blocks = blocks(plan, &places);
        let focus = focus(plan);
        Hall { places, grades, focus, blocks, sections: sections(plan) }
    }

    pub fn place(&self, seat: SeatIndex) -> Option<&HallSeat> {
        self.places.get(seat as usize)
    }

    /// The section of a seat; a grid has none.
    pub fn section(&self, seat: SeatIndex) -> Option<&str> {
        let after = self.sections.partition_point(|(first, _)| *first <= seat);
        self.sections.get(after.checked_sub(1)?)?.1.as_deref()
    }

    /// The names of the sections in the order of their seats; a grid has none.
    pub fn section_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.sections.iter().filter_map(|(_, name)| name.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The seats of the section with this name.
    pub fn seats_of(&self, section: &str) -> Option<Range<SeatIndex>> {
        let at = self.sections.iter().position(|(_, name)| name.as_deref() == Some(section))?;
        let all = SeatIndex::try_from(self.places.len()).unwrap_or(SeatIndex::MAX);
        let end = self.sections.get(at + 1).map_or(all, |(next, _)| *next);
        Some(self.sections[at].0..end)
    }

    pub fn grade(&self, name: &str) -> Option<u16> {
        let found = self.grades.iter().position(|grade| grade == name)?;
        u16::try_from(found).ok()
    }
}

fn sections(plan: &SeatPlan) -> Vec<(SeatIndex, Option<String>)> {
    let mut sections: Vec<(SeatIndex, Option<String>)> = Vec::new();
    for (index, seat) in (0..).zip(&plan.seats) {
        if sections.last().is_none_or(|(_, section)| *section != seat.section) {
            sections.push((index, seat.section.clone()));
        }
    }
    sections
}

fn place(seat: &PlannedSeat, grade: u16) -> HallSeat {
    let kind = match (seat.standing, seat.accessible, seat.companion) {
        (true, _, _) => PlaceKind::Standing,
        (false, true, _) => PlaceKind::Accessible,
        (false, false, true) => PlaceKind::Companion,
        (false, false, false) => PlaceKind::Seat,
    };
    HallSeat { x: seat.x, y: seat.y, grade, kind, restricted_view: seat.restricted_view }
}

/// The middle of the stage, or of the front row if no stage is drawn.
fn focus(plan: &SeatPlan) -> (i32, i32) {
    if let Some(focus) = plan.focus {
        return (focus.x, focus.y);
    }
    if let Some(stage) = plan.stage {
        let half = |length: u32| i32::try_from(length / 2).unwrap_or(0);
        return (stage.x.saturating_add(half(stage.width)), stage.y + half(stage.height));
    }
    let front = plan.seats.iter().map(|seat| seat.y).min().unwrap_or(0);
    let xs = || plan.seats.iter().filter(|seat| seat.y == front).map(|seat| seat.x);
    let (left, right) = (xs().min().unwrap_or(0), xs().max().unwrap_or(0));
    (left.midpoint(right), front)
}

fn blocks(plan: &SeatPlan, places: &[HallSeat]) -> Vec<Range<SeatIndex>> {
    let is_same_row = |a: &PlannedSeat, b: &PlannedSeat| {
        a.section == b.section && a.row == b.row && a.standing == b.standing
    };
    let mut blocks = Vec::new();
    let mut start = 0;
    for row in plan.seats.chunk_by(is_same_row) {
        let end = start + row.len();
        split_at_aisles(&places[start..end], start, &mut blocks);
        start = end;
    }
    blocks
}

fn split_at_aisles(row: &[HallSeat], start: usize, blocks: &mut Vec<Range<SeatIndex>>) {
    let gaps: Vec<f64> = row.windows(2).map(|pair| distance(&pair[0], &pair[1])).collect();
    let narrowest = gaps.iter().copied().filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    let index = |at: usize| SeatIndex::try_from(start + at).unwrap_or(SeatIndex::MAX);
    let mut first = 0;
    for (at, gap) in gaps.iter().enumerate() {
        if *gap > narrowest * AISLE {
            blocks.push(index(first)..index(at + 1));
            first = at + 1;
        }
    }
    blocks.push(index(first)..index(row.len()));
}

fn distance(a: &HallSeat, b: &HallSeat) -> f64 {
    f64::from(a.x.saturating_sub(b.x)).hypot(f64::from(a.y.saturating_sub(b.y)))
}

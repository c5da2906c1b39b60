//! The best available seats: adjacent, near the stage, and without leaving single seats.

use crate::booking::seats::SEATS_PER_PICK_MAX;
use crate::catalog::hall::{Hall, HallSeat, PlaceKind};
use crate::id::SeatIndex;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::Range;

/// Whether a choice may leave a single free seat between taken ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Orphans {
    /// Never; returns no seats instead.
    Strict,
    /// Only if it can't be avoided.
    #[default]
    Lenient,
}

/// The requested seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatRequest {
    /// Number of seats, one to four.
    pub count: usize,
    pub grade: Option<u16>,
    pub orphans: Orphans,
    /// Whether the party may be split over rows if no adjacent seats are left.
    pub across_rows: bool,
    /// How many of them need room for a wheelchair.
    pub wheelchairs: usize,
}

impl SeatRequest {
    pub fn new(count: usize) -> SeatRequest {
        let orphans = Orphans::Lenient;
        SeatRequest { count, grade: None, orphans, across_rows: false, wheelchairs: 0 }
    }
}

/// The free seats that fit the request best, in layout order.
pub fn best_seats(
    hall: &Hall,
    is_free: impl Fn(SeatIndex) -> bool,
    wish: &SeatRequest,
) -> Option<Vec<SeatIndex>> {
    if !(1..=SEATS_PER_PICK_MAX).contains(&wish.count) || wish.wheelchairs > wish.count {
        return None;
    }
    let search = Search { hall, is_free: &is_free, focus: hall.focus };
    let together = search.together(wish, &hall.blocks);
    if together.is_some() || !wish.across_rows || wish.wheelchairs > 0 {
        return together;
    }
    search.split(wish)
}

/// Up to `n_max` proposals, the nearest to the stage first: for a grade the best seats of different
/// rows, otherwise the best of each grade, so that the fan chooses between prices.
pub fn suggestions(
    hall: &Hall,
    is_free: impl Fn(SeatIndex) -> bool,
    wish: &SeatRequest,
    n_max: usize,
) -> Vec<Vec<SeatIndex>> {
    if !(1..=SEATS_PER_PICK_MAX).contains(&wish.count) || wish.wheelchairs > wish.count {
        return Vec::new();
    }
    let search = Search { hall, is_free: &is_free, focus: hall.focus };
    let mut found: Vec<(Cost, Vec<SeatIndex>)> = match wish.grade {
        Some(_) => hall.blocks.chunks(1).filter_map(|row| search.best_in(wish, row)).collect(),
        None => (0..hall.grades.len())
            .filter_map(|grade| u16::try_from(grade).ok())
            .map(|grade| SeatRequest { grade: Some(grade), ..*wish })
            .filter_map(|wish| search.best_in(&wish, &hall.blocks))
            .collect(),
    };
    found.sort_by(|(one, _), (other, _)| one.compare(other));
    found.truncate(n_max);
    found.into_iter().map(|(_, seats)| seats).collect()
}

/// Up to `n_max` disjoint alternatives near the first of the lost seats, of the same number and grade.
/// Every loser of a race asks for them, so the search starts with the seats around that one and goes
/// further only if it finds too few. Lost seats may be far apart; the search doesn't cover the seats
/// between them.
pub fn alternatives(
    hall: &Hall,
    is_free: impl Fn(SeatIndex) -> bool,
    lost: &[SeatIndex],
    n_max: usize,
) -> Vec<Vec<SeatIndex>> {
    let Some(first) = lost.first() else { return Vec::new() };
    let Some(place) = hall.place(*first) else { return Vec::new() };
    let wish = SeatRequest { grade: Some(place.grade), ..SeatRequest::new(lost.len()) };
    let is_open = |seat: SeatIndex| !lost.contains(&seat) && is_free(seat);
    let search = Search { hall, is_free: &is_open, focus: (place.x, place.y) };
    let mut found = Vec::new();
    for n_seats in NEARBY {
        found = search.disjoint(&wish, nearby(&hall.blocks, *first, n_seats), n_max);
        if found.len() == n_max {
            break;
        }
    }
    found
}

/// How far from the lost seat the search goes, in seats of the layout: at first, and at most.
const NEARBY: [SeatIndex; 2] = [60, 400];

/// The rows and zones within this many seats of the lost one.
fn nearby(blocks: &[Range<SeatIndex>], lost: SeatIndex, n_seats: SeatIndex) -> &[Range<SeatIndex>] {
    let (from, to) = (lost.saturating_sub(n_seats), lost.saturating_add(n_seats));
    let start = blocks.partition_point(|block| block.end <= from);
    let end = blocks.partition_point(|block| block.start <= to);
    &blocks[start..end.max(start)]
}

struct Search<'a> {
    hall: &'a Hall,
    is_free: &'a dyn Fn(SeatIndex) -> bool,
    focus: (i32, i32),
}

/// Smaller is better; compared from the first field to the last.
#[derive(Clone, Copy, Debug)]
struct Cost {
    restricted: usize,
    /// Companion seats used by others, or the other way round.
    misused: usize,
    orphans: usize,
    distance: f64,
    first: SeatIndex,
}

impl Cost {
    fn compare(&self, other: &Cost) -> Ordering {
        let whole = |cost: &Cost| (cost.restricted, cost.misused, cost.orphans);
        whole(self)
            .cmp(&whole(other))
            .then(self.distance.total_cmp(&other.distance))
            .then(self.first.cmp(&other.first))
    }
}

impl Search<'_> {
    fn together(&self, wish: &SeatRequest, blocks: &[Range<SeatIndex>]) -> Option<Vec<SeatIndex>> {
        self.best_in(wish, blocks).map(|(_, seats)| seats)
    }

    fn best_in(
        &self,
        wish: &SeatRequest,
        blocks: &[Range<SeatIndex>],
    ) -> Option<(Cost, Vec<SeatIndex>)> {
        let mut best: Option<(Cost, Vec<SeatIndex>)> = None;
        for block in blocks {
            for (cost, seats) in self.choices(block, wish, 1) {
                let is_better = best.as_ref().is_none_or(|(known, _)| cost.compare(known).is_lt());
                if is_better {
                    best = Some((cost, seats.collect()));
                }
            }
        }
        best
    }

    /// The best choices that share no seat. The fan takes one of them, so none counts as taken in
    /// the cost of another, and each cost is computed once.
    fn disjoint(
        &self,
        wish: &SeatRequest,
        blocks: &[Range<SeatIndex>],
        n_max: usize,
    ) -> Vec<Vec<SeatIndex>> {
        let choices = blocks.iter().flat_map(|block| self.choices(block, wish, n_max));
        let mut choices: Vec<(Cost, Choice)> = choices.collect();
        let mut found: Vec<Vec<SeatIndex>> = Vec::new();
        while found.len() < n_max {
            let costs = choices.iter().enumerate().map(|(index, (cost, _))| (index, cost));
            let best = costs.min_by(|(_, one), (_, other)| one.compare(other));
            let Some((index, _)) = best else { break };
            let (_, best) = choices.swap_remove(index);
            choices.retain(|(_, other)| !best.overlaps(other));
            found.push(best.collect());
        }
        found
    }

    /// Every choice in a row that fits the request, or the first `n_crowds` of a standing zone.
    fn choices<'s>(
        &'s self,
        block: &'s Range<SeatIndex>,
        wish: &'s SeatRequest,
        n_crowds: usize,
    ) -> impl Iterator<Item = (Cost, Choice)> + 's {
        let is_zone = self.place(block.start).kind == PlaceKind::Standing;
        let crowds = if is_zone { self.crowds(block, wish, n_crowds) } else { Vec::new() };
        let n_seats = SeatIndex::try_from(wish.count).unwrap_or(SeatIndex::MAX);
        let last = if is_zone { block.start } else { block.end.saturating_sub(n_seats - 1) };
        let rows = (block.start..last).filter_map(move |first| {
            let seats = first..first + n_seats;
            self.cost(block, &seats, wish).map(|cost| (cost, Choice::Row(seats)))
        });
        crowds.into_iter().chain(rows)
    }

    /// The lowest free entry numbers of a standing zone, `n_max` times.
    fn crowds(
        &self,
        block: &Range<SeatIndex>,
        wish: &SeatRequest,
        n_max: usize,
    ) -> Vec<(Cost, Choice)> {
        let place = self.place(block.start);
        let is_other_grade = wish.grade.is_some_and(|grade| grade != place.grade);
        if wish.wheelchairs > 0 || is_other_grade {
            return Vec::new();
        }
        let free = block.clone().filter(|seat| (self.is_free)(*seat));
        let seats: Vec<SeatIndex> = free.take(wish.count * n_max).collect();
        let distance = self.distance(place) * wish.count as f64;
        let crowd = |seats: &[SeatIndex]| {
            let cost = Cost { restricted: 0, misused: 0, orphans: 0, distance, first: seats[0] };
            (cost, Choice::Crowd(seats.to_vec()))
        };
        seats.chunks_exact(wish.count).map(crowd).collect()
    }

    /// The cost of these seats of a row; `None` if they aren't free or don't fit.
    fn cost(
        &self,
        block: &Range<SeatIndex>,
        seats: &Range<SeatIndex>,
        wish: &SeatRequest,
    ) -> Option<Cost> {
        let grade = wish.grade.unwrap_or(self.place(seats.start).grade);
        let (mut n_accessible, mut n_companion) = (0, 0);
        let (mut restricted, mut distance) = (0, 0.0);
        for seat in seats.clone() {
            let place = self.place(seat);
            if place.grade != grade || !(self.is_free)(seat) {
                return None;
            }
            match place.kind {
                PlaceKind::Accessible => n_accessible += 1,
                PlaceKind::Companion => n_companion += 1,
                PlaceKind::Seat | PlaceKind::Standing => {}
            }
            restricted += usize::from(place.restricted_view);
            distance += self.distance(place);
        }
        let misused = misuse(wish, n_accessible, n_companion)?;
        let orphans = self.orphans(block, seats);
        if wish.orphans == Orphans::Strict && orphans > 0 {
            return None;
        }
        Some(Cost { restricted, misused, orphans, distance, first: seats.start })
    }

    /// Single free seats that this choice would leave.
    fn orphans(&self, block: &Range<SeatIndex>, seats: &Range<SeatIndex>) -> usize {
        let free = |seat: Option<SeatIndex>| {
            seat.is_some_and(|seat| block.contains(&seat) && (self.is_free)(seat))
        };
        let back = |n: SeatIndex| seats.start.checked_sub(n);
        let ahead = |n: SeatIndex| seats.end.checked_add(n);
        let on_left = free(back(1)) && !free(back(2));
        let on_right = free(ahead(0)) && !free(ahead(1));
        usize::from(on_left) + usize::from(on_right)
    }

    /// Splits a party that doesn't fit into one row, as little as possible: the larger part is
    /// placed first, the rest as near to it as possible.
    fn split(&self, wish: &SeatRequest) -> Option<Vec<SeatIndex>> {
        for n_first in (1..wish.count).rev() {
            let part = SeatRequest { count: n_first, ..*wish };
            let Some(first) = self.together(&part, &self.hall.blocks) else { continue };
            let place = self.place(first[0]);
            let is_left = |seat: SeatIndex| !first.contains(&seat) && (self.is_free)(seat);
            let rest = Search { hall: self.hall, is_free: &is_left, focus: (place.x, place.y) };
            let other =
                SeatRequest { count: wish.count - n_first, grade: Some(place.grade), ..*wish };
            let found = rest.together(&other, &self.hall.blocks);
            if let Some(second) = found.or_else(|| rest.split(&other)) {
                let mut seats = [first, second].concat();
                seats.sort_unstable();
                return Some(seats);
            }
        }
        None
    }

    fn place(&self, seat: SeatIndex) -> &HallSeat {
        &self.hall.places[seat as usize]
    }

    fn distance(&self, place: &HallSeat) -> f64 {
        let (x, y) = self.focus;
        let (across, deep) = (place.x.saturating_sub(x), place.y.saturating_sub(y));
        let squared = |length: i32| f64::from(length) * f64::from(length);
        (squared(across) + squared(deep)).sqrt()
    }
}

enum Choice {
    Row(Range<SeatIndex>),
    Crowd(Vec<SeatIndex>),
}

impl Choice {
    fn overlaps(&self, other: &Choice) -> bool {
        match (self, other) {
            (Choice::Row(one), Choice::Row(two)) => one.start < two.end && two.start < one.end,
            (Choice::Crowd(one), Choice::Crowd(two)) => one.iter().any(|seat| two.contains(seat)),
            (Choice::Row(_), Choice::Crowd(_)) | (Choice::Crowd(_), Choice::Row(_)) => false,
        }
    }

    fn collect(self) -> Vec<SeatIndex> {
        match self {
            Choice::Row(seats) => seats.collect(),
            Choice::Crowd(seats) => seats,
        }
    }
}

/// Reserves wheelchair and companion seats for their purpose; `None` if the choice violates that.
fn misuse(wish: &SeatRequest, n_accessible: usize, n_companion: usize) -> Option<usize> {
    if wish.wheelchairs == 0 {
        return (n_accessible + n_companion == 0).then_some(0);
    }
    let n_others = wish.count - wish.wheelchairs;
    let fits = n_accessible == wish.wheelchairs && n_companion <= n_others;
    fits.then(|| n_others - n_companion)
}

#[cfg(test)]
#[path = "best_tests.rs"]
mod tests;

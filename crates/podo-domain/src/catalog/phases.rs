//! Sale phases of a date: who may buy which seats, and when. A date without phases is sold to
//! everybody during its whole sale.

use crate::catalog::{SaleWindow, SeatPlan, is_order_size};
use crate::id::SeatIndex;
use crate::{PhaseId, Refusal, ScheduleId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most phases of a date.
pub const PHASES_MAX: usize = 20;

/// Highest permitted limit of seats per person, as for a date.
const SEATS_PER_PERSON_MAX: u32 = 50;

/// Who may buy in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PhaseAudience {
    Everybody,
    /// Fans who entered a code of the organiser.
    Code,
    /// Fans on the organiser's member list.
    Members,
    /// Fans with a verified identity.
    VerifiedIdentity,
    /// Winners of a draw among the fans who applied. It has no waiting room: each winner gets an
    /// offer.
    Drawn,
}

impl PhaseAudience {
    pub const ALL: [PhaseAudience; 5] = [
        PhaseAudience::Everybody,
        PhaseAudience::Code,
        PhaseAudience::Members,
        PhaseAudience::VerifiedIdentity,
        PhaseAudience::Drawn,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            PhaseAudience::Everybody => "EVERYBODY",
            PhaseAudience::Code => "CODE",
            PhaseAudience::Members => "MEMBERS",
            PhaseAudience::VerifiedIdentity => "VERIFIED_IDENTITY",
            PhaseAudience::Drawn => "DRAWN",
        }
    }

    pub fn parse(text: &str) -> Option<PhaseAudience> {
        PhaseAudience::ALL.into_iter().find(|audience| audience.as_str() == text)
    }

    /// Whether a fan has to prove something before the phase.
    pub const fn is_limited(self) -> bool {
        match self {
            PhaseAudience::Everybody => false,
            PhaseAudience::Code
            | PhaseAudience::Members
            | PhaseAudience::VerifiedIdentity
            | PhaseAudience::Drawn => true,
        }
    }
}

/// The seats of a phase, as an organiser names them. A seat belongs to it if both lists permit it;
/// an absent list permits every seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    pub grades: Option<BTreeSet<String>>,
    pub sections: Option<BTreeSet<String>>,
}

impl Inventory {
    fn is_everything(&self) -> bool {
        self.grades.is_none() && self.sections.is_none()
    }

    /// The seats as ranges of the layout, which never changes; `None` for all of them.
    fn ranges(&self, plan: &SeatPlan) -> Result<Option<SeatRanges>, &'static str> {
        if self.is_everything() {
            return Ok(None);
        }
        let grades: BTreeSet<&str> = plan.seats.iter().map(|seat| seat.grade.as_str()).collect();
        let sections: BTreeSet<&str> =
            plan.seats.iter().filter_map(|seat| seat.section.as_deref()).collect();
        check_names(self.grades.as_ref(), &grades).ok_or("grades")?;
        check_names(self.sections.as_ref(), &sections).ok_or("sections")?;
        let has = |names: &Option<BTreeSet<String>>, name: Option<&str>| {
            names.as_ref().is_none_or(|names| name.is_some_and(|name| names.contains(name)))
        };
        let chosen = (0..).zip(&plan.seats).filter(|(_, seat)| {
            has(&self.grades, Some(&seat.grade)) && has(&self.sections, seat.section.as_deref())
        });
        let ranges = SeatRanges::of(chosen.map(|(index, _)| index));
        if ranges.0.is_empty() { Err("sections") } else { Ok(Some(ranges)) }
    }
}

/// `None` for an empty list or an unknown name.
fn check_names(names: Option<&BTreeSet<String>>, known: &BTreeSet<&str>) -> Option<()> {
    let Some(names) = names else { return Some(()) };
    let is_known = !names.is_empty() && names.iter().all(|name| known.contains(name.as_str()));
    is_known.then_some(())
}

/// Seat indexes as inclusive ranges in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatRanges(Vec<(SeatIndex, SeatIndex)>);

impl SeatRanges {
    /// `seats` ascend.
    pub fn of(seats: impl IntoIterator<Item = SeatIndex>) -> SeatRanges {
        let mut ranges: Vec<(SeatIndex, SeatIndex)> = Vec::new();
        for seat in seats {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == seat => *last = seat,
                _ => ranges.push((seat, seat)),
            }
        }
        SeatRanges(ranges)
    }

    pub fn contains(&self, seat: SeatIndex) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= seat);
        after.checked_sub(1).is_some_and(|at| seat <= self.0[at].1)
    }
}

/// A phase as an organiser describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseTerms {
    pub name: String,
    pub name_en: String,
    pub window: SaleWindow,
    pub audience: PhaseAudience,
    pub seats_per_person: u32,
    /// Most seats in one order; as the date if absent.
    pub seats_per_order: Option<u32>,
    pub inventory: Inventory,
}

/// A stored phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub id: PhaseId,
    pub terms: PhaseTerms,
    /// The seats that it may sell; `None` for all.
    pub seats: Option<SeatRanges>,
    /// Determines the order of its lobby; secret until it opens.
    pub draw_seed: [u8; 32],
}

impl Phase {
    pub fn sells(&self, seat: SeatIndex) -> bool {
        self.seats.as_ref().is_none_or(|seats| seats.contains(seat))
    }

    pub fn is_over(&self, now: Timestamp) -> bool {
        self.terms.window.ends_at <= now
    }
}

/// A phase that an organiser asks for: an existing one by its id, or a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseInput {
    pub id: Option<PhaseId>,
    pub terms: PhaseTerms,
}

/// The phase at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseMoment<'p> {
    Running(&'p Phase),
    /// None runs; this one is the next.
    Before(&'p Phase),
    Over,
}

/// Which of the phases, in the order of their windows, runs now.
pub fn phase_at(phases: &[Phase], now: Timestamp) -> PhaseMoment<'_> {
    match phases.iter().find(|phase| !phase.is_over(now)) {
        Some(phase) if phase.terms.window.starts_at <= now => PhaseMoment::Running(phase),
        Some(phase) => PhaseMoment::Before(phase),
        None => PhaseMoment::Over,
    }
}

impl<'p> PhaseMoment<'p> {
    /// The running phase. Between and after the phases the sale is closed, with the codes of a
    /// date without phases.
    pub fn running(self) -> Result<&'p Phase, Refusal> {
        match self {
            PhaseMoment::Running(phase) => Ok(phase),
            PhaseMoment::Before(next) => {
                Err(Refusal::SaleNotOpen { opens_at: next.terms.window.starts_at })
            }
            PhaseMoment::Over => Err(Refusal::SaleClosed),
        }
    }
}

/// Whether fans who proved nothing may get this seat now, as the standby list does. Between phases
/// and in a limited one they may not.
pub fn is_for_everybody(phases: &[Phase], seat: SeatIndex, now: Timestamp) -> bool {
    match phase_at(phases, now) {
        PhaseMoment::Running(phase) => !phase.terms.audience.is_limited() && phase.sells(seat),
        PhaseMoment::Before(_) | PhaseMoment::Over => phases.is_empty(),
    }
}

/// The date that phases belong to.
pub struct PhasedDate<'d> {
    pub schedule: ScheduleId,
    pub sale: SaleWindow,
    pub seats_per_person: u32,
    /// The order size of phases that don't say otherwise.
    pub seats_per_order: u32,
    pub plan: &'d SeatPlan,
    /// The highest number that a phase of this date ever had. Numbers aren't reused, so that a
    /// new phase never gets the waiting room of a removed one.
    pub last_number: u32,
}

/// The phases after an organiser's change, in the order of their windows. A phase that has begun
/// keeps its place: only its names and its end may change, and its seats per person and per order may be raised.
pub fn change_phases(
    date: &PhasedDate<'_>,
    before: &[Phase],
    asked: Vec<PhaseInput>,
    now: Timestamp,
    mut seed: impl FnMut() -> [u8; 32],
) -> Result<Vec<Phase>, Refusal> {
    if asked.len() > PHASES_MAX {
        return Err(Refusal::InvalidPhase { field: "phases".to_owned() });
    }
    let mut number = date.last_number;
    let mut next: Vec<(usize, Phase)> = Vec::with_capacity(asked.len());
    for (at, PhaseInput { id, terms }) in asked.into_iter().enumerate() {
        let seats = check_terms(date, at, &terms)?;
        let known = id.map(|id| {
            let unknown = || Refusal::InvalidPhase { field: format!("phases[{at}].id") };
            let is_new = !next.iter().any(|(_, other)| other.id == id);
            before.iter().find(|phase| phase.id == id && is_new).ok_or_else(unknown)
        });
        let (id, draw_seed) = match known.transpose()? {
            Some(known) => (known.id, known.draw_seed),
            None => {
                number += 1;
                (date.schedule.phase(number), seed())
            }
        };
        next.push((at, Phase { id, terms, seats, draw_seed }));
    }
    next.sort_by_key(|(_, phase)| phase.terms.window.starts_at);
    check_order(&next)?;
    let next: Vec<Phase> = next.into_iter().map(|(_, phase)| phase).collect();
    check_begun(date, before, &next, now)?;
    Ok(next)
}

fn check_terms(
    date: &PhasedDate<'_>,
    at: usize,
    terms: &PhaseTerms,
) -> Result<Option<SeatRanges>, Refusal> {
    let invalid = |name: &str| Refusal::InvalidPhase { field: format!("phases[{at}].{name}") };
    let outside = |name: &str| Refusal::PhaseOutsideSale { field: format!("phases[{at}].{name}") };
    let window = terms.window;
    if window.ends_at <= window.starts_at {
        return Err(invalid("endsAt"));
    }
    if window.starts_at < date.sale.starts_at {
        return Err(outside("startsAt"));
    }
    if date.sale.ends_at < window.ends_at {
        return Err(outside("endsAt"));
    }
    let seats_max = date.seats_per_person.min(SEATS_PER_PERSON_MAX);
    if !(1..=seats_max).contains(&terms.seats_per_person) {
        return Err(invalid("seatsPerPerson"));
    }
    if terms.seats_per_order.is_some_and(|n_seats| !is_order_size(n_seats)) {
        return Err(invalid("seatsPerOrder"));
    }
    terms.inventory.ranges(date.plan).map_err(invalid)
}

/// Names the later one of two phases that overlap, by its position in the request.
fn check_order(phases: &[(usize, Phase)]) -> Result<(), Refusal> {
    for pair in phases.windows(2) {
        let [(_, first), (at, second)] = pair else { continue };
        if second.terms.window.starts_at < first.terms.window.ends_at {
            return Err(Refusal::PhasesOverlap { field: format!("phases[{at}].startsAt") });
        }
    }
    Ok(())
}

fn check_begun(
    date: &PhasedDate<'_>,
    before: &[Phase],
    next: &[Phase],
    now: Timestamp,
) -> Result<(), Refusal> {
    let has_begun = |phase: &Phase| phase.terms.window.starts_at <= now;
    let is_kept = before.iter().filter(|phase| has_begun(phase)).all(|phase| {
        next.iter().any(|other| other.id == phase.id && may_become(date, phase, other, now))
    });
    // Once the sale has opened, fans were admitted under the rules of that moment.
    let is_new = |phase: &&Phase| !before.iter().any(|other| other.id == phase.id);
    let is_open = date.sale.starts_at <= now;
    let starts_late = next
        .iter()
        .filter(|phase| {
            is_new(phase) || before.iter().any(|it| it.id == phase.id && !has_begun(it))
        })
        .any(|phase| is_open && has_begun(phase));
    let divides_open_sale = is_open && before.is_empty() && !next.is_empty();
    if is_kept && !starts_late && !divides_open_sale { Ok(()) } else { Err(Refusal::PhaseBegun) }
}

fn may_become(date: &PhasedDate<'_>, phase: &Phase, next: &Phase, now: Timestamp) -> bool {
    let order_size = |terms: &PhaseTerms| terms.seats_per_order.unwrap_or(date.seats_per_order);
    let (old, new) = (&phase.terms, &next.terms);
    let (end, new_end) = (old.window.ends_at, new.window.ends_at);
    old.window.starts_at == new.window.starts_at
        && old.audience == new.audience
        && old.inventory == new.inventory
        && old.seats_per_person <= new.seats_per_person
        && order_size(old) <= order_size(new)
        && (end == new_end || (now <= new_end && now < end))
}

/// Whether phases stay within a sale whose times change.
pub fn check_sale(phases: &[Phase], sale: SaleWindow) -> Result<(), Refusal> {
    for phase in phases {
        let window = phase.terms.window;
        if window.starts_at < sale.starts_at {
            return Err(Refusal::PhaseOutsideSale { field: "saleStartsAt".to_owned() });
        }
        if sale.ends_at < window.ends_at {
            return Err(Refusal::PhaseOutsideSale { field: "saleEndsAt".to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;

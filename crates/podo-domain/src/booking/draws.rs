//! A draw sale: fans apply for a grade and a number of seats, a draw with a published seed orders
//! them, and seats are offered in that order until the quantity of each grade is taken.
//!
//! Before the first application we publish the commitment to the phase's seed; after the draw we
//! publish the seed and the list of applications. An application with `index` (from 0, in the order
//! of arrival) has the place `permutation(seed, n)[index]`, as in the draw of a lobby
//! (`waiting_room/draw.rs`). One shuffle serves all grades: an application names one grade, so the
//! order within a grade is as random as the whole.

use crate::catalog::SeatPlan;
use crate::catalog::phases::{Phase, PhaseAudience};
use crate::{Refusal, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

/// Shortest and longest time to pay for an offer.
pub const OFFER_MINUTES_MIN: u32 = 10;
pub const OFFER_MINUTES_MAX: u32 = 7 * 24 * 60;

/// No offer begins later than this before the end of its phase.
const LAST_OFFER: Duration = Duration::from_secs(OFFER_MINUTES_MIN as u64 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ApplicationState {
    /// It takes part in the coming draw.
    Applied,
    /// The fan withdrew it before the draw; its index is skipped.
    Withdrawn,
    /// It has a place in the drawn order and waits for its turn.
    Drawn,
    /// Seats are held for the fan, who was notified.
    Offered,
    /// The fan bought them.
    Taken,
    /// The offer expired or was declined.
    Lapsed,
    /// Its turn came, but it wanted more seats than were left or than the fan may have, or the fan
    /// had given it up.
    Passed,
}

impl ApplicationState {
    pub const ALL: [ApplicationState; 7] = [
        ApplicationState::Applied,
        ApplicationState::Withdrawn,
        ApplicationState::Drawn,
        ApplicationState::Offered,
        ApplicationState::Taken,
        ApplicationState::Lapsed,
        ApplicationState::Passed,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            ApplicationState::Applied => "APPLIED",
            ApplicationState::Withdrawn => "WITHDRAWN",
            ApplicationState::Drawn => "DRAWN",
            ApplicationState::Offered => "OFFERED",
            ApplicationState::Taken => "TAKEN",
            ApplicationState::Lapsed => "LAPSED",
            ApplicationState::Passed => "PASSED",
        }
    }

    pub fn parse(text: &str) -> Option<ApplicationState> {
        ApplicationState::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether it got its turn with an offer.
    pub const fn was_offered(self) -> bool {
        match self {
            ApplicationState::Offered | ApplicationState::Taken | ApplicationState::Lapsed => true,
            ApplicationState::Applied
            | ApplicationState::Withdrawn
            | ApplicationState::Drawn
            | ApplicationState::Passed => false,
        }
    }

    /// The fan gives it up. Before the draw it is withdrawn; afterwards it keeps its place, which
    /// is passed over. An offer is declined by releasing its seats.
    pub const fn give_up(self) -> Result<ApplicationState, Refusal> {
        match self {
            ApplicationState::Applied | ApplicationState::Withdrawn => {
                Ok(ApplicationState::Withdrawn)
            }
            ApplicationState::Drawn | ApplicationState::Passed => Ok(ApplicationState::Passed),
            ApplicationState::Offered => Err(Refusal::DrawOffered),
            ApplicationState::Taken | ApplicationState::Lapsed => Err(Refusal::NotFound),
        }
    }
}

/// A draw as an organiser describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawTerms {
    pub apply_from: Timestamp,
    /// The draw follows at once.
    pub apply_until: Timestamp,
    /// Most seats of one application.
    pub seats_max: u32,
    /// How long a winner may take to pay.
    pub offer_minutes: u32,
    /// Seats to give away, by grade.
    pub quantities: BTreeMap<String, u32>,
}

/// The phase that a draw belongs to.
pub struct DrawnPhase<'p> {
    pub phase: &'p Phase,
    /// The order size of the date, if the phase doesn't say otherwise.
    pub seats_per_order: u32,
    pub plan: &'p SeatPlan,
}

fn invalid(field: impl Into<String>) -> Refusal {
    Refusal::InvalidDraw { field: field.into() }
}

impl DrawTerms {
    /// Whether these terms fit the phase: its seats, its limits and its window, before which the
    /// draw takes place.
    pub fn check(&self, of: &DrawnPhase<'_>) -> Result<(), Refusal> {
        let terms = &of.phase.terms;
        if terms.audience != PhaseAudience::Drawn {
            return Err(invalid("audience"));
        }
        if self.apply_until <= self.apply_from || terms.window.starts_at < self.apply_until {
            return Err(invalid("applyUntil"));
        }
        let per_order = terms.seats_per_order.unwrap_or(of.seats_per_order);
        if !(1..=per_order.min(terms.seats_per_person)).contains(&self.seats_max) {
            return Err(invalid("seatsMax"));
        }
        if !(OFFER_MINUTES_MIN..=OFFER_MINUTES_MAX).contains(&self.offer_minutes) {
            return Err(invalid("offerMinutes"));
        }
        if self.quantities.is_empty() {
            return Err(invalid("quantities"));
        }
        let mut n_seats: BTreeMap<&str, u32> = BTreeMap::new();
        for (index, seat) in (0..).zip(&of.plan.seats) {
            if of.phase.sells(index) {
                *n_seats.entry(&seat.grade).or_default() += 1;
            }
        }
        for (grade, quantity) in &self.quantities {
            let most = n_seats.get(grade.as_str()).copied().unwrap_or(0);
            if !(1..=most).contains(quantity) {
                return Err(invalid(format!("quantities.{grade}")));
            }
        }
        Ok(())
    }

    /// Whether an organiser may replace these terms. From the first moment of the window fans rely
    /// on them: it may become longer and the quantities greater, until the draw.
    pub fn check_change(
        &self,
        next: &DrawTerms,
        is_closed: bool,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        if now < self.apply_from {
            return Ok(());
        }
        let is_longer =
            self.apply_until == next.apply_until || now < self.apply_until.min(next.apply_until);
        let grows = self.quantities.len() == next.quantities.len()
            && self.quantities.iter().all(|(grade, quantity)| {
                next.quantities.get(grade).is_some_and(|next| quantity <= next)
            });
        let is_kept = self.apply_from == next.apply_from
            && self.apply_until <= next.apply_until
            && self.seats_max == next.seats_max
            && self.offer_minutes <= next.offer_minutes;
        match !is_closed && is_longer && grows && is_kept {
            true => Ok(()),
            false => Err(Refusal::DrawBegun),
        }
    }

    /// Whether a phase with this draw may become another one; its window, seats and audience are
    /// part of what fans apply for.
    pub fn check_phase(
        &self,
        before: &Phase,
        next: &DrawnPhase<'_>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let (old, new) = (&before.terms, &next.phase.terms);
        if self.apply_from <= now
            && (new.audience != old.audience || new.inventory != old.inventory)
        {
            return Err(Refusal::DrawBegun);
        }
        self.check(next)
    }

    /// Whether fans may apply, change or withdraw now.
    pub fn check_window(&self, is_closed: bool, now: Timestamp) -> Result<(), Refusal> {
        if now < self.apply_from {
            return Err(Refusal::DrawNotOpen { opens_at: self.apply_from });
        }
        if is_closed || self.apply_until <= now {
            return Err(Refusal::DrawClosed);
        }
        Ok(())
    }

    /// Whether a fan may ask for this.
    pub fn check_application(&self, grade: &str, n_seats: u32) -> Result<(), Refusal> {
        if !self.quantities.contains_key(grade) {
            return Err(Refusal::UnknownGrade);
        }
        match n_seats {
            0 => Err(Refusal::NoSeats),
            _ if n_seats <= self.seats_max => Ok(()),
            _ => Err(Refusal::TooManySeats { max: self.seats_max as usize }),
        }
    }
}

/// Until when an offer that is made now can be paid; `None` if too little of the phase is left.
pub fn offer_until(offer_minutes: u32, ends_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let until = now.plus(Duration::from_secs(u64::from(offer_minutes) * 60)).min(ends_at);
    (now.plus(LAST_OFFER) <= until).then_some(until)
}

/// One line of the list from which the winners are computed, in the order of the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Position of the grade among the grades of the draw.
    pub grade: u16,
    pub n_seats: u8,
    /// A withdrawn application keeps its index and wins nothing.
    pub is_withdrawn: bool,
}

/// Which applications win, by index. In each grade the seats go to the applications in the order of
/// their places, up to the first one that wants more than are left.
pub fn winners(ranks: &[u32], applications: &[Application], quantities: &[u32]) -> Vec<bool> {
    let mut order = vec![0_usize; ranks.len()];
    for (index, rank) in ranks.iter().enumerate() {
        order[*rank as usize] = index;
    }
    let mut left: Vec<Option<u32>> = quantities.iter().copied().map(Some).collect();
    let mut wins = vec![false; applications.len()];
    for index in order {
        let Some(application) = applications.get(index).filter(|it| !it.is_withdrawn) else {
            continue;
        };
        let Some(of_grade) = left.get_mut(usize::from(application.grade)) else { continue };
        *of_grade = of_grade.and_then(|left| left.checked_sub(u32::from(application.n_seats)));
        wins[index] = of_grade.is_some();
    }
    wins
}

/// The list of applications as bytes: published with the seed, so that it can't be changed later.
/// A line is `index,grade,count`, without grade and count if the application was withdrawn.
#[derive(Default)]
pub struct ListHash(Sha256);

impl ListHash {
    pub fn add(&mut self, index: u32, application: Option<(&str, u32)>) {
        let line = match application {
            Some((grade, n_seats)) => format!("{index},{grade},{n_seats}\n"),
            None => format!("{index},,\n"),
        };
        self.0.update(line.as_bytes());
    }

    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
#[path = "draws_tests.rs"]
mod tests;

//! The fans' own log of their places, to check the waiting room's guarantees.

use crate::http::answers::{QueueState, QueueStatus};
use podo_domain::Timestamp;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The findings of the log. All but the last two should be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceFindings {
    /// Fans whose number changed.
    pub lost: u64,
    /// Fans whose position grew.
    pub grown: u64,
    /// Numbers that two fans had.
    pub doubled: u64,
    /// Fans who were admitted before a fan with a smaller number.
    pub passed: u64,
    /// The maximum of fans inside at once.
    pub inside_max: u64,
    /// Fans who had a number.
    pub numbered: u64,
}

impl PlaceFindings {
    /// Whether the waiting room kept its guarantees.
    pub fn is_kept(&self, max_active: u64) -> bool {
        self.lost + self.grown + self.doubled + self.passed == 0 && self.inside_max <= max_active
    }
}

impl fmt::Display for PlaceFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlaceFindings { lost, grown, doubled, passed, inside_max, numbered } = self;
        write!(
            f,
            "places: {numbered} given, {lost} lost, {doubled} given twice, {grown} grew, \
             {passed} passed; at most {inside_max} inside at once"
        )
    }
}

#[derive(Clone, Copy, Default)]
struct History {
    /// Each waiting room has numbers of its own.
    room: usize,
    number: Option<u64>,
    position: Option<u64>,
    is_lost: bool,
    has_grown: bool,
    /// Every entry has the same length, so its end implies its start.
    entry_ends: Option<Timestamp>,
}

#[derive(Default)]
struct State {
    by_fan: HashMap<u32, History>,
    n_inside: u64,
    inside_max: u64,
}

#[derive(Default)]
pub(crate) struct Places {
    state: Mutex<State>,
}

impl Places {
    /// Records an answer to a fan.
    pub(crate) fn note(&self, room: usize, fan: u32, place: &QueueStatus) {
        let mut state = self.state();
        let history = state.by_fan.entry(fan).or_default();
        history.room = room;
        if let Some(number) = place.number {
            history.is_lost |= history.number.is_some_and(|before| before != number);
            history.number = Some(number);
        }
        if place.state == QueueState::Waiting {
            history.has_grown |= history.position.is_some_and(|before| before < place.position);
            history.position = Some(place.position);
        }
        if place.can_enter && history.entry_ends.is_none() {
            history.entry_ends = place.entry_expires_at;
            state.n_inside += 1;
            state.inside_max = state.inside_max.max(state.n_inside);
        }
    }

    /// A fan is about to pay or to leave: from here on the slot may belong to another fan.
    pub(crate) fn note_leaving(&self) {
        let mut state = self.state();
        state.n_inside = state.n_inside.saturating_sub(1);
    }

    pub(crate) fn findings(&self) -> PlaceFindings {
        let state = self.state();
        let count =
            |is_so: fn(&History) -> bool| state.by_fan.values().filter(|it| is_so(it)).count();
        let numbered =
            state.by_fan.values().filter_map(|it| Some(((it.room, it.number?), it.entry_ends)));
        let mut by_number: Vec<((usize, u64), Option<Timestamp>)> = numbered.collect();
        by_number.sort_unstable();
        let n_doubled = by_number.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        let entries = by_number.iter().filter_map(|((room, _), ends)| Some((*room, (*ends)?)));
        let entries: Vec<(usize, Timestamp)> = entries.collect();
        let is_passed =
            |pair: &&[(usize, Timestamp)]| pair[0].0 == pair[1].0 && pair[1].1 < pair[0].1;
        let n_passed = entries.windows(2).filter(is_passed).count();
        PlaceFindings {
            lost: count(|it| it.is_lost) as u64,
            grown: count(|it| it.has_grown) as u64,
            doubled: n_doubled as u64,
            passed: n_passed as u64,
            inside_max: state.inside_max,
            numbered: by_number.len() as u64,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(number: u64, position: u64) -> QueueStatus {
        QueueStatus {
            state: QueueState::Waiting,
            can_enter: false,
            poll_after_ms: None,
            token: None,
            entry_token: None,
            number: Some(number),
            position,
            entry_expires_at: None,
            chance: None,
        }
    }

    fn inside(number: u64, until_ms: i64) -> QueueStatus {
        let entry_expires_at = Some(Timestamp::from_ms(until_ms));
        let state = QueueState::Admitted;
        QueueStatus { state, can_enter: true, entry_expires_at, ..waiting(number, 0) }
    }

    #[test]
    fn an_orderly_line_leaves_nothing_to_complain_about() {
        let places = Places::default();
        for fan in 0..3_u32 {
            places.note(0, fan, &waiting(7 + u64::from(fan), 1 + u64::from(fan)));
            places.note(0, fan, &inside(7 + u64::from(fan), 100 + i64::from(fan)));
            places.note_leaving();
        }
        let findings = places.findings();
        assert!(findings.is_kept(1) && !findings.is_kept(0), "{findings}");
        assert_eq!((findings.numbered, findings.inside_max), (3, 1));
    }

    #[test]
    fn every_violation_is_found() {
        let places = Places::default();
        places.note(0, 0, &waiting(7, 1));
        places.note(0, 0, &waiting(8, 2));
        assert_eq!((places.findings().lost, places.findings().grown), (1, 1));
        places.note(0, 1, &inside(8, 50));
        assert_eq!(places.findings().doubled, 1);
        places.note(0, 2, &inside(6, 60));
        let findings = places.findings();
        assert_eq!((findings.passed, findings.inside_max), (1, 2));
    }
}

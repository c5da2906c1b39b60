//! The state behind a seat map: every seat's face, and when its hold ends.

use crate::booking::seat_map::snapshot::{Change, Delta, Snapshot};
use podo_domain::booking::seats::{SeatFace, SeatStanding, SeatState};
use podo_domain::catalog::hall::Hall;
use podo_domain::id::SeatIndex;
use podo_domain::{NodeId, Timestamp};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Deltas kept for clients that ask what changed.
const DELTAS_MAX: usize = 256;

/// Changes in all deltas together; beyond this the whole map is cheaper.
const CHANGES_MAX: usize = 20_000;

pub struct Board {
    hall: Arc<Hall>,
    node: NodeId,
    faces: Vec<SeatFace>,
    /// When a held seat becomes free.
    ends: Vec<Option<Timestamp>>,
    queue: BTreeSet<(Timestamp, SeatIndex)>,
    deltas: VecDeque<Arc<Delta>>,
    current: Option<Arc<Snapshot>>,
}

impl Board {
    pub fn new(hall: Arc<Hall>, node: NodeId) -> Board {
        let n_seats = hall.places.len();
        Board {
            hall,
            node,
            faces: vec![SeatFace::Available; n_seats],
            ends: vec![None; n_seats],
            queue: BTreeSet::new(),
            deltas: VecDeque::new(),
            current: None,
        }
    }

    /// Sets exactly these seats as claimed and all others as free.
    pub fn set_all(&mut self, claimed: &[SeatStanding], now: Timestamp) -> Arc<Snapshot> {
        let mut standings: Vec<SeatStanding> = (0..)
            .take(self.faces.len())
            .map(|index| SeatStanding { index, state: SeatState::Free, expires_at: None })
            .collect();
        for seat in claimed {
            if let Some(known) = standings.get_mut(seat.index as usize) {
                *known = *seat;
            }
        }
        self.set(&standings, now)
    }

    /// Sets the state of these seats; the others stay as they are.
    pub fn set(&mut self, seats: &[SeatStanding], now: Timestamp) -> Arc<Snapshot> {
        let mut changes = Vec::new();
        for seat in seats {
            let face = seat.face(now);
            let ends = matches!(seat.state, SeatState::Held | SeatState::Free);
            let until = seat.expires_at.filter(|_| ends && face == SeatFace::Held);
            self.put(seat.index, face, until, &mut changes);
        }
        self.end_holds(now, &mut changes);
        self.publish(changes, now)
    }

    /// Only expires holds.
    pub fn tidy(&mut self, now: Timestamp) -> Arc<Snapshot> {
        self.set(&[], now)
    }

    fn put(
        &mut self,
        seat: SeatIndex,
        face: SeatFace,
        until: Option<Timestamp>,
        changes: &mut Vec<Change>,
    ) {
        let at = seat as usize;
        let Some(known) = self.faces.get_mut(at) else { return };
        if *known != face {
            *known = face;
            changes.push(Change { seat, face });
        }
        if self.ends[at] != until {
            if let Some(old) = self.ends[at] {
                self.queue.remove(&(old, seat));
            }
            if let Some(new) = until {
                self.queue.insert((new, seat));
            }
            self.ends[at] = until;
        }
    }

    /// An expired hold can be taken over, swept or not.
    fn end_holds(&mut self, now: Timestamp, changes: &mut Vec<Change>) {
        while let Some((_, seat)) = self.queue.first().copied().filter(|(end, _)| *end <= now) {
            self.put(seat, SeatFace::Available, None, changes);
        }
    }

    fn publish(&mut self, changes: Vec<Change>, now: Timestamp) -> Arc<Snapshot> {
        if let Some(current) = self.current.as_ref().filter(|_| changes.is_empty()) {
            return current.clone();
        }
        let before = self.current.as_ref().map_or(0, |snapshot| snapshot.version);
        let version = next_version(before, self.node, now);
        if self.current.is_some() {
            self.remember(Delta::new(before, version, changes));
        }
        let deltas = self.deltas.iter().cloned().collect();
        let snapshot = Snapshot::build(version, &self.faces, &self.hall, deltas);
        let snapshot = Arc::new(snapshot);
        self.current = Some(snapshot.clone());
        snapshot
    }

    fn remember(&mut self, delta: Delta) {
        self.deltas.push_back(Arc::new(delta));
        let mut n_changes: usize = self.deltas.iter().map(|delta| delta.changes.len()).sum();
        while self.deltas.len() > DELTAS_MAX || n_changes > CHANGES_MAX {
            let Some(oldest) = self.deltas.pop_front() else { break };
            n_changes -= oldest.changes.len();
        }
    }
}

/// Bits of a version that distinguish nodes; the rest is the time in milliseconds. Together they
/// fit into the 53 bits of a JavaScript number until 2109.
const NODE_BITS: u32 = 11;

/// Versions grow with time and differ between nodes, so that a fan whom the load balancer moves to
/// another node never gets the changes since a version that they haven't seen.
fn next_version(before: u64, node: NodeId, now: Timestamp) -> u64 {
    let (_, random) = node.uuid().as_u64_pair();
    let mask = (1 << NODE_BITS) - 1;
    let ms = u64::try_from(now.ms()).unwrap_or(0).max((before >> NODE_BITS) + 1);
    (ms << NODE_BITS) | (random & mask)
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;

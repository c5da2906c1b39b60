//! The status of every seat as one small answer, built at most a few times a second and shared by
//! all who ask.

use app::{Platform, Result};
use bytes::Bytes;
use domain::seats::{Seat, SeatFace};
use domain::{ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A snapshot that was checked this short ago is good.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// After this long the seats are read even when nobody told of a change: the one who should have
/// may have died.
const READ_AFTER: Duration = Duration::from_secs(2);

/// Schedules kept; the oldest knowledge is dropped when somebody walks through more.
const KEPT_MAX: usize = 1_000;

/// What everybody may know of the seats of one schedule.
pub struct Snapshot {
    /// Grows when anything changed.
    pub version: i64,
    /// One letter a seat, in layout order.
    pub letters: String,
    /// The answer in JSON, ready to send.
    pub json: Bytes,
    /// Two bits a seat, four seats a byte, the first in the lowest bits.
    pub packed: Bytes,
}

impl Snapshot {
    fn build(seats: &[Seat], before: Option<&Snapshot>, now: Timestamp) -> Snapshot {
        let faces: Vec<SeatFace> = seats.iter().map(|seat| seat.face(now)).collect();
        let letters: String = faces.iter().map(|face| face.letter()).collect();
        let version = match before {
            Some(before) if before.letters == letters => before.version,
            Some(before) => before.version + 1,
            // Starting at the time, versions keep growing over a restart.
            None => now.ms(),
        };
        let json = format!(r#"{{"version":{version},"seats":"{letters}"}}"#);
        Snapshot { version, json: Bytes::from(json), packed: Bytes::from(pack(&faces)), letters }
    }
}

/// A snapshot and until when it may be shown.
struct Kept {
    snapshot: Arc<Snapshot>,
    checked_at: Timestamp,
    read_at: Timestamp,
    /// The version of the seats before they were read, if the live engine told it.
    seats_version: Option<u64>,
    /// When the first of the holds in it ends.
    hold_ends_at: Timestamp,
}

impl Kept {
    fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.checked_at.plus(FRESH_FOR)
    }

    /// Is it still true, if the seats have this version now?
    fn is_true(&self, seats_version: Option<u64>, now: Timestamp) -> bool {
        let is_same = seats_version.is_some() && seats_version == self.seats_version;
        is_same && now < self.hold_ends_at && now < self.read_at.plus(READ_AFTER)
    }
}

fn first_end(seats: &[Seat], now: Timestamp) -> Timestamp {
    let ends = seats.iter().filter_map(|seat| seat.expires_at).filter(|end| now < *end);
    ends.min().unwrap_or(Timestamp::FAR_FUTURE)
}

fn pack(faces: &[SeatFace]) -> Vec<u8> {
    let pack_four = |four: &[SeatFace]| {
        four.iter().enumerate().fold(0, |byte, (index, face)| byte | (face.bits() << (2 * index)))
    };
    faces.chunks(4).map(pack_four).collect()
}

/// One slot per schedule; whoever finds its snapshot old checks it, and builds the next if seats
/// changed, while the others wait for that.
type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

#[derive(Default)]
pub struct SeatMaps {
    slots: Mutex<HashMap<ScheduleId, Slot>>,
}

impl SeatMaps {
    pub async fn snapshot(
        &self,
        platform: &Platform,
        schedule: ScheduleId,
    ) -> Result<Arc<Snapshot>> {
        let now = platform.now();
        // Also the check that fans may see this schedule at all.
        platform.schedules.get(&*platform.store, schedule, now).await?;
        let slot = self.slot(schedule);
        let mut kept = slot.lock().await;
        let now = platform.now();
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_fresh(now)) {
            return Ok(kept.snapshot.clone());
        }
        // Without an answer the store is asked: the seat map is right, only dearer.
        let seats_version = platform.seat_versions.version(schedule).await.ok();
        if let Some(kept) = kept.as_mut().filter(|kept| kept.is_true(seats_version, now)) {
            kept.checked_at = now;
            return Ok(kept.snapshot.clone());
        }
        let seats = platform.store.seats_of(schedule).await?;
        let now = platform.now();
        let before = kept.as_ref().map(|kept| &*kept.snapshot);
        let snapshot = Arc::new(Snapshot::build(&seats, before, now));
        *kept = Some(Kept {
            snapshot: snapshot.clone(),
            checked_at: now,
            read_at: now,
            seats_version,
            hold_ends_at: first_end(&seats, now),
        });
        Ok(snapshot)
    }

    fn slot(&self, schedule: ScheduleId) -> Slot {
        let mut slots = self.slots.lock().expect("nothing panics under this lock");
        if slots.len() >= KEPT_MAX && !slots.contains_key(&schedule) {
            slots.clear();
        }
        slots.entry(schedule).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Won;
    use domain::seats::SeatState;

    fn seat(index: u32, state: SeatState) -> Seat {
        Seat {
            index,
            number: format!("A-{index}"),
            grade: "S".into(),
            price: Won::ZERO,
            state,
            claim: None,
            fence: 0,
            expires_at: Some(Timestamp::from_ms(1_000)),
        }
    }

    #[test]
    fn the_version_grows_only_when_something_changed() {
        let seats = [seat(0, SeatState::Free), seat(1, SeatState::Held), seat(2, SeatState::Sold)];
        let first = Snapshot::build(&seats, None, Timestamp::from_ms(500));
        assert_eq!(first.letters, "AHS");
        assert_eq!(first.packed.as_ref(), [0b10_01_00]);
        let same = Snapshot::build(&seats, Some(&first), Timestamp::from_ms(600));
        assert_eq!(same.version, first.version);
        let later = Snapshot::build(&seats, Some(&first), Timestamp::from_ms(1_000));
        assert_eq!((later.letters.as_str(), later.version), ("AAS", first.version + 1));
    }

    #[test]
    fn the_seats_are_read_again_when_somebody_changed_them_or_a_hold_ended() {
        let at = Timestamp::from_ms;
        let seats = [seat(0, SeatState::Free), seat(1, SeatState::Held)];
        let kept = Kept {
            snapshot: Arc::new(Snapshot::build(&seats, None, at(500))),
            checked_at: at(500),
            read_at: at(500),
            seats_version: Some(7),
            hold_ends_at: first_end(&seats, at(500)),
        };
        assert!(kept.is_fresh(at(749)) && !kept.is_fresh(at(750)));
        assert!(kept.is_true(Some(7), at(999)), "nothing happened");
        assert!(!kept.is_true(Some(8), at(750)), "another node changed seats");
        assert!(!kept.is_true(None, at(750)), "nobody can tell");
        assert!(!kept.is_true(Some(7), at(1_000)), "a hold ended");
        let kept = Kept { hold_ends_at: Timestamp::FAR_FUTURE, ..kept };
        assert!(kept.is_true(Some(7), at(2_499)) && !kept.is_true(Some(7), at(2_500)), "too old");
    }
}

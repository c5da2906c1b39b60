//! The status of every seat as one small answer, built at most a few times a second and shared by
//! all who ask.

use app::{Platform, Result};
use bytes::Bytes;
use domain::seats::{Seat, SeatFace};
use domain::{ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A snapshot younger than this is not built again.
const FRESH_FOR: Duration = Duration::from_millis(250);

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
    built_at: Timestamp,
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
        Snapshot {
            version,
            json: Bytes::from(json),
            packed: Bytes::from(pack(&faces)),
            letters,
            built_at: now,
        }
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.built_at.plus(FRESH_FOR)
    }
}

fn pack(faces: &[SeatFace]) -> Vec<u8> {
    let pack_four = |four: &[SeatFace]| {
        four.iter().enumerate().fold(0, |byte, (index, face)| byte | (face.bits() << (2 * index)))
    };
    faces.chunks(4).map(pack_four).collect()
}

/// One slot per schedule; whoever finds its snapshot old builds the next while the others wait
/// for that one.
type Slot = Arc<tokio::sync::Mutex<Option<Arc<Snapshot>>>>;

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
        if let Some(snapshot) = kept.as_ref().filter(|snapshot| snapshot.is_fresh(platform.now())) {
            return Ok(snapshot.clone());
        }
        let seats = platform.store.seats_of(schedule).await?;
        let built = Arc::new(Snapshot::build(&seats, kept.as_deref(), platform.now()));
        *kept = Some(built.clone());
        Ok(built)
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
}

//! The rooms that fans have contacted lately, shared by all nodes, so that a round of admission
//! doesn't ask every room of the platform. A lost or late note costs at most one visit of all rooms.

use crate::live::redis::Connection;
use crate::live::redis::queue::steps::ms;
use podo_app::Result;
use podo_app::cache::Cache;
use podo_app::waiting_room::port::queue::Busy;
use podo_domain::{ScheduleId, Timestamp};
use redis::{Script, Value};
use std::time::Duration;

const KEY: &str = "queue:busy";

/// A room is busy for this long after a contact. Waiting fans poll far more often.
const BUSY_FOR: Duration = Duration::from_secs(15 * 60);

/// A node notes a room at most this often.
const NOTE_EVERY: Duration = Duration::from_secs(5);

/// Rooms whose last note is cached; evicting one costs a note.
const NOTED_MAX: usize = 10_000;

pub(crate) struct BusyRooms {
    script: Script,
    noted: Cache<ScheduleId, Timestamp>,
}

impl Default for BusyRooms {
    fn default() -> BusyRooms {
        let script = Script::new(include_str!("scripts/busy.lua"));
        BusyRooms { script, noted: Cache::of(NOTED_MAX) }
    }
}

impl BusyRooms {
    /// Notes a contact. If that fails, the next contact notes it.
    pub(crate) async fn note(&self, connection: &Connection, schedule: ScheduleId, now: Timestamp) {
        if !self.is_due(schedule, now) {
            return;
        }
        let mut note = self.script.key(connection.key(KEY));
        note.arg(now.ms()).arg(ms(BUSY_FOR)).arg(schedule.uuid().to_string());
        if let Err(error) = connection.run::<Value>(&note).await {
            tracing::debug!(schedule.id = %schedule, %error, "Could not note a busy room");
            self.noted.remove(&schedule);
        }
    }

    fn is_due(&self, schedule: ScheduleId, now: Timestamp) -> bool {
        let is_recent = |at: Timestamp| at <= now && now < at.plus(NOTE_EVERY);
        if self.noted.get(&schedule).is_some_and(is_recent) {
            return false;
        }
        self.noted.insert(schedule, now);
        true
    }

    pub(crate) async fn read(&self, connection: &Connection, now: Timestamp) -> Result<Busy> {
        let mut read = self.script.key(connection.key(KEY));
        read.arg(now.ms()).arg(ms(BUSY_FOR));
        let found: Vec<String> = connection.run(&read).await?;
        let is_new = found.first().is_some_and(|first| first == "1");
        if is_new {
            // What this node noted is lost too.
            self.noted.clear();
        }
        let rooms = found.iter().skip(1).filter_map(|schedule| schedule.parse().ok()).collect();
        Ok(Busy { rooms, is_new })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_node_notes_a_room_every_five_seconds_at_most() {
        let (rooms, at) = (BusyRooms::default(), Timestamp::from_ms);
        let schedule = ScheduleId::new(Uuid::from_u128(1));
        assert!(rooms.is_due(schedule, at(1_000)));
        assert!(!rooms.is_due(schedule, at(5_999)));
        assert!(rooms.is_due(schedule, at(6_000)));
        assert!(rooms.is_due(schedule, at(0)), "the clock stepped back");
    }
}

//! Holds on Redis: a hash per schedule, at most one field per seat.

use super::Connection;
use app::Result;
use app::ports::holds::{self, Taken};
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};
use redis::Script;
use std::time::Duration;

/// A schedule in which nothing moves for this long is forgotten: the database decides anyway.
const FORGET_AFTER: Duration = Duration::from_secs(30 * 24 * 3_600);

pub struct Holds {
    connection: Connection,
    take: Script,
    keep: Script,
    release: Script,
}

impl Holds {
    pub fn new(connection: Connection) -> Holds {
        Holds {
            connection,
            take: Script::new(include_str!("holds/take.lua")),
            keep: Script::new(include_str!("holds/keep.lua")),
            release: Script::new(include_str!("holds/release.lua")),
        }
    }

    fn key(&self, schedule: ScheduleId) -> String {
        self.connection.key(format_args!("{{{}}}:holds", schedule.uuid()))
    }
}

fn forget_after_ms() -> u64 {
    u64::try_from(FORGET_AFTER.as_millis()).expect("a month is a small number")
}

#[async_trait]
impl holds::Holds for Holds {
    async fn take(
        &self,
        pick: &SeatPick,
        fan: UserId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Taken> {
        let mut call = self.take.key(self.key(pick.schedule()));
        call.arg(fan.uuid().to_string()).arg(until.ms()).arg(forget_after_ms()).arg(now.ms());
        call.arg(pick.indexes());
        let (seats, by_self): (Vec<SeatIndex>, bool) = self.connection.run(&call).await?;
        if seats.is_empty() {
            return Ok(Taken::Yes);
        }
        Ok(Taken::Blocked { seats, by_self })
    }

    async fn keep(
        &self,
        schedule: ScheduleId,
        seats: &[SeatIndex],
        fan: UserId,
        until: Timestamp,
    ) -> Result<()> {
        let mut call = self.keep.key(self.key(schedule));
        call.arg(fan.uuid().to_string()).arg(until.ms()).arg(forget_after_ms()).arg(seats);
        self.connection.run(&call).await
    }

    async fn release(&self, schedule: ScheduleId, seats: &[SeatIndex], fan: UserId) -> Result<()> {
        let mut call = self.release.key(self.key(schedule));
        call.arg(fan.uuid().to_string()).arg(seats);
        self.connection.run(&call).await
    }
}

//! Holds on Redis: a hash per schedule, at most one field per seat.

mod seen;

use self::seen::Seen;
use super::Connection;
use app::ports::holds::{self, Correction, Taken};
use app::{Error, Result};
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reconciliation::FilterHold;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};
use redis::{Cmd, Script};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// A schedule in which nothing moves for this long is forgotten: the database decides anyway.
const FORGET_AFTER: Duration = Duration::from_secs(30 * 24 * 3_600);

pub struct Holds {
    connection: Connection,
    /// What Redis said a moment ago: losers of a race are refused by it.
    seen: Seen,
    take: Script,
    keep: Script,
    release: Script,
    correct: Script,
}

impl Holds {
    pub fn new(connection: Connection) -> Holds {
        Holds {
            connection,
            seen: Seen::default(),
            take: Script::new(include_str!("holds/take.lua")),
            keep: Script::new(include_str!("holds/keep.lua")),
            release: Script::new(include_str!("holds/release.lua")),
            correct: Script::new(include_str!("holds/correct.lua")),
        }
    }

    fn key(&self, schedule: ScheduleId) -> String {
        self.connection.key(format_args!("{{{}}}:holds", schedule.uuid()))
    }
}

/// A hold as the scripts write it; nothing for none.
fn write(hold: Option<FilterHold>) -> String {
    hold.map_or_else(String::new, |hold| format!("{} {}", hold.until.ms(), hold.fan.uuid()))
}

fn read(text: &str) -> Option<FilterHold> {
    let (until, fan) = text.split_once(' ')?;
    let until = Timestamp::from_ms(until.parse().ok()?);
    Some(FilterHold { fan: fan.parse().ok()?, until })
}

fn forget_after_ms() -> u64 {
    u64::try_from(FORGET_AFTER.as_millis()).expect("a month is a small number")
}

#[async_trait]
impl holds::Holds for Holds {
    fn refusal_at_hand(
        &self,
        pick: &SeatPick,
        fan: UserId,
        now: Timestamp,
    ) -> Option<Vec<SeatIndex>> {
        self.seen.refusal(pick, fan, now)
    }

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
        let (seats, holds, by_self): (Vec<SeatIndex>, Vec<String>, bool) =
            self.connection.run(&call).await?;
        if seats.is_empty() {
            return Ok(Taken::Yes);
        }
        let holds = seats.iter().zip(holds.iter().filter_map(|text| read(text)));
        self.seen.remember(pick.schedule(), holds, now);
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
        let released = self.connection.run(&call).await;
        self.seen.forget(schedule, seats);
        released
    }

    async fn known(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, FilterHold>> {
        let all = Cmd::hgetall(self.key(schedule));
        let all: HashMap<SeatIndex, String> = self.connection.query(&all).await?;
        let mut known = BTreeMap::new();
        for (seat, text) in all {
            let hold = read(&text).ok_or_else(|| Error::Broken(format!("a hold is `{text}`")))?;
            if now < hold.until {
                known.insert(seat, hold);
            }
        }
        Ok(known)
    }

    async fn correct(
        &self,
        schedule: ScheduleId,
        corrections: &[Correction],
        now: Timestamp,
    ) -> Result<u64> {
        let mut call = self.correct.key(self.key(schedule));
        call.arg(now.ms()).arg(forget_after_ms());
        for Correction { seat, seen, right } in corrections {
            call.arg(*seat).arg(write(*seen)).arg(write(*right));
        }
        self.connection.run(&call).await
    }
}

//! The seat filter on Redis: a hash per schedule, at most one field per seat.

#[path = "seat_filter_seen.rs"]
mod seen;

use self::seen::RedisAnswers;
use crate::live::redis::Connection;
use async_trait::async_trait;
use podo_app::booking::port::seat_filter;
use podo_app::booking::port::seat_filter::{Correction, Taken};
use podo_app::{Error, Result};
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use redis::{Cmd, Script};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// A schedule without changes for this long expires; the database decides anyway.
const FORGET_AFTER: Duration = Duration::from_secs(30 * 24 * 3_600);

pub struct SeatFilter {
    connection: Connection,
    /// Recent answers of Redis, which refuse the losers of a race without a call.
    seen: RedisAnswers,
    take: Script,
    keep: Script,
    release: Script,
    correct: Script,
}

impl SeatFilter {
    pub fn new(connection: Connection) -> SeatFilter {
        SeatFilter {
            connection,
            seen: RedisAnswers::default(),
            take: Script::new(include_str!("seat_filter/take.lua")),
            keep: Script::new(include_str!("seat_filter/keep.lua")),
            release: Script::new(include_str!("seat_filter/release.lua")),
            correct: Script::new(include_str!("seat_filter/correct.lua")),
        }
    }

    fn key(&self, schedule: ScheduleId) -> String {
        self.connection.key(format_args!("{{{}}}:holds", schedule.uuid()))
    }
}

/// A hold as the scripts write it; empty for none.
fn write(hold: Option<FilterHold>) -> String {
    hold.map_or_else(String::new, |hold| format!("{} {}", hold.until.ms(), hold.fan.uuid()))
}

fn read(text: &str) -> Option<FilterHold> {
    let (until, fan) = text.split_once(' ')?;
    let until = Timestamp::from_ms(until.parse().ok()?);
    Some(FilterHold { fan: fan.parse().ok()?, until })
}

fn forget_after_ms() -> u64 {
    u64::try_from(FORGET_AFTER.as_millis()).expect("a month of milliseconds fits")
}

#[async_trait]
impl seat_filter::SeatFilter for SeatFilter {
    fn cached_refusal(
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
            let hold =
                read(&text).ok_or_else(|| Error::Broken(format!("malformed hold `{text}`")))?;
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

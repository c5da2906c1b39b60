//! The store's record of admissions: who was admitted, until when, and how the entry ended.

use crate::error::Result;
use crate::store::Order;
use crate::waiting_room::port::queue::{Admission, Remembered, Survivors};
use async_trait::async_trait;
use podo_domain::waiting_room::{Entry, PlaceNumber};
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::time::Duration;

#[async_trait]
pub trait QueueHistory: Send + Sync {
    /// Records entries; an entry that has ended in the store stays ended.
    async fn record_admissions(
        &self,
        schedule: ScheduleId,
        admissions: Vec<Admission>,
        now: Timestamp,
    ) -> Result<()>;

    async fn record_extension(
        &self,
        schedule: ScheduleId,
        entry: Entry,
        now: Timestamp,
    ) -> Result<()>;

    async fn end_entry(
        &self,
        schedule: ScheduleId,
        number: PlaceNumber,
        reason: &'static str,
        now: Timestamp,
    ) -> Result<()>;

    /// Live entries, to restore into an engine that lost its data.
    async fn live_entries(&self, schedule: ScheduleId, now: Timestamp) -> Result<Vec<Admission>>;

    /// Schedules with live entries.
    async fn schedules_entered(&self, now: Timestamp) -> Result<Vec<ScheduleId>>;

    /// What an engine that may have lost data needs: the live entries, and the ended ones that the
    /// survivors may not know about.
    async fn remembered(
        &self,
        schedule: ScheduleId,
        survivors: Option<Survivors>,
        now: Timestamp,
    ) -> Result<Remembered>;

    /// Marks entries past their time as EXPIRED; returns how many.
    async fn expire_entries(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// A fan's entries stored before this moment and number, newest first.
    async fn places_of(
        &self,
        user: UserId,
        before: HistoryCursor,
        limit: u32,
    ) -> Result<Vec<PlaceRecord>>;

    /// Entries of a schedule, highest number first.
    async fn places_in(&self, asked: Places) -> Result<Vec<PlaceRecord>>;
}

/// Entries stored before this moment, or in it with a smaller number.
#[derive(Clone, Copy, Debug)]
pub struct HistoryCursor {
    pub at: Timestamp,
    pub number: PlaceNumber,
}

impl HistoryCursor {
    /// After every stored entry, even if clocks disagree.
    pub fn newest(now: Timestamp) -> HistoryCursor {
        HistoryCursor { at: now.plus(Duration::from_secs(3_600)), number: 1 << 53 }
    }
}

/// Selects entries of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub schedule: ScheduleId,
    /// Only this fan's entries.
    pub fan: Option<UserId>,
    pub order: Order,
    /// Only numbers beyond this one, in this order.
    pub cursor: Option<PlaceNumber>,
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceRecord {
    pub schedule: ScheduleId,
    pub user: UserId,
    pub number: PlaceNumber,
    pub state: String,
    pub activated_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub extensions_left: u8,
    pub ended_reason: Option<String>,
    /// When the state last changed.
    pub updated_at: Timestamp,
    pub created_at: Timestamp,
}

impl PlaceRecord {
    /// When the entry ended, if it has: by expiry or by the fan's action.
    pub fn ended_at(&self, now: Timestamp) -> Option<Timestamp> {
        match self.ended_reason.as_deref() {
            _ if self.is_inside(now) => None,
            None | Some("TIME_UP") => self.expires_at,
            Some(_) => Some(self.updated_at),
        }
    }

    /// Whether the entry is live according to the store.
    pub fn is_inside(&self, now: Timestamp) -> bool {
        self.state == "ACTIVE" && self.expires_at.is_some_and(|until| now < until)
    }
}

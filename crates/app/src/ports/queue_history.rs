//! What the store remembers of the waiting rooms: who was let in, until when, and how it ended.

use super::queue::{Admission, Remembered, Survivors};
use crate::error::Result;
use async_trait::async_trait;
use domain::queue::{Entry, PlaceNumber};
use domain::{ScheduleId, Timestamp, UserId};

#[async_trait]
pub trait QueueHistory: Send + Sync {
    /// Remembers entries; one that the store has ended stays ended.
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

    /// Entries that are still live, to be given back to an engine that lost its memory.
    async fn live_entries(&self, schedule: ScheduleId, now: Timestamp) -> Result<Vec<Admission>>;

    /// What an engine that may have lost it has to be told: entries that are still live, and those
    /// that are over which the survivors may not know of.
    async fn remembered(
        &self,
        schedule: ScheduleId,
        survivors: Option<Survivors>,
        now: Timestamp,
    ) -> Result<Remembered>;

    /// Turns entries whose time is up to EXPIRED; says how many.
    async fn expire_entries(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// Entries of a fan that were stored before this moment and number, newest first.
    async fn places_of(
        &self,
        user: UserId,
        before: (Timestamp, PlaceNumber),
        limit: u32,
    ) -> Result<Vec<PlaceRecord>>;

    /// Entries of a schedule, the greatest number first.
    async fn places_in(&self, asked: Places) -> Result<Vec<PlaceRecord>>;
}

/// Which entries of a schedule are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub schedule: ScheduleId,
    /// Only this fan's.
    pub fan: Option<UserId>,
    /// Only smaller numbers.
    pub before: Option<PlaceNumber>,
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
    /// When the entry ended, if it has: by its time, or by what the fan did.
    pub fn ended_at(&self, now: Timestamp) -> Option<Timestamp> {
        match self.ended_reason.as_deref() {
            _ if self.is_inside(now) => None,
            None | Some("TIME_UP") => self.expires_at,
            Some(_) => Some(self.updated_at),
        }
    }

    /// Whether the entry is still alive, as far as the store knows.
    pub fn is_inside(&self, now: Timestamp) -> bool {
        self.state == "ACTIVE" && self.expires_at.is_some_and(|until| now < until)
    }
}

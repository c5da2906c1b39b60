//! Announcements to many fans in the store, and what a notification says about a booking.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::issued::Channel;
use podo_domain::messaging::announcements::{AnnouncementKind, ShowPlace};
use podo_domain::{
    AnnouncementId, Currency, EventId, PaymentId, ReservationId, ScheduleId, Timestamp, UserId, Won,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A changed date or venue that a fan has not accepted yet. Until the show begins, the fan can
/// accept it or cancel without a fee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenChange {
    pub id: AnnouncementId,
    pub reservation_id: ReservationId,
    pub schedule_id: ScheduleId,
    pub before: ShowPlace,
    pub after: ShowPlace,
    pub announced_at: Timestamp,
}

/// The details of an announced change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub before: ShowPlace,
    pub after: ShowPlace,
}

/// An announcement whose messages are not all written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAnnouncement {
    pub id: AnnouncementId,
    pub kind: AnnouncementKind,
    pub schedule: ScheduleId,
}

/// The booking or the date that a notification is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Reservation(ReservationId),
    Payment(PaymentId),
    Schedule(ScheduleId),
}

/// A show as notifications, tickets and calendars describe it, with the booking if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShowFacts {
    pub schedule: ScheduleId,
    pub event: EventId,
    pub title: String,
    pub artist: String,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub sale_starts_at: Timestamp,
    pub is_canceled: bool,
    pub venue: String,
    pub hall: String,
    pub address: String,
    pub city: String,
    pub time_zone: String,
    /// Of its amounts.
    pub currency: Currency,
    pub booking: Option<BookingFacts>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookingFacts {
    pub reservation: ReservationId,
    /// The buyer, or the organiser who issued it at the desk.
    pub user: UserId,
    pub channel: Channel,
    /// Absent until it is paid.
    pub number: Option<String>,
    pub amount: Won,
    /// Number and grade of each seat.
    pub seats: Vec<(String, String)>,
}

#[async_trait]
pub trait Announcements: Send + Sync {
    /// What a notification says about each subject, in the given order; `None` for one that
    /// doesn't exist.
    async fn show_facts(&self, subjects: Vec<Subject>) -> Result<Vec<Option<ShowFacts>>>;

    /// The details of an announced change.
    async fn announced_change(&self, announcement: AnnouncementId) -> Result<Option<Moved>>;

    /// Idempotent. Refusals: `NotFound`, `SaleBegun` if the sale is open already.
    async fn ask_for_sale_reminder(
        &self,
        schedule: ScheduleId,
        user: UserId,
        now: Timestamp,
    ) -> Result<()>;

    async fn drop_sale_reminder(&self, schedule: ScheduleId, user: UserId) -> Result<()>;

    /// The dates whose opening the fan wants to be reminded of, at most 100.
    async fn sale_reminders_of(&self, user: UserId) -> Result<Vec<ScheduleId>>;

    /// Reminds the fan of every opening of the event's artist from now on. Idempotent; returns the
    /// artist. Refusals: `NotFound`, also for an event that fans can't see yet.
    async fn follow_artist(&self, event: EventId, user: UserId, now: Timestamp) -> Result<String>;

    /// Idempotent.
    async fn unfollow_artist(&self, artist: String, user: UserId) -> Result<()>;

    /// The artists whom the fan follows, the latest first, at most 100.
    async fn followed_artists(&self, user: UserId) -> Result<Vec<String>>;

    /// How many fans want to be reminded of its dates, or follow its artist.
    async fn interest_in(&self, event: EventId) -> Result<u64>;

    /// Announces the openings and shows that are near. Each is announced once.
    async fn plan_reminders(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// Announcements with fans left, without those that are postponed after a failure.
    async fn open_announcements(&self, now: Timestamp, limit: u32)
    -> Result<Vec<OpenAnnouncement>>;

    /// Writes the messages of the next page of fans; returns how many. Safe on several nodes: the
    /// position advances in the transaction that writes the messages.
    async fn announce_some(
        &self,
        announcement: AnnouncementId,
        limit: u32,
        now: Timestamp,
    ) -> Result<u64>;

    /// The changes that the fan can still accept or decline.
    async fn open_changes(&self, user: UserId, now: Timestamp) -> Result<Vec<OpenChange>>;

    /// Idempotent. Refusals: `NotFound` if the fan has no such booking, or nothing changed.
    async fn accept_change(
        &self,
        reservation: ReservationId,
        user: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// Deletes announcements that were done before this moment, and the wishes for reminders that
    /// they fulfilled.
    async fn forget_announcements(&self, before: Timestamp, limit: u32) -> Result<u64>;
}

//! Organisers' search: reservations, payments, people and notifications, newest first.

use crate::error::Result;
use crate::store::Order;
use async_trait::async_trait;
use podo_domain::booking::issued::Channel;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::identity::Role;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{
    Currency, EventId, PaymentId, ReservationId, ScheduleId, Timestamp, UserId, Won,
};
use serde::Serialize;
use std::collections::BTreeSet;
use utoipa::ToSchema;
use uuid::Uuid;

/// Most rows that one query scans, so that a filter that matches nothing doesn't read everything. A
/// page can therefore be short, or even empty, and still have a successor.
pub const ROWS_LOOKED_AT_MAX: u32 = 5_000;

/// The rows found, and where to continue.
#[derive(Clone, Debug)]
pub struct Found<T> {
    pub rows: Vec<T>,
    /// The last row scanned; absent if there are no more.
    pub next: Option<Uuid>,
}

/// At most `limit` rows beyond `cursor`, created from `from` on and before `to`. Ids begin with
/// their time, so the primary key gives the order and the period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    pub order: Order,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub cursor: Option<Uuid>,
    pub limit: u32,
}

impl Look {
    /// The first rows, newest first.
    pub fn newest(limit: u32) -> Look {
        Look { limit, ..Look::default() }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ReservationSearch {
    pub status: Option<ReservationStatus>,
    pub schedule: Option<ScheduleId>,
    pub user: Option<UserId>,
    pub id: Option<ReservationId>,
    pub booking_number: Option<String>,
    /// Only reservations for these events.
    pub events: Option<BTreeSet<EventId>>,
}

#[derive(Clone, Debug)]
pub struct ReservationRow {
    pub id: ReservationId,
    pub user: UserId,
    pub channel: Channel,
    pub schedule: ScheduleId,
    pub event_title: String,
    pub starts_at: Timestamp,
    /// The venue's.
    pub time_zone: String,
    pub status: ReservationStatus,
    pub seats: Vec<String>,
    pub amount: Won,
    pub currency: Currency,
    /// The types of its seats, in their order; empty for the full price.
    pub ticket_types: Vec<String>,
    pub promotion_code: Option<String>,
    pub fees: Won,
    pub booking_number: Option<String>,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, Default)]
pub struct PaymentSearch {
    pub schedule: Option<ScheduleId>,
    pub status: Option<PaymentStatus>,
    pub user: Option<UserId>,
    pub id: Option<PaymentId>,
    pub reservation: Option<ReservationId>,
    pub booking_number: Option<String>,
    /// Only payments for these events.
    pub events: Option<BTreeSet<EventId>>,
}

/// A payment as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentRow {
    pub id: PaymentId,
    pub reservation_id: ReservationId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_number: Option<String>,
    pub user_id: UserId,
    pub method: PaymentMethod,
    /// What the gateway says was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid_with: Option<PaymentMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    pub status: PaymentStatus,
    pub amount: Won,
    pub currency: Currency,
    pub captured: Won,
    pub refunded: Won,
    pub event_title: String,
    pub starts_at: Timestamp,
    /// Where the venue is.
    pub time_zone: String,
    pub created_at: Timestamp,
}

/// The first of these that is present. Personal fields are encrypted, so people are found by keyed
/// hashes.
#[derive(Clone, Debug, Default)]
pub struct PersonSearch {
    pub id: Option<UserId>,
    pub email_hash: Option<[u8; 32]>,
    pub phone_hash: Option<[u8; 32]>,
    /// Of the first characters of the name.
    pub name_hash: Option<[u8; 32]>,
    /// Of the first characters of the address, or of its domain. With `name_hash`: either.
    pub email_part_hash: Option<[u8; 32]>,
}

#[derive(Clone, Debug)]
pub struct PersonRow {
    pub user: UserId,
    pub email: Vec<u8>,
    pub name: Vec<u8>,
    pub role: Role,
    pub status: String,
    pub created_at: Timestamp,
}

/// A notification in the built-in mailbox. Generated clients know it as `LetterRow`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LetterRow)]
pub struct NotificationRow {
    #[schema(value_type = String, format = Uuid)]
    pub id: Uuid,
    pub user_id: UserId,
    pub channel: String,
    pub subject: String,
    pub body: String,
    pub created_at: Timestamp,
}

#[async_trait]
pub trait AdminSearch: Send + Sync {
    async fn find_reservations(
        &self,
        search: ReservationSearch,
        look: Look,
    ) -> Result<Found<ReservationRow>>;

    async fn find_payments(&self, search: PaymentSearch, look: Look) -> Result<Found<PaymentRow>>;

    async fn find_people(&self, search: PersonSearch, look: Look) -> Result<Found<PersonRow>>;

    /// The event that a payment is for; `None` for wallet charges and unknown ids.
    async fn event_of_payment(&self, payment: PaymentId) -> Result<Option<EventId>>;

    async fn event_of_reservation(&self, reservation: ReservationId) -> Result<Option<EventId>>;

    /// Who booked or paid, by the ids of reservations and payments; other ids are left out.
    async fn owners_of(&self, ids: Vec<Uuid>) -> Result<Vec<(Uuid, UserId)>>;

    async fn all_notifications(&self, look: Look) -> Result<Found<NotificationRow>>;
}

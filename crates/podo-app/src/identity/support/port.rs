//! What support reads and writes in the store.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::tickets::TicketStatus;
use podo_domain::{Currency, NoteId, ReservationId, TicketId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Whose page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupportSubject {
    Person(UserId),
    Booking(ReservationId),
}

/// What happened until this moment, newest first.
#[derive(Clone, Copy, Debug)]
pub struct TimelineQuery {
    pub subject: SupportSubject,
    pub until: Timestamp,
    /// Of each kind.
    pub limit: u32,
}

/// What a line of a timeline is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TimelineKind {
    /// A verification for a sale phase.
    Phase,
    /// An entry to a waiting room: `ADMITTED`, then how it ended.
    Queue,
    /// A place on the standby list.
    Standby,
    /// Holds and bookings.
    Reservation,
    /// An organiser moved the booking to other seats.
    Reseat,
    Payment,
    Refund,
    Ticket,
    /// An offer of a ticket to another person.
    Transfer,
    /// A ticket given back to the standby list, or taken from it.
    Resale,
    /// A new date or venue of a booking, and whether the fan accepted it.
    Change,
    CheckIn,
    /// In the mailbox, or over a channel.
    Notification,
    /// Staff sent the confirmation again.
    Resend,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    pub at: Timestamp,
    pub kind: TimelineKind,
    /// The state that it led to, as the API names it.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Won>,
    /// Of the amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// A seat, a gate, a gateway, a sale phase, moved seats, a reason or the subject of a notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// `MAILBOX`, `EMAIL`, `SMS` or `PUSH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The payment, ticket, schedule or message that it is about.
    #[schema(value_type = String, format = Uuid)]
    pub id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_id: Option<ReservationId>,
    /// The organiser or the API key that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<UserId>,
    /// Their address or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// A note with its encrypted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteRow {
    pub id: NoteId,
    pub user: UserId,
    pub reservation: Option<ReservationId>,
    pub author: UserId,
    pub body: Vec<u8>,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct AddNote {
    pub note: NoteRow,
}

/// A confirmation to send again.
#[derive(Clone, Copy, Debug)]
pub struct Resend {
    pub id: Uuid,
    pub reservation: ReservationId,
    pub actor: UserId,
    pub now: Timestamp,
}

/// A ticket of a booking with its present owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookingTicket {
    pub ticket: TicketId,
    pub user: UserId,
    pub seat_number: String,
    pub grade: String,
    pub status: TicketStatus,
    pub used_at: Option<Timestamp>,
    pub offered_until: Option<Timestamp>,
}

/// An account whose name or address can't be searched for yet. Both are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnindexedName {
    pub user: UserId,
    pub name: Vec<u8>,
    pub email: Vec<u8>,
}

/// The keyed hashes of the prefixes of a name and an address. Skipped if one of them changed
/// meanwhile.
#[derive(Clone, Debug)]
pub struct IndexName {
    pub known: UnindexedName,
    pub hashes: Vec<[u8; 32]>,
}

#[async_trait]
pub trait Support: Send + Sync {
    /// At most `limit` entries of each kind, in no order.
    async fn timeline(&self, asked: TimelineQuery) -> Result<Vec<TimelineEntry>>;

    /// In the order of their seats.
    async fn booking_tickets(&self, reservation: ReservationId) -> Result<Vec<BookingTicket>>;

    async fn add_note(&self, command: AddNote) -> Result<()>;

    /// The newest notes; those about a person include those about their bookings.
    async fn notes_about(&self, subject: SupportSubject, limit: u32) -> Result<Vec<NoteRow>>;

    /// Deletes notes from before this moment; returns how many.
    async fn forget_notes(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Publishes a message that repeats the confirmation. Refusals: `NotFound`, `NotPaid`,
    /// `AlreadyCanceled`, `DeskOrder`, `TooManyRequests`.
    async fn resend_confirmation(&self, command: Resend) -> Result<()>;

    /// Without those in back-off after a failed attempt.
    async fn unindexed_names(&self, now: Timestamp, limit: u32) -> Result<Vec<UnindexedName>>;

    async fn index_names(&self, names: Vec<IndexName>) -> Result<()>;
}

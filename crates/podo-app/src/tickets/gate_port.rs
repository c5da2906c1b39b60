//! Check-ins in the store.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::id::SeatIndex;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::{Gate, ScanVerdict};
use podo_domain::{EventId, HallId, ReservationId, ScheduleId, TicketId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A ticket as the gate sees it.
#[derive(Clone, Debug)]
pub struct GateTicket {
    pub ticket: TicketId,
    pub holder: UserId,
    pub reservation: ReservationId,
    /// The encrypted name of the customer, if the holder is the organiser who issued the ticket.
    pub customer: Option<Vec<u8>>,
    pub schedule: ScheduleId,
    pub seat: SeatIndex,
    pub seat_number: String,
    pub grade: String,
    pub ticket_type: Option<TypeMark>,
    pub booking_number: String,
    pub status: TicketStatus,
    pub used_at: Option<Timestamp>,
    /// Where it was admitted, if it is used; only in lists.
    pub used_gate: Option<String>,
    pub code: Vec<u8>,
    pub changed_at: Timestamp,
}

/// A position in the tickets of a date, in the order of their last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedSince {
    pub at: Timestamp,
    /// Among tickets that changed at the same moment.
    pub ticket: Uuid,
}

#[derive(Clone, Debug)]
pub struct CheckIn {
    /// The id of the record.
    pub id: Uuid,
    /// The staff member at the gate.
    pub actor: UserId,
    pub ticket: TicketId,
    pub code: Vec<u8>,
    pub gate: String,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct UndoCheckIn {
    pub id: Uuid,
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub ticket: TicketId,
    pub gate: String,
    pub reason: String,
    pub now: Timestamp,
}

/// A scan that a device made without a network.
#[derive(Clone, Debug)]
pub struct OfflineScan {
    /// Chosen by the device, so that a repeat has no further effect.
    pub id: Uuid,
    pub ticket: TicketId,
    pub gate: String,
    pub scanned_at: Timestamp,
    /// Takes back an earlier check-in instead of admitting a fan.
    pub undo: Option<OfflineUndo>,
}

#[derive(Clone, Debug)]
pub struct OfflineUndo {
    /// The id of the check-in or scan that it takes back.
    pub check_in: Uuid,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct RecordScan {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub scan: OfflineScan,
    pub now: Timestamp,
}

/// The result of a scan that was sent later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScanResult {
    pub id: Uuid,
    pub ticket_id: TicketId,
    pub verdict: ScanVerdict,
    /// The seat of the ticket now. A device whose list is older may have sent the guest to the seat
    /// that the ticket had before it was moved. Absent for an unknown ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat_number: Option<String>,
    /// When and where another scan admitted the ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_gate: Option<String>,
}

/// Tickets of one grade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradeAttendance {
    pub grade: String,
    pub tickets: u64,
    pub admitted: u64,
}

/// Tickets of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SectionAttendance {
    pub section: String,
    pub tickets: u64,
    pub admitted: u64,
}

/// What one gate did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateAttendance {
    pub gate: String,
    pub admitted: u64,
    pub undone: u64,
    /// Tickets that two devices without a network admitted, unless the second guest was sent back.
    pub doubles: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attendance {
    pub schedule_id: ScheduleId,
    pub tickets: u64,
    pub admitted: u64,
    pub grades: Vec<GradeAttendance>,
    /// In the order of the hall; empty if its seats have no sections.
    pub sections: Vec<SectionAttendance>,
    pub gates: Vec<GateAttendance>,
}

/// A date that a gate may admit now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateShow {
    pub schedule_id: ScheduleId,
    pub event_id: EventId,
    pub event_title: String,
    pub venue_name: String,
    pub hall_name: String,
    pub starts_at: Timestamp,
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    pub ends_at: Timestamp,
    pub gates: Vec<Gate>,
}

#[derive(Clone, Debug)]
pub struct SetGates {
    pub actor: UserId,
    pub hall: HallId,
    pub gates: Vec<Gate>,
    pub now: Timestamp,
}

#[async_trait]
pub trait Gates: Send + Sync {
    /// Dates that start within this time, the first one first; canceled ones are left out.
    async fn shows_between(&self, from: Timestamp, to: Timestamp) -> Result<Vec<GateShow>>;

    /// The gates of the date's hall.
    async fn gates_of(&self, schedule: ScheduleId) -> Result<Vec<Gate>>;

    async fn gates_of_hall(&self, hall: HallId) -> Result<Option<Vec<Gate>>>;

    /// Replaces the gates of a hall.
    async fn set_gates(&self, command: SetGates) -> Result<()>;

    async fn ticket_at_gate(&self, ticket: TicketId) -> Result<Option<GateTicket>>;

    /// Marks a ticket as used, once, however often it's presented. Refusals: `TicketInvalid`,
    /// `TicketUsed`, `TicketVoid`, `KeyReused`. A repeat with the same id has no further effect.
    async fn check_in(&self, command: CheckIn) -> Result<()>;

    /// Makes a used ticket valid again. Refusals: `NotFound`, `TicketNotUsed`.
    async fn undo_check_in(&self, command: UndoCheckIn) -> Result<()>;

    /// Applies a scan that was made offline.
    async fn record_scan(&self, command: RecordScan) -> Result<ScanResult>;

    /// Tickets of a date in the order of their last change, after this position; void ones too.
    async fn gate_tickets(
        &self,
        schedule: ScheduleId,
        since: ChangedSince,
        limit: u32,
    ) -> Result<Vec<GateTicket>>;

    /// How many tickets of a date aren't void.
    async fn count_gate_tickets(&self, schedule: ScheduleId) -> Result<u64>;

    /// The counts of a date, without those by section.
    async fn attendance(&self, schedule: ScheduleId) -> Result<Attendance>;

    /// The seats of the tickets that aren't void, with whether their guest was admitted.
    async fn seats_at_gate(&self, schedule: ScheduleId) -> Result<Vec<(SeatIndex, bool)>>;
}

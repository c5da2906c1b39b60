//! Check-ins in the store.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::id::SeatIndex;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::{Gate, ScanVerdict};
use podo_domain::{EventId, HallId, ScheduleId, TicketId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A ticket as the gate sees it.
#[derive(Clone, Debug)]
pub struct GateTicket {
    pub ticket: TicketId,
    pub holder: UserId,
    pub schedule: ScheduleId,
    pub seat: SeatIndex,
    pub seat_number: String,
    pub grade: String,
    pub ticket_type: Option<TypeMark>,
    pub booking_number: String,
    pub status: TicketStatus,
    pub used_at: Option<Timestamp>,
    pub code: Vec<u8>,
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

/// What one gate did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateAttendance {
    pub gate: String,
    pub admitted: u64,
    pub undone: u64,
    /// Tickets that two devices without a network admitted.
    pub doubles: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attendance {
    pub schedule_id: ScheduleId,
    pub tickets: u64,
    pub admitted: u64,
    pub grades: Vec<GradeAttendance>,
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

    /// Replaces the gates of a hall.
    async fn set_gates(&self, command: SetGates) -> Result<()>;

    async fn ticket_at_gate(&self, ticket: TicketId) -> Result<Option<GateTicket>>;

    /// Marks a ticket as used, once, however often it's presented. Refusals: `TicketInvalid`,
    /// `TicketUsed`, `TicketVoid`.
    async fn check_in(&self, command: CheckIn) -> Result<()>;

    /// Makes a used ticket valid again. Refusals: `NotFound`, `TicketNotUsed`.
    async fn undo_check_in(&self, command: UndoCheckIn) -> Result<()>;

    /// Applies a scan that was made offline.
    async fn record_scan(&self, command: RecordScan) -> Result<ScanResult>;

    /// Tickets of a date that aren't void, after an id.
    async fn gate_tickets(
        &self,
        schedule: ScheduleId,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<GateTicket>>;

    async fn attendance(&self, schedule: ScheduleId) -> Result<Attendance>;
}

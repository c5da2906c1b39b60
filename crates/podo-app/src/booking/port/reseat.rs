//! Moves a booking to other seats, in the store.

use crate::booking::port::reservations::ReservedSeat;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use async_trait::async_trait;
use podo_domain::booking::reservations::SeatMove;
use podo_domain::id::SeatIndex;
use podo_domain::{ReservationId, ScheduleId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// Moves seats of a confirmed booking to free ones, all or none.
#[derive(Clone, Debug)]
pub struct ReseatBooking {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub reservation: ReservationId,
    pub moves: Vec<SeatMove>,
    /// Seats of another price are fine: the fan neither pays the difference nor gets it back.
    pub waives_difference: bool,
    pub reason: String,
    pub now: Timestamp,
}

/// A booking with its new seats. Its number is the same; the moved tickets have new codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reseated {
    pub reservation_id: ReservationId,
    pub booking_number: String,
    /// All seats of the booking now.
    pub seats: Vec<ReservedSeat>,
}

impl IdempotentAnswer for Reseated {
    const STATUS: u16 = 200;
}

/// The update that the live engines get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatsMoved {
    pub user: UserId,
    pub schedule: ScheduleId,
    pub from: Vec<SeatIndex>,
    pub to: Vec<SeatIndex>,
}

#[async_trait]
pub trait Reseats: Send + Sync {
    /// Refusals: `NotFound`, `NoSeats`, `TooManySeats`, `SeatRepeated`, `ForeignSeat`, `NotPaid`,
    /// `AlreadyCanceled`, `PaymentRunning`, `ScheduleCanceled`, `TicketUsed`, `TicketVoid`,
    /// `SeatTaken`, `ReseatOtherPrice`, `KeyReused`.
    async fn reseat_booking(
        &self,
        command: ReseatBooking,
    ) -> Result<Idempotent<(Reseated, SeatsMoved)>>;
}

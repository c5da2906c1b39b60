//! The booking worker counts sales by date and grade, so that statistics needn't count seats.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::port::messages::Message;
use crate::messaging::workers::Worker;
use crate::payments::port::sales::{Booked, GradeShare};
use async_trait::async_trait;
use podo_domain::messaging::messages::{MessageKind, Topic};
use podo_domain::{ReservationId, ScheduleId};
use serde::Deserialize;

pub struct Booking;

/// What the worker needs of a message's data.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SoldSeats {
    reservation_id: ReservationId,
    event_schedule_id: ScheduleId,
    grades: Vec<GradeShare>,
}

#[async_trait]
impl Worker for Booking {
    fn name(&self) -> &'static str {
        "booking"
    }

    fn topics(&self) -> &'static [Topic] {
        &[Topic::BookingCompleted, Topic::SeatSync]
    }

    fn wants(&self, kind: MessageKind) -> bool {
        has_seats(kind).is_some()
    }

    async fn consume(&self, context: &AppContext, messages: &[Message]) -> Result<()> {
        let booked: Result<Vec<Booked>> = messages.iter().map(booked).collect();
        context.store.count_booked(self.name(), booked?, context.now()).await?;
        Ok(())
    }
}

/// Whether a paid reservation has seats after this message; `None` for other messages.
fn has_seats(kind: MessageKind) -> Option<bool> {
    match kind {
        MessageKind::ReservationConfirmed
        | MessageKind::ReservationReduced
        | MessageKind::ReservationReseated => Some(true),
        MessageKind::ReservationCanceled => Some(false),
        MessageKind::UserSignedUp
        | MessageKind::SignUpAsked
        | MessageKind::SessionCopied
        | MessageKind::SecurityChanged
        | MessageKind::ReservationHeld
        | MessageKind::ReservationExtended
        | MessageKind::ReservationPriced
        | MessageKind::ReservationPaying
        | MessageKind::ReservationDeclined
        | MessageKind::ReservationReleased
        | MessageKind::ReservationExpired
        | MessageKind::RefundDue
        | MessageKind::PaymentRefunded
        | MessageKind::DepositAwaited
        | MessageKind::DepositReminder
        | MessageKind::DepositMissed
        | MessageKind::RefundAccountNeeded
        | MessageKind::ScheduleOpened
        | MessageKind::StandbyOffered
        | MessageKind::ReservationMoved
        | MessageKind::SaleReminder
        | MessageKind::ShowReminder
        | MessageKind::TicketOffered
        | MessageKind::TicketTransferred
        | MessageKind::ConfirmationResent
        | MessageKind::ResaleOffered
        | MessageKind::PhaseVerified
        | MessageKind::DrawApplied
        | MessageKind::DrawWon
        | MessageKind::DrawLost
        | MessageKind::CatalogChanged
        | MessageKind::DeadLettered => None,
    }
}

fn booked(message: &Message) -> Result<Booked> {
    let facts: SoldSeats = serde_json::from_str(&message.payload).map_err(Error::broken)?;
    let has_seats = has_seats(message.kind).unwrap_or(false);
    Ok(Booked {
        message: message.id,
        reservation: facts.reservation_id,
        schedule: facts.event_schedule_id,
        seq: message.seq,
        shares: if has_seats { facts.grades } else { Vec::new() },
    })
}

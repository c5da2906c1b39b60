//! The booking worker: counts sales by date and grade, so that nobody has to count seats.

use super::Worker;
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::messages::Message;
use crate::ports::sales::{Booked, GradeShare};
use async_trait::async_trait;
use domain::messages::{MessageKind, Topic};
use domain::{ReservationId, ScheduleId};
use serde::Deserialize;

pub struct Booking;

/// What the worker needs of a message's data.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
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

    async fn consume(&self, platform: &Platform, messages: &[Message]) -> Result<()> {
        let booked: Result<Vec<Booked>> =
            messages.iter().filter_map(|message| booked(message).transpose()).collect();
        let booked = booked?;
        if booked.is_empty() {
            return Ok(());
        }
        platform.store.count_booked(self.name(), booked, platform.now()).await?;
        Ok(())
    }
}

/// What a paid reservation has now; nothing for messages about others.
fn booked(message: &Message) -> Result<Option<Booked>> {
    let has_seats = match message.kind {
        MessageKind::ReservationConfirmed | MessageKind::ReservationReduced => true,
        MessageKind::ReservationCanceled => false,
        MessageKind::UserSignedUp
        | MessageKind::ReservationHeld
        | MessageKind::ReservationExtended
        | MessageKind::ReservationPaying
        | MessageKind::ReservationDeclined
        | MessageKind::ReservationReleased
        | MessageKind::ReservationExpired
        | MessageKind::RefundDue
        | MessageKind::PaymentRefunded
        | MessageKind::ScheduleOpened
        | MessageKind::StandbyOffered
        | MessageKind::DeadLettered => return Ok(None),
    };
    let facts: Facts = serde_json::from_str(&message.payload).map_err(Error::broken)?;
    Ok(Some(Booked {
        message: message.id,
        reservation: facts.reservation_id,
        schedule: facts.event_schedule_id,
        seq: message.seq,
        shares: if has_seats { facts.grades } else { Vec::new() },
    }))
}

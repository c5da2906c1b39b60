//! What every node does when it hears of a change: it forgets what it kept of it.

use crate::messages::open;
use crate::platform::Platform;
use crate::ports::bus::Parcel;
use domain::ScheduleId;
use domain::messages::MessageKind;

/// Forgets what these messages made old. Nothing rests on it alone: all that is kept is asked for
/// again after a while anyway, so a message that cannot be read is none of our business here.
pub fn hear(platform: &Platform, parcels: &[Parcel]) {
    for message in parcels.iter().filter_map(|parcel| open(parcel).ok()) {
        match message.kind {
            MessageKind::ScheduleOpened => {
                platform.schedules.forget(ScheduleId::new(message.key));
                platform.shelf.clear();
            }
            MessageKind::UserSignedUp
            | MessageKind::SignUpAsked
            | MessageKind::SessionCopied
            | MessageKind::ReservationHeld
            | MessageKind::ReservationExtended
            | MessageKind::ReservationPaying
            | MessageKind::ReservationDeclined
            | MessageKind::ReservationConfirmed
            | MessageKind::ReservationReleased
            | MessageKind::ReservationExpired
            | MessageKind::ReservationCanceled
            | MessageKind::ReservationReduced
            | MessageKind::RefundDue
            | MessageKind::PaymentRefunded
            | MessageKind::StandbyOffered
            | MessageKind::DeadLettered => {}
        }
    }
}

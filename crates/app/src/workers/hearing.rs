//! What every node does when it hears of a change: it forgets what it kept of it.

use crate::jobs::Round;
use crate::messages::{kind_of, open};
use crate::platform::Platform;
use crate::ports::bus::Parcel;
use domain::id::SeatIndex;
use domain::messages::{MessageKind, Topic};
use domain::{ScheduleId, SeatId};
use serde::Deserialize;
use uuid::Uuid;

/// What a node has to hear of. Others change seats and the catalog; it hears of that from the live
/// engine first, and from these when that had forgotten or was away.
pub const HEARD: [Topic; 2] = [Topic::BookingCompleted, Topic::SeatSync];

/// Under this name the messages that a node heard are counted.
pub const EAR: &str = "ear";

/// What a message says of seats.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    seat_ids: Vec<SeatId>,
}

/// Forgets what these messages made old. Nothing rests on it alone: all that is kept is asked for
/// again after a while anyway, so a message that cannot be read is none of our business here.
pub fn hear(platform: &Platform, parcels: &[Parcel]) {
    let is_catalog = |parcel: &Parcel| kind(parcel) == Some(MessageKind::CatalogChanged);
    if parcels.iter().any(is_catalog) {
        platform.schedules.forget_all();
        platform.shelf.clear();
    }
    for parcel in parcels {
        // A sale tells of thousands of seats; most nodes look at few of the halls.
        let Some(schedule) = parcel.key.parse::<Uuid>().ok().map(ScheduleId::new) else { continue };
        if platform.seat_maps.has(schedule) {
            platform.seat_maps.doubt(schedule, seats_of(parcel, schedule));
        }
    }
    let done = parcels.len() as u64;
    platform.worker_tallies.add(EAR, Round { done, ..Round::default() });
}

/// Old brokers carry no headers: then the parcel is opened.
fn kind(parcel: &Parcel) -> Option<MessageKind> {
    kind_of(parcel).or_else(|| Some(open(parcel).ok()?.kind))
}

/// The seats that changed; nothing when the message does not name all of them.
fn seats_of(parcel: &Parcel, schedule: ScheduleId) -> Option<Vec<SeatIndex>> {
    let message = open(parcel).ok()?;
    // It names those that are left.
    if message.kind == MessageKind::ReservationReduced {
        return None;
    }
    let facts: Facts = serde_json::from_str(&message.payload).ok()?;
    let seats = facts.seat_ids.into_iter().filter(|it| it.schedule() == schedule);
    Some(seats.map(SeatId::index).collect()).filter(|seats: &Vec<SeatIndex>| !seats.is_empty())
}

//! The cache invalidator: every node drops cached data when a message reports a change.

use crate::context::AppContext;
use crate::messaging::envelope::{decode, kind_of};
use crate::messaging::port::bus::Envelope;
use crate::operations::jobs::Round;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::{MessageKind, Topic};
use podo_domain::{ScheduleId, SeatId};
use serde::Deserialize;
use uuid::Uuid;

/// The topics that invalidate caches. A node normally learns about other nodes' changes from the
/// live engine; these messages cover the case that the engine forgot them or was unavailable.
pub const INVALIDATING: [Topic; 2] = [Topic::BookingCompleted, Topic::SeatSync];

/// The name under which invalidation messages are counted in metrics. It isn't a consumer group:
/// every node reads from the end of each partition without a group, so no stored offset depends on
/// the name.
pub const CACHE_INVALIDATOR: &str = "cache-invalidator";

/// What a message says about seats.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangedSeats {
    seat_ids: Vec<SeatId>,
}

/// Invalidates what these messages changed. Every cache also has a TTL, so an unreadable message
/// can be ignored here.
pub fn invalidate_caches(context: &AppContext, envelopes: &[Envelope]) {
    let is_catalog = |envelope: &Envelope| kind(envelope) == Some(MessageKind::CatalogChanged);
    if envelopes.iter().any(is_catalog) {
        context.catalog.schedules.forget_all();
        context.catalog.cache.clear();
    }
    for envelope in envelopes {
        // A sale names thousands of seats, but a node caches only a few of the halls.
        let Some(schedule) = envelope.key.parse::<Uuid>().ok().map(ScheduleId::new) else {
            continue;
        };
        if context.booking.seat_maps.has(schedule) {
            context.booking.seat_maps.invalidate(schedule, seats_of(envelope, schedule));
        }
    }
    let done = envelopes.len() as u64;
    context.messaging.worker_rounds.add(CACHE_INVALIDATOR, Round { done, ..Round::default() });
}

/// Old brokers carry no headers; then the envelope is decoded.
fn kind(envelope: &Envelope) -> Option<MessageKind> {
    kind_of(envelope).or_else(|| Some(decode(envelope).ok()?.kind))
}

/// The changed seats; `None` if the message doesn't name all of them.
fn seats_of(envelope: &Envelope, schedule: ScheduleId) -> Option<Vec<SeatIndex>> {
    let message = decode(envelope).ok()?;
    // These messages name the remaining seats.
    let names_rest =
        matches!(message.kind, MessageKind::ReservationReduced | MessageKind::ReservationReseated);
    if names_rest {
        return None;
    }
    let facts: ChangedSeats = serde_json::from_str(&message.payload).ok()?;
    let seats = facts.seat_ids.into_iter().filter(|it| it.schedule() == schedule);
    Some(seats.map(SeatId::index).collect()).filter(|seats: &Vec<SeatIndex>| !seats.is_empty())
}

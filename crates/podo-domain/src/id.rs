//! Ids: one type per noun, so that a seat can't be passed for a schedule.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that the caller created (version 7, so that ids sort by age).
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// The creation time, which is the prefix of a version 7 UUID.
            pub fn made_at(self) -> crate::Timestamp {
                let ms = self.0.as_u128() >> 80;
                crate::Timestamp::from_ms(i64::try_from(ms).unwrap_or(0))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                Uuid::from_str(text).map(Self)
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
                    .into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}
    )*};
}

ids! {
    /// A person with an account.
    UserId
    /// One log-in on one device; the family of its refresh tokens.
    SessionId
    /// One attempt to log in.
    LoginId
    /// A key with which a program calls the organisers' API.
    ApiKeyId
    VenueId
    HallId
    EventId
    /// One date of an event. Its last three bytes are zero: see [`SeatId`].
    ScheduleId
    /// One seat of one schedule: the schedule's id with the seat's index in the layout in the last
    /// three bytes. So a seat id names its schedule, and no index over seat ids is needed.
    SeatId
    /// One sale phase of a schedule: the schedule's id with the phase's number in the last three
    /// bytes. The phase's waiting room has the same id, so no place or entry of another phase fits.
    PhaseId
    ReservationId
    /// A group of seats that an organiser keeps from sale.
    AllocationId
    /// A promotion code of a date.
    PromotionId
    /// One fan's entry in the standby list of a schedule; sorts by age.
    StandbyId
    PaymentId
    RefundId
    /// A ticket that its buyer gives back at the price paid.
    ResaleId
    /// A bot signal.
    SignalId
    LedgerId
    TicketId
    MessageId
    /// A message that a worker or the relay gave up.
    DeadLetterId
    /// An organiser's webhook endpoint.
    EndpointId
    /// One message to one webhook endpoint.
    DeliveryId
    /// A phone or browser that receives push notifications.
    DeviceId
    /// A change of a date or venue, or a reminder, that goes to many fans.
    AnnouncementId
    /// A link with which a ticket is claimed.
    ClaimId
    /// A note by staff about a person or a booking.
    NoteId
    /// One upload of a member list.
    ImportId
    /// One process of the platform, from its start to its end.
    NodeId
}

/// Most seats of a schedule: three bytes of a seat id.
pub const SEATS_PER_SCHEDULE_MAX: u32 = 1 << 24;

const SEAT_BITS: u128 = (SEATS_PER_SCHEDULE_MAX - 1) as u128;

impl ScheduleId {
    /// Clears the last three bytes, which hold the seat's index.
    pub const fn with_room_for_seats(uuid: Uuid) -> ScheduleId {
        ScheduleId(Uuid::from_u128(uuid.as_u128() & !SEAT_BITS))
    }

    /// The seat at `index` of this schedule's layout.
    pub const fn seat(self, index: SeatIndex) -> SeatId {
        assert!(index < SEATS_PER_SCHEDULE_MAX);
        SeatId(Uuid::from_u128((self.0.as_u128() & !SEAT_BITS) | index as u128))
    }
}

impl ScheduleId {
    /// The phase of this number, from 1.
    pub const fn phase(self, number: u32) -> PhaseId {
        assert!(0 < number && number < SEATS_PER_SCHEDULE_MAX);
        PhaseId(Uuid::from_u128((self.0.as_u128() & !SEAT_BITS) | number as u128))
    }

    /// The schedule that a waiting room belongs to. A schedule without phases has one room, which
    /// has the schedule's own id; each phase has its own ([`PhaseId::room`]).
    pub const fn date(self) -> ScheduleId {
        ScheduleId::with_room_for_seats(self.0)
    }
}

impl PhaseId {
    pub const fn schedule(self) -> ScheduleId {
        ScheduleId::with_room_for_seats(self.0)
    }

    pub const fn number(self) -> u32 {
        (self.0.as_u128() & SEAT_BITS) as u32
    }

    /// The id of its waiting room, for the engines and the history of admissions.
    pub const fn room(self) -> ScheduleId {
        ScheduleId(self.0)
    }
}

/// A seat's index in its schedule's layout, from 0.
pub type SeatIndex = u32;

impl SeatId {
    pub const fn schedule(self) -> ScheduleId {
        ScheduleId(Uuid::from_u128(self.0.as_u128() & !SEAT_BITS))
    }

    pub const fn index(self) -> SeatIndex {
        (self.0.as_u128() & SEAT_BITS) as SeatIndex
    }
}

impl PaymentId {
    /// Our order id at every gateway: 32 hex digits satisfy all their character rules.
    pub fn order_id(self) -> String {
        self.0.simple().to_string()
    }

    pub fn from_order_id(text: &str) -> Option<PaymentId> {
        if text.len() != 32 {
            return None;
        }
        Uuid::try_parse(text).ok().map(PaymentId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_id_names_its_schedule_and_its_place() {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(u128::MAX));
        for index in [0, 1, 49_999, SEATS_PER_SCHEDULE_MAX - 1] {
            let seat = schedule.seat(index);
            assert_eq!((seat.schedule(), seat.index()), (schedule, index));
        }
    }

    #[test]
    fn seats_of_two_schedules_are_never_the_same() {
        let one = ScheduleId::with_room_for_seats(Uuid::from_u128(7 << 64));
        let two = ScheduleId::with_room_for_seats(Uuid::from_u128(8 << 64));
        assert_ne!(one.seat(5), two.seat(5));
    }

    #[test]
    fn a_phase_id_names_its_schedule_and_its_room() {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(7 << 64));
        let (first, second) = (schedule.phase(1), schedule.phase(2));
        assert_eq!((first.schedule(), first.number()), (schedule, 1));
        assert_ne!(first.room(), second.room());
        assert_ne!(first.room(), schedule, "a schedule without phases has a room of its own");
        assert_eq!([first.room().date(), schedule.date()], [schedule; 2]);
    }

    #[test]
    fn an_order_id_leads_back_to_its_payment() {
        let payment = PaymentId::new(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001));
        let order = payment.order_id();
        assert!(order.len() == 32 && order.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(PaymentId::from_order_id(&order), Some(payment));
        assert_eq!(PaymentId::from_order_id("no"), None);
    }
}

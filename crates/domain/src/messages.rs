//! Messages: what Podo tells the rest of the world. Written in the transaction that makes them
//! true, numbered per aggregate, published at least once.

use serde::{Deserialize, Serialize};

/// What happened. The name is the `type` of the published message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageKind {
    UserSignedUp,
    ReservationHeld,
    ReservationExtended,
    ReservationPaying,
    ReservationDeclined,
    ReservationConfirmed,
    ReservationReleased,
    ReservationExpired,
    ReservationCanceled,
    /// Some of its seats were given back.
    ReservationReduced,
    RefundDue,
    PaymentRefunded,
    ScheduleOpened,
    StandbyOffered,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    BookingCompleted,
    Notification,
    SeatSync,
}

impl Topic {
    pub const ALL: [Topic; 3] = [Topic::BookingCompleted, Topic::Notification, Topic::SeatSync];

    pub const fn as_str(self) -> &'static str {
        match self {
            Topic::BookingCompleted => "booking-completed",
            Topic::Notification => "notification",
            Topic::SeatSync => "seat-sync",
        }
    }

    pub fn parse(text: &str) -> Option<Topic> {
        Topic::ALL.into_iter().find(|topic| topic.as_str() == text)
    }
}

impl MessageKind {
    pub const ALL: [MessageKind; 14] = [
        MessageKind::UserSignedUp,
        MessageKind::ReservationHeld,
        MessageKind::ReservationExtended,
        MessageKind::ReservationPaying,
        MessageKind::ReservationDeclined,
        MessageKind::ReservationConfirmed,
        MessageKind::ReservationReleased,
        MessageKind::ReservationExpired,
        MessageKind::ReservationCanceled,
        MessageKind::ReservationReduced,
        MessageKind::RefundDue,
        MessageKind::PaymentRefunded,
        MessageKind::ScheduleOpened,
        MessageKind::StandbyOffered,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            MessageKind::UserSignedUp => "UserSignedUp",
            MessageKind::ReservationHeld => "ReservationHeld",
            MessageKind::ReservationExtended => "ReservationExtended",
            MessageKind::ReservationPaying => "ReservationPaying",
            MessageKind::ReservationDeclined => "ReservationDeclined",
            MessageKind::ReservationConfirmed => "ReservationConfirmed",
            MessageKind::ReservationReleased => "ReservationReleased",
            MessageKind::ReservationExpired => "ReservationExpired",
            MessageKind::ReservationCanceled => "ReservationCanceled",
            MessageKind::ReservationReduced => "ReservationReduced",
            MessageKind::RefundDue => "RefundDue",
            MessageKind::PaymentRefunded => "PaymentRefunded",
            MessageKind::ScheduleOpened => "ScheduleOpened",
            MessageKind::StandbyOffered => "StandbyOffered",
        }
    }

    pub fn parse(text: &str) -> Option<MessageKind> {
        MessageKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    pub const fn topic(self) -> Topic {
        match self {
            MessageKind::ReservationConfirmed => Topic::BookingCompleted,
            MessageKind::UserSignedUp
            | MessageKind::RefundDue
            | MessageKind::PaymentRefunded
            | MessageKind::ScheduleOpened
            | MessageKind::StandbyOffered => Topic::Notification,
            MessageKind::ReservationHeld
            | MessageKind::ReservationExtended
            | MessageKind::ReservationPaying
            | MessageKind::ReservationDeclined
            | MessageKind::ReservationReleased
            | MessageKind::ReservationExpired
            | MessageKind::ReservationCanceled
            | MessageKind::ReservationReduced => Topic::SeatSync,
        }
    }
}

/// After this many failed deliveries a message is dead: set aside, alerted, never hidden.
pub const ATTEMPTS_MAX: u32 = 12;

/// How long to wait before the next try: doubling from 200 ms, at most a minute.
pub fn retry_delay_ms(attempts: u32) -> i64 {
    let doubled = 200_i64.saturating_mul(1_i64 << attempts.min(20));
    doubled.min(60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_message() {
        for kind in MessageKind::ALL {
            assert_eq!(MessageKind::parse(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn retries_slow_down_to_a_minute() {
        assert_eq!(retry_delay_ms(0), 200);
        assert_eq!(retry_delay_ms(3), 1_600);
        assert_eq!(retry_delay_ms(u32::MAX), 60_000);
    }
}

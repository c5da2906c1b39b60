//! Messages that Podo publishes. They are written in the transaction that makes them true, numbered
//! per aggregate, and published at least once.

use serde::{Deserialize, Serialize};

/// What happened. The name is the `type` of the published message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageKind {
    UserSignedUp,
    /// A sign-up was requested, and its address has to be proved.
    SignUpAsked,
    /// A copy of a refresh token was used; the session was ended.
    SessionCopied,
    /// The password, the second factor or another credential of an account changed.
    SecurityChanged,
    ReservationHeld,
    ReservationExtended,
    /// Ticket types or a promotion code were chosen, and the amount changed.
    ReservationPriced,
    ReservationPaying,
    ReservationDeclined,
    ReservationConfirmed,
    ReservationReleased,
    ReservationExpired,
    ReservationCanceled,
    /// Some of its seats were canceled.
    ReservationReduced,
    RefundDue,
    PaymentRefunded,
    /// A virtual account was issued; the fan has to pay to it until its deadline.
    DepositAwaited,
    /// Its deadline is near.
    DepositReminder,
    /// The deposit didn't come in time, and the seats were freed.
    DepositMissed,
    /// A refund of a deposit needs a bank account.
    RefundAccountNeeded,
    ScheduleOpened,
    StandbyOffered,
    /// An organiser moved it to other seats; its tickets have new codes.
    ReservationReseated,
    /// The date or the venue of a booking changed; the fan may accept it or get everything back.
    ReservationMoved,
    /// A sale opens soon, and the fan asked to be reminded.
    SaleReminder,
    /// The show of a booking is tomorrow.
    ShowReminder,
    /// A ticket was offered to an address.
    TicketOffered,
    /// A ticket has a new owner.
    TicketTransferred,
    /// Staff sent the confirmation of a booking again.
    ConfirmationResent,
    /// A ticket that its buyer gives back is offered to a fan on the standby list.
    ResaleOffered,
    /// A fan proved, before a sale phase opens, that they may buy in it.
    PhaseVerified,
    /// A fan applied for a draw, or changed the application.
    DrawApplied,
    /// Seats are held for a fan whose application was drawn.
    DrawWon,
    /// The quantity didn't reach a fan's application.
    DrawLost,
    /// An organiser created, changed or removed something public.
    CatalogChanged,
    /// A worker gave up on a message.
    DeadLettered,
}

/// The topic of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    BookingCompleted,
    Notification,
    SeatSync,
    /// Dead letters, for external monitoring.
    DeadLetter,
}

impl Topic {
    pub const ALL: [Topic; 4] =
        [Topic::BookingCompleted, Topic::Notification, Topic::SeatSync, Topic::DeadLetter];

    pub const fn as_str(self) -> &'static str {
        match self {
            Topic::BookingCompleted => "booking-completed",
            Topic::Notification => "notification",
            Topic::SeatSync => "seat-sync",
            Topic::DeadLetter => "dead-letter",
        }
    }

    pub fn parse(text: &str) -> Option<Topic> {
        Topic::ALL.into_iter().find(|topic| topic.as_str() == text)
    }
}

impl MessageKind {
    pub const ALL: [MessageKind; 36] = [
        MessageKind::UserSignedUp,
        MessageKind::SignUpAsked,
        MessageKind::SessionCopied,
        MessageKind::SecurityChanged,
        MessageKind::ReservationHeld,
        MessageKind::ReservationExtended,
        MessageKind::ReservationPriced,
        MessageKind::ReservationPaying,
        MessageKind::ReservationDeclined,
        MessageKind::ReservationConfirmed,
        MessageKind::ReservationReleased,
        MessageKind::ReservationExpired,
        MessageKind::ReservationCanceled,
        MessageKind::ReservationReduced,
        MessageKind::RefundDue,
        MessageKind::PaymentRefunded,
        MessageKind::DepositAwaited,
        MessageKind::DepositReminder,
        MessageKind::DepositMissed,
        MessageKind::RefundAccountNeeded,
        MessageKind::ScheduleOpened,
        MessageKind::StandbyOffered,
        MessageKind::ReservationReseated,
        MessageKind::ReservationMoved,
        MessageKind::SaleReminder,
        MessageKind::ShowReminder,
        MessageKind::TicketOffered,
        MessageKind::TicketTransferred,
        MessageKind::ConfirmationResent,
        MessageKind::ResaleOffered,
        MessageKind::PhaseVerified,
        MessageKind::DrawApplied,
        MessageKind::DrawWon,
        MessageKind::DrawLost,
        MessageKind::CatalogChanged,
        MessageKind::DeadLettered,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            MessageKind::UserSignedUp => "UserSignedUp",
            MessageKind::SignUpAsked => "SignUpAsked",
            MessageKind::SessionCopied => "SessionCopied",
            MessageKind::SecurityChanged => "SecurityChanged",
            MessageKind::ReservationHeld => "ReservationHeld",
            MessageKind::ReservationExtended => "ReservationExtended",
            MessageKind::ReservationPriced => "ReservationPriced",
            MessageKind::ReservationPaying => "ReservationPaying",
            MessageKind::ReservationDeclined => "ReservationDeclined",
            MessageKind::ReservationConfirmed => "ReservationConfirmed",
            MessageKind::ReservationReleased => "ReservationReleased",
            MessageKind::ReservationExpired => "ReservationExpired",
            MessageKind::ReservationCanceled => "ReservationCanceled",
            MessageKind::ReservationReduced => "ReservationReduced",
            MessageKind::RefundDue => "RefundDue",
            MessageKind::PaymentRefunded => "PaymentRefunded",
            MessageKind::DepositAwaited => "DepositAwaited",
            MessageKind::DepositReminder => "DepositReminder",
            MessageKind::DepositMissed => "DepositMissed",
            MessageKind::RefundAccountNeeded => "RefundAccountNeeded",
            MessageKind::ScheduleOpened => "ScheduleOpened",
            MessageKind::StandbyOffered => "StandbyOffered",
            MessageKind::ReservationReseated => "ReservationReseated",
            MessageKind::ReservationMoved => "ReservationMoved",
            MessageKind::SaleReminder => "SaleReminder",
            MessageKind::ShowReminder => "ShowReminder",
            MessageKind::TicketOffered => "TicketOffered",
            MessageKind::TicketTransferred => "TicketTransferred",
            MessageKind::ConfirmationResent => "ConfirmationResent",
            MessageKind::ResaleOffered => "ResaleOffered",
            MessageKind::PhaseVerified => "PhaseVerified",
            MessageKind::DrawApplied => "DrawApplied",
            MessageKind::DrawWon => "DrawWon",
            MessageKind::DrawLost => "DrawLost",
            MessageKind::CatalogChanged => "CatalogChanged",
            MessageKind::DeadLettered => "DeadLettered",
        }
    }

    pub fn parse(text: &str) -> Option<MessageKind> {
        MessageKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    pub const fn topic(self) -> Topic {
        match self {
            MessageKind::ReservationConfirmed => Topic::BookingCompleted,
            MessageKind::UserSignedUp
            | MessageKind::SignUpAsked
            | MessageKind::SessionCopied
            | MessageKind::SecurityChanged
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
            | MessageKind::DrawLost => Topic::Notification,
            MessageKind::ReservationHeld
            | MessageKind::ReservationExtended
            | MessageKind::ReservationPriced
            | MessageKind::ReservationPaying
            | MessageKind::ReservationDeclined
            | MessageKind::ReservationReleased
            | MessageKind::ReservationExpired
            | MessageKind::ReservationCanceled
            | MessageKind::ReservationReduced
            | MessageKind::ReservationReseated
            | MessageKind::CatalogChanged => Topic::SeatSync,
            MessageKind::DeadLettered => Topic::DeadLetter,
        }
    }
}

/// The language of a person's notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Ko,
    En,
}

impl Language {
    pub const fn as_str(self) -> &'static str {
        match self {
            Language::Ko => "ko",
            Language::En => "en",
        }
    }

    pub fn parse(text: &str) -> Option<Language> {
        [Language::Ko, Language::En].into_iter().find(|language| language.as_str() == text)
    }
}

/// After this many failed attempts a message is dead-lettered and raises an alert. The attempts
/// take an hour, so that a temporary outage of the bus costs no message.
pub const ATTEMPTS_MAX: u32 = 360;

/// How often a worker tries a message before it dead-letters it.
pub const TRIES_MAX: u32 = 3;

/// The version of the published form; it grows when a field changes its meaning or is removed.
pub const FORM: u32 = 1;

/// Longest delay between two attempts, so that publishing resumes soon after the bus is back.
const PUBLISH_AGAIN_MAX_MS: i64 = 10_000;

/// How long a message waits before it is published again.
pub fn publish_delay_ms(attempts: u32) -> i64 {
    retry_delay_ms(attempts).min(PUBLISH_AGAIN_MAX_MS)
}

/// The delay before the next attempt: doubling from 200 ms, at most a minute.
pub fn retry_delay_ms(attempts: u32) -> i64 {
    let doubled = 200_i64.saturating_mul(1_i64 << attempts.min(20));
    doubled.min(60_000)
}

/// Subtracts up to a quarter at random, so that simultaneous failures don't retry simultaneously.
pub fn jittered_ms(delay_ms: i64, random: u64) -> i64 {
    let quarter = u64::try_from(delay_ms / 4).unwrap_or(0);
    delay_ms - i64::try_from(random % (quarter + 1)).unwrap_or(0)
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
        assert_eq!((publish_delay_ms(0), publish_delay_ms(u32::MAX)), (200, 10_000));
    }

    #[test]
    fn retries_that_began_together_spread_over_a_quarter() {
        let delays = (0..10_000).map(|random| jittered_ms(retry_delay_ms(5), random * 7_919));
        let (least, most) = delays.fold((i64::MAX, 0), |(a, b), it| (a.min(it), b.max(it)));
        assert_eq!((least, most), (4_800, 6_400));
    }
}

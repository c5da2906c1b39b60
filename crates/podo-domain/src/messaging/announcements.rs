//! What goes to many fans at once: changed dates and venues, and reminders.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long before the opening of a sale its reminder goes out.
pub const SALE_REMINDER_BEFORE: Duration = Duration::from_secs(30 * 60);

/// How long before a show its reminder goes out.
pub const SHOW_REMINDER_BEFORE: Duration = Duration::from_secs(24 * 60 * 60);

/// A show that starts sooner gets no reminder: the booking was made on the same day.
pub const SHOW_REMINDER_UNTIL: Duration = Duration::from_secs(3 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AnnouncementKind {
    /// The date or the venue changed. Goes to everyone with a booking.
    Moved,
    /// The sale opens soon. Goes to those who asked for it.
    SaleReminder,
    /// The show is tomorrow. Goes to everyone with a booking.
    ShowReminder,
}

impl AnnouncementKind {
    pub const ALL: [AnnouncementKind; 3] =
        [AnnouncementKind::Moved, AnnouncementKind::SaleReminder, AnnouncementKind::ShowReminder];

    pub const fn as_str(self) -> &'static str {
        match self {
            AnnouncementKind::Moved => "MOVED",
            AnnouncementKind::SaleReminder => "SALE_REMINDER",
            AnnouncementKind::ShowReminder => "SHOW_REMINDER",
        }
    }

    pub fn parse(text: &str) -> Option<AnnouncementKind> {
        AnnouncementKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// When and where a show takes place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShowPlace {
    pub starts_at: Timestamp,
    pub venue_name: String,
    pub address: String,
}

/// A credential of an account that changed, or was used from a new place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SecurityChange {
    NewLogin,
    PasswordChanged,
    SecondFactorOn,
    SecondFactorOff,
    EmailChanged,
}

/// Whether a new start is another date for fans. Forms show minutes, so saving one may drop seconds.
pub fn is_moved(before: Timestamp, after: Timestamp) -> bool {
    const MINUTE_MS: i64 = 60_000;
    before.ms().div_euclid(MINUTE_MS) != after.ms().div_euclid(MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kind() {
        for kind in AnnouncementKind::ALL {
            assert_eq!(AnnouncementKind::parse(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn dropped_seconds_are_no_new_date() {
        let at = Timestamp::from_ms;
        assert!(!is_moved(at(119_999), at(60_000)));
        assert!(is_moved(at(119_999), at(120_000)));
    }
}

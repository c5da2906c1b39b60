//! Tickets of a confirmed reservation, one per seat.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a rotating code is shown.
pub const STEP_LENGTH: Duration = Duration::from_secs(30);

/// How long an offer to an address lasts.
pub const OFFER_LENGTH: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The half minute that a rotating code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeStep(i64);

impl CodeStep {
    pub fn at(now: Timestamp) -> CodeStep {
        CodeStep(now.ms().div_euclid(STEP_LENGTH.as_millis() as i64))
    }

    pub fn begins_at(self) -> Timestamp {
        Timestamp::from_ms(self.0.saturating_mul(STEP_LENGTH.as_millis() as i64))
    }

    /// The gate accepts the previous step too, because showing and scanning take a moment.
    pub fn is_current(self, now: Timestamp) -> bool {
        let current = CodeStep::at(now).0;
        self.0 == current || self.0 == current - 1
    }

    pub const fn bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    pub const fn from_bytes(bytes: [u8; 8]) -> CodeStep {
        CodeStep(i64::from_be_bytes(bytes))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum TicketStatus {
    Valid,
    /// The fan was checked in.
    Used,
    /// The reservation was canceled.
    Void,
}

impl TicketStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            TicketStatus::Valid => "VALID",
            TicketStatus::Used => "USED",
            TicketStatus::Void => "VOID",
        }
    }

    pub fn parse(text: &str) -> Option<TicketStatus> {
        [TicketStatus::Valid, TicketStatus::Used, TicketStatus::Void]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotating_code_counts_for_its_half_minute_and_the_next() {
        let step = CodeStep::at(Timestamp::from_ms(60_000));
        assert!(step.is_current(Timestamp::from_ms(60_000)));
        assert!(step.is_current(Timestamp::from_ms(119_999)));
        assert!(!step.is_current(Timestamp::from_ms(120_000)));
        assert!(!step.is_current(Timestamp::from_ms(59_999)));
        assert_eq!(CodeStep::from_bytes(step.bytes()), step);
        assert_eq!(step.begins_at(), Timestamp::from_ms(60_000));
    }
}

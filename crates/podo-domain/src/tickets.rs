//! Tickets of a confirmed reservation, one per seat.

mod code;
pub mod gate;
pub mod resales;

pub use code::{CodeStep, STEP_LENGTH};

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long an offer to an address lasts.
pub const OFFER_LENGTH: Duration = Duration::from_secs(7 * 24 * 60 * 60);

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

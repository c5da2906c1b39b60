//! Tickets: what a confirmed reservation gives, one per seat.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum TicketStatus {
    Valid,
    /// The fan is in the hall.
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

//! What looks like a robot.

use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SignalKind {
    /// Asked where they stand far faster than they were told to.
    AsksTooFast,
    /// An answer to the riddle that nobody could have worked out.
    ForgedAnswer,
    /// Seats chosen and paid for faster than anybody can read.
    PaysTooFast,
    /// Seats held again and again without buying.
    HoldsWithoutBuying,
}

impl SignalKind {
    const ALL: [SignalKind; 4] = [
        SignalKind::AsksTooFast,
        SignalKind::ForgedAnswer,
        SignalKind::PaysTooFast,
        SignalKind::HoldsWithoutBuying,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            SignalKind::AsksTooFast => "ASKS_TOO_FAST",
            SignalKind::ForgedAnswer => "FORGED_ANSWER",
            SignalKind::PaysTooFast => "PAYS_TOO_FAST",
            SignalKind::HoldsWithoutBuying => "HOLDS_WITHOUT_BUYING",
        }
    }

    pub fn parse(text: &str) -> Option<SignalKind> {
        SignalKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What an organiser decided about an appeal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum AppealVerdict {
    /// The signal stands.
    Upheld,
    /// It was a mistake.
    Lifted,
}

impl AppealVerdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            AppealVerdict::Upheld => "UPHELD",
            AppealVerdict::Lifted => "LIFTED",
        }
    }

    pub fn parse(text: &str) -> Option<AppealVerdict> {
        [AppealVerdict::Upheld, AppealVerdict::Lifted].into_iter().find(|it| it.as_str() == text)
    }
}

/// Nobody chooses how to pay sooner than this after the seats are theirs.
pub const PAYS_AT_SOONEST: Duration = Duration::from_secs(1);

//! Bot signals: behaviour that suggests automation.

use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SignalKind {
    /// Polled far faster than `pollAfterMs`.
    AsksTooFast,
    /// Submitted a forged proof of work.
    ForgedAnswer,
    /// Chose and paid for seats faster than a person can read.
    PaysTooFast,
    /// Held seats repeatedly without buying.
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

/// An organiser's decision about an appeal.
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

/// The shortest plausible time between holding seats and requesting payment.
pub const PAYS_AT_SOONEST: Duration = Duration::from_secs(1);

//! Rules of the waiting room: admission, entries, and polling intervals.

mod admission;
mod blocks;
pub mod draw;
mod health;
mod log;
pub mod proof_of_work;
mod waiting;

pub use admission::{AdmitBudget, OVERTAKING, fans_to_admit};
pub use blocks::{Blocks, Draw, Grant, Need};
pub use health::{AdmissionThrottle, Health, HealthLimits, slowed};
pub use log::{QueueEvent, QueueEventKind, SEEN_EVERY, is_seen_logged};
pub use waiting::{
    Estimate, FAR_BACK, Outlook, estimate_wait, lobby_poll_after_ms, outlook, poll_after_ms,
    tell_after_ms,
};

use crate::catalog::text::FieldError;
use crate::waiting_room::proof_of_work::BITS_MAX;
use crate::{Refusal, ScheduleId, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A fan's number in the queue. It never changes; gaps mean nothing.
pub type PlaceNumber = u64;

/// How often an entry can be extended.
pub const EXTENSIONS_MAX: u8 = 2;

/// An admitted fan who doesn't appear within this time gives the slot back.
pub const CLAIM_WINDOW: Duration = Duration::from_secs(60);

/// After an engine lost a room and the first fan returned to its queue, no fan is admitted for this
/// long: it exceeds the polling interval of every fan whom others could pass (`poll_after_ms`), so
/// that each can return before.
pub const RETURN_WINDOW: Duration = Duration::from_secs(20);

/// How long, and for how many fans of a room, an engine remembers that an entry expired.
pub const LAPSED_FOR: Duration = Duration::from_secs(3_600);
pub const LAPSED_MAX: u32 = 100_000;

/// The period over which an engine counts admitted fans, to estimate how long others wait.
pub const OUTFLOW_SECONDS: u32 = 60;

/// A larger index of the lobby is rejected: the draw would need too much memory.
pub const LOBBY_INDEX_MAX: u32 = 10_000_000;

/// Maximum length of the message to waiting fans, in characters.
pub const MESSAGE_LENGTH_MAX: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum QueueMode {
    Auto,
    /// No fan is admitted; fans keep their places.
    Paused,
    /// Waiting fans are admitted; no new fan may enter.
    Draining,
    /// No fan is admitted, and no new fan may enter.
    Closed,
}

/// An organiser's settings for one schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QueueSettings {
    pub mode: QueueMode,
    /// Most fans inside at once.
    pub max_active: u32,
    /// Most admissions per second.
    pub admit_per_second: u32,
    /// How long an entry lasts, from admission.
    pub entry_ttl_seconds: u32,
    /// Shown to every waiting fan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The English version; if absent, `message` is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_en: Option<String>,
    /// Only fans with a verified identity may enter: one person, one place.
    #[serde(default)]
    pub identity_required: bool,
    /// The difficulty of the proof of work before entering, in bits: 0 for none, 16 for about a
    /// second; each further bit doubles it.
    #[serde(default)]
    pub challenge_bits: u8,
}

impl Default for QueueSettings {
    fn default() -> QueueSettings {
        QueueSettings {
            mode: QueueMode::Auto,
            max_active: 1_000,
            admit_per_second: 100,
            entry_ttl_seconds: 600,
            message: None,
            message_en: None,
            identity_required: false,
            challenge_bits: 0,
        }
    }
}

impl QueueSettings {
    /// Refuses settings that no queue can run with. Fields have their API names.
    pub fn check(&self) -> Result<(), Refusal> {
        check_range("maxActive", self.max_active, 1_000_000)?;
        check_range("admitPerSecond", self.admit_per_second, 100_000)?;
        check_range("entryTtlSeconds", self.entry_ttl_seconds, 3_600)?;
        if self.challenge_bits > BITS_MAX {
            let problem = FieldError::OutOfRange { min: 0, max: BITS_MAX.into() };
            return Err(Refusal::Invalid { field: "challengeBits", problem });
        }
        check_message("message", self.message.as_deref())?;
        check_message("messageEn", self.message_en.as_deref())
    }

    /// How long an entry lasts, from admission.
    pub fn entry_ttl(&self) -> Duration {
        Duration::from_secs(self.entry_ttl_seconds.into())
    }
}

fn check_range(field: &'static str, value: u32, max: u32) -> Result<(), Refusal> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    Err(Refusal::Invalid { field, problem: FieldError::OutOfRange { min: 1, max: max.into() } })
}

fn check_message(field: &'static str, message: Option<&str>) -> Result<(), Refusal> {
    let n_characters = message.map_or(0, |message| message.chars().count());
    if n_characters <= MESSAGE_LENGTH_MAX {
        return Ok(());
    }
    Err(Refusal::Invalid { field, problem: FieldError::TooLong { max: MESSAGE_LENGTH_MAX } })
}

/// Whether a new fan may join. Fans with a place keep it in any case.
pub fn may_enter(settings: &QueueSettings) -> Result<(), Refusal> {
    match settings.mode {
        QueueMode::Auto | QueueMode::Paused => Ok(()),
        QueueMode::Draining | QueueMode::Closed => Err(Refusal::QueueClosed),
    }
}

/// Everything an engine needs to run the queue of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRules {
    pub schedule: ScheduleId,
    pub settings: QueueSettings,
    /// When the sale opens; until then fans gather in the lobby.
    pub opens_at: Timestamp,
    /// Determines the order of the lobby; secret until the opening.
    pub draw_seed: [u8; 32],
}

/// The right to be inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub number: PlaceNumber,
    pub admitted_at: Timestamp,
    pub expires_at: Timestamp,
    pub extensions_left: u8,
}

impl Entry {
    /// The entry of a fan who is admitted now.
    pub fn starting(number: PlaceNumber, settings: &QueueSettings, now: Timestamp) -> Entry {
        Entry {
            number,
            admitted_at: now,
            expires_at: now.plus(settings.entry_ttl()),
            extensions_left: EXTENSIONS_MAX,
        }
    }

    /// False from the very millisecond of `expires_at`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// The entry extended by one lifetime. It's added to the end, so that extending early costs
    /// nothing.
    pub fn extended(&self, settings: &QueueSettings, now: Timestamp) -> Result<Entry, Refusal> {
        if !self.is_live(now) {
            return Err(Refusal::EntryExpired);
        }
        let extensions_left =
            self.extensions_left.checked_sub(1).ok_or(Refusal::NoExtensionsLeft)?;
        let expires_at = self.expires_at.plus(settings.entry_ttl());
        Ok(Entry { expires_at, extensions_left, ..*self })
    }
}

/// A fan's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePosition {
    /// In the lobby before the opening, at `index` of `n_gathered`.
    Lobby {
        index: u32,
        n_gathered: u64,
    },
    Waiting {
        number: PlaceNumber,
        ahead: u64,
        behind: u64,
    },
    Inside(Entry),
    /// The entry expired.
    Expired,
    /// Not in the queue.
    Absent,
}

/// The counters of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueCounts {
    pub gathered: u64,
    /// How many lobby indexes the draw covered; 0 before it.
    pub drawn: u64,
    pub waiting: u64,
    /// No smaller number waits: the first waiting number, or the next number to be issued.
    pub front: PlaceNumber,
    pub inside: u64,
    /// Since the engine started.
    pub admitted: u64,
    pub left: u64,
    pub expired: u64,
    /// Admissions per second, measured over the last minute.
    pub admitted_per_second: f64,
}

#[cfg(test)]
mod tests;

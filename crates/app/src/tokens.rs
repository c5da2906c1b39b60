//! Place tokens and entry tokens: compact, bound to one fan and one schedule, impossible to forge.
//! An entry token is bound to the log-in too: passed on, it opens nothing.
//!
//! As base64url: version, kind, key id (2), schedule (16), user (16), number (8), for an entry the
//! session (16), code (16). Every field has a fixed width for its kind, so no two tokens read alike.
//! The code is the first half of an HMAC-SHA256 over all the rest, under a key for this kind.

mod keys;

pub use keys::TokenKeys;

use crate::ports::queue::Returning;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::queue::PlaceNumber;
use domain::{ScheduleId, SessionId, UserId};
use keys::Purpose;
use uuid::Uuid;

const VERSION: u8 = 2;
const BODY_BYTES: usize = 44;
const SESSION_BYTES: usize = 16;
const CODE_BYTES: usize = 16;
const TOKEN_BYTES_MAX: usize = BODY_BYTES + SESSION_BYTES + CODE_BYTES;

/// What a token says. The kind keeps a lobby index from being read as a place number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Lobby { index: u32 },
    Place { number: PlaceNumber },
    Entry { number: PlaceNumber, session: SessionId },
}

impl Said {
    const fn kind(self) -> u8 {
        match self {
            Said::Lobby { .. } => 1,
            Said::Place { .. } => 2,
            Said::Entry { .. } => 3,
        }
    }

    const fn number(self) -> u64 {
        match self {
            Said::Lobby { index } => index as u64,
            Said::Place { number } | Said::Entry { number, .. } => number,
        }
    }

    const fn purpose(self) -> Purpose {
        match self {
            Said::Lobby { .. } | Said::Place { .. } => Purpose::Place,
            Said::Entry { .. } => Purpose::Entry,
        }
    }

    /// Nothing unless the rest is exactly what belongs to the kind.
    fn from_parts(kind: u8, number: u64, rest: &[u8]) -> Option<Said> {
        match (kind, rest) {
            (1, []) => u32::try_from(number).ok().map(|index| Said::Lobby { index }),
            (2, []) => Some(Said::Place { number }),
            (3, session) => {
                let session = SessionId::new(Uuid::from_slice(session).ok()?);
                Some(Said::Entry { number, session })
            }
            _ => None,
        }
    }

    /// The proof of a place that this token brings back, if it is one.
    pub const fn returning(self) -> Option<Returning> {
        match self {
            Said::Lobby { index } => Some(Returning::Lobby { index }),
            Said::Place { number } => Some(Returning::Line { number }),
            Said::Entry { .. } => None,
        }
    }
}

/// A token that has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub schedule: ScheduleId,
    pub user: UserId,
    pub said: Said,
}

impl Token {
    pub fn issue(&self, keys: &TokenKeys) -> String {
        let key = keys.current();
        let mut bytes = [0; TOKEN_BYTES_MAX];
        let n_body = self.write(&key.id, &mut bytes);
        let code = key.code(self.said.purpose(), &bytes[..n_body]);
        bytes[n_body..n_body + CODE_BYTES].copy_from_slice(&code[..CODE_BYTES]);
        URL_SAFE_NO_PAD.encode(&bytes[..n_body + CODE_BYTES])
    }

    /// Reads a token that we issued; anything else is `None`.
    pub fn read(text: &str, keys: &TokenKeys) -> Option<Token> {
        let mut bytes = [0; TOKEN_BYTES_MAX];
        let n_bytes = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        let (signed, code) = bytes[..n_bytes].split_at_checked(n_bytes.checked_sub(CODE_BYTES)?)?;
        let (body, rest) = signed.split_at_checked(BODY_BYTES)?;
        if body[0] != VERSION {
            return None;
        }
        let number = u64::from_be_bytes(body[36..].try_into().ok()?);
        let said = Said::from_parts(body[1], number, rest)?;
        let key = keys.named([body[2], body[3]])?;
        if !key.is_code(said.purpose(), signed, code) {
            return None;
        }
        Some(Token {
            schedule: ScheduleId::new(Uuid::from_slice(&body[4..20]).ok()?),
            user: UserId::new(Uuid::from_slice(&body[20..36]).ok()?),
            said,
        })
    }

    /// Writes what is signed, and says how long it is.
    fn write(&self, key: &[u8; 2], bytes: &mut [u8; TOKEN_BYTES_MAX]) -> usize {
        bytes[0] = VERSION;
        bytes[1] = self.said.kind();
        bytes[2..4].copy_from_slice(key);
        bytes[4..20].copy_from_slice(self.schedule.uuid().as_bytes());
        bytes[20..36].copy_from_slice(self.user.uuid().as_bytes());
        bytes[36..44].copy_from_slice(&self.said.number().to_be_bytes());
        match self.said {
            Said::Lobby { .. } | Said::Place { .. } => BODY_BYTES,
            Said::Entry { session, .. } => {
                let end = BODY_BYTES + SESSION_BYTES;
                bytes[BODY_BYTES..end].copy_from_slice(session.uuid().as_bytes());
                end
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Place tokens and entry tokens: compact, unforgeable, bound to one fan and one schedule. An entry
//! token is also bound to the session, so it's useless to another person.
//!
//! Encoded as base64url: version, kind, key id (2), schedule (16), user (16), number (8), session
//! (16, entry tokens only), MAC (16). Every field has a fixed width for its kind, so the encoding
//! is unambiguous. The MAC is the first half of an HMAC-SHA256 over the other fields, under a key
//! per kind.

mod keys;

pub use keys::TokenKeys;

use crate::waiting_room::port::queue::PlaceProof;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use keys::Purpose;
use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{ScheduleId, SessionId, UserId};
use uuid::Uuid;

const VERSION: u8 = 2;
const BODY_BYTES: usize = 44;
const SESSION_BYTES: usize = 16;
const CODE_BYTES: usize = 16;
const TOKEN_BYTES_MAX: usize = BODY_BYTES + SESSION_BYTES + CODE_BYTES;

/// A token's claims. The kind prevents a lobby index from being read as a place number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClaims {
    Lobby { index: u32 },
    Place { number: PlaceNumber },
    Entry { number: PlaceNumber, session: SessionId },
}

impl TokenClaims {
    const fn kind(self) -> u8 {
        match self {
            TokenClaims::Lobby { .. } => 1,
            TokenClaims::Place { .. } => 2,
            TokenClaims::Entry { .. } => 3,
        }
    }

    const fn number(self) -> u64 {
        match self {
            TokenClaims::Lobby { index } => index as u64,
            TokenClaims::Place { number } | TokenClaims::Entry { number, .. } => number,
        }
    }

    const fn purpose(self) -> Purpose {
        match self {
            TokenClaims::Lobby { .. } | TokenClaims::Place { .. } => Purpose::Place,
            TokenClaims::Entry { .. } => Purpose::Entry,
        }
    }

    /// `None` unless the rest has exactly the length of the kind.
    fn from_parts(kind: u8, number: u64, rest: &[u8]) -> Option<TokenClaims> {
        match (kind, rest) {
            (1, []) => u32::try_from(number).ok().map(|index| TokenClaims::Lobby { index }),
            (2, []) => Some(TokenClaims::Place { number }),
            (3, session) => {
                let session = SessionId::new(Uuid::from_slice(session).ok()?);
                Some(TokenClaims::Entry { number, session })
            }
            _ => None,
        }
    }

    /// The place that this token proves, if it is a place token.
    pub const fn place_proof(self) -> Option<PlaceProof> {
        match self {
            TokenClaims::Lobby { index } => Some(PlaceProof::Lobby { index }),
            TokenClaims::Place { number } => Some(PlaceProof::Line { number }),
            TokenClaims::Entry { .. } => None,
        }
    }
}

/// A verified token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub schedule: ScheduleId,
    pub user: UserId,
    pub claims: TokenClaims,
}

impl Token {
    pub fn issue(&self, keys: &TokenKeys) -> String {
        let key = keys.current();
        let mut bytes = [0; TOKEN_BYTES_MAX];
        let n_body = self.write(&key.id, &mut bytes);
        let code = key.code(self.claims.purpose(), &bytes[..n_body]);
        bytes[n_body..n_body + CODE_BYTES].copy_from_slice(&code[..CODE_BYTES]);
        URL_SAFE_NO_PAD.encode(&bytes[..n_body + CODE_BYTES])
    }

    /// Reads a token that we issued; returns `None` for anything else.
    pub fn read(text: &str, keys: &TokenKeys) -> Option<Token> {
        let mut bytes = [0; TOKEN_BYTES_MAX];
        let n_bytes = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        let (signed, code) = bytes[..n_bytes].split_at_checked(n_bytes.checked_sub(CODE_BYTES)?)?;
        let (body, rest) = signed.split_at_checked(BODY_BYTES)?;
        if body[0] != VERSION {
            return None;
        }
        let number = u64::from_be_bytes(body[36..].try_into().ok()?);
        let claims = TokenClaims::from_parts(body[1], number, rest)?;
        let key = keys.named([body[2], body[3]])?;
        if !key.is_code(claims.purpose(), signed, code) {
            return None;
        }
        Some(Token {
            schedule: ScheduleId::new(Uuid::from_slice(&body[4..20]).ok()?),
            user: UserId::new(Uuid::from_slice(&body[20..36]).ok()?),
            claims,
        })
    }

    /// Writes the signed part and returns its length.
    fn write(&self, key: &[u8; 2], bytes: &mut [u8; TOKEN_BYTES_MAX]) -> usize {
        bytes[0] = VERSION;
        bytes[1] = self.claims.kind();
        bytes[2..4].copy_from_slice(key);
        bytes[4..20].copy_from_slice(self.schedule.uuid().as_bytes());
        bytes[20..36].copy_from_slice(self.user.uuid().as_bytes());
        bytes[36..44].copy_from_slice(&self.claims.number().to_be_bytes());
        match self.claims {
            TokenClaims::Lobby { .. } | TokenClaims::Place { .. } => BODY_BYTES,
            TokenClaims::Entry { session, .. } => {
                let end = BODY_BYTES + SESSION_BYTES;
                bytes[BODY_BYTES..end].copy_from_slice(session.uuid().as_bytes());
                end
            }
        }
    }
}

#[cfg(test)]
mod tests;

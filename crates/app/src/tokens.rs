//! Place tokens and entry tokens: compact, bound to one fan and one schedule, impossible to forge.
//!
//! 58 bytes as base64url: version, kind, schedule (16), user (16), number (8), code (16). Every
//! field has a fixed width, so no two tokens read alike. The code is the first half of an
//! HMAC-SHA256 over all the rest.

use crate::ports::queue::Returning;
use crate::seals::{Purpose, Seals};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::queue::PlaceNumber;
use domain::{ScheduleId, UserId};
use uuid::Uuid;

const VERSION: u8 = 1;
const BODY_BYTES: usize = 42;
const CODE_BYTES: usize = 16;

/// What a token says. The kind keeps a lobby index from being read as a place number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Lobby { index: u32 },
    Place { number: PlaceNumber },
    Entry { number: PlaceNumber },
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
            Said::Place { number } | Said::Entry { number } => number,
        }
    }

    const fn purpose(self) -> Purpose {
        match self {
            Said::Lobby { .. } | Said::Place { .. } => Purpose::Place,
            Said::Entry { .. } => Purpose::Entry,
        }
    }

    fn from_parts(kind: u8, number: u64) -> Option<Said> {
        match kind {
            1 => u32::try_from(number).ok().map(|index| Said::Lobby { index }),
            2 => Some(Said::Place { number }),
            3 => Some(Said::Entry { number }),
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
    pub fn issue(&self, seals: &Seals) -> String {
        let body = self.body();
        let code = seals.code(self.said.purpose(), &body);
        let mut bytes = [0; BODY_BYTES + CODE_BYTES];
        bytes[..BODY_BYTES].copy_from_slice(&body);
        bytes[BODY_BYTES..].copy_from_slice(&code[..CODE_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a token that we issued; anything else is `None`.
    pub fn read(text: &str, seals: &Seals) -> Option<Token> {
        let mut bytes = [0; BODY_BYTES + CODE_BYTES];
        let n_bytes = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        let (body, code) = bytes.split_at(BODY_BYTES);
        if n_bytes != bytes.len() || body[0] != VERSION {
            return None;
        }
        let said = Said::from_parts(body[1], u64::from_be_bytes(body[34..].try_into().ok()?))?;
        if !seals.is_code(said.purpose(), body, code) {
            return None;
        }
        Some(Token {
            schedule: ScheduleId::new(Uuid::from_slice(&body[2..18]).ok()?),
            user: UserId::new(Uuid::from_slice(&body[18..34]).ok()?),
            said,
        })
    }

    fn body(&self) -> [u8; BODY_BYTES] {
        let mut body = [0; BODY_BYTES];
        body[0] = VERSION;
        body[1] = self.said.kind();
        body[2..18].copy_from_slice(self.schedule.uuid().as_bytes());
        body[18..34].copy_from_slice(self.user.uuid().as_bytes());
        body[34..].copy_from_slice(&self.said.number().to_be_bytes());
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(said: Said) -> Token {
        Token {
            schedule: ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 80)),
            user: UserId::new(Uuid::from_u128(2)),
            said,
        }
    }

    const ALL: [Said; 3] =
        [Said::Lobby { index: 7 }, Said::Place { number: u64::MAX }, Said::Entry { number: 7 }];

    #[test]
    fn a_token_says_what_it_was_issued_for() {
        let seals = Seals::new(&[1; 32]);
        for said in ALL {
            let text = token(said).issue(&seals);
            assert_eq!(Token::read(&text, &seals), Some(token(said)));
        }
    }

    #[test]
    fn a_token_with_any_letter_changed_is_nothing() {
        let seals = Seals::new(&[1; 32]);
        for said in ALL {
            let text = token(said).issue(&seals);
            for index in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
                let forged = String::from_utf8(bytes).unwrap();
                // The last letter carries spare bits; a strict decoder refuses those too.
                assert_eq!(Token::read(&forged, &seals), None, "letter {index}");
            }
            assert_eq!(Token::read(&text[..text.len() - 1], &seals), None, "cut");
            assert_eq!(Token::read(&format!("{text}A"), &seals), None, "longer");
        }
    }

    #[test]
    fn a_token_of_another_house_is_nothing() {
        let text = token(ALL[2]).issue(&Seals::new(&[1; 32]));
        assert_eq!(Token::read(&text, &Seals::new(&[2; 32])), None);
    }

    #[test]
    fn a_place_token_is_no_entry_token() {
        let seals = Seals::new(&[1; 32]);
        let place = token(Said::Place { number: 7 }).issue(&seals);
        let mut bytes = URL_SAFE_NO_PAD.decode(place).unwrap();
        bytes[1] = 3;
        assert_eq!(Token::read(&URL_SAFE_NO_PAD.encode(bytes), &seals), None);
    }
}

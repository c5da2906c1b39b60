//! Secrets at work: message codes, sealing of personal fields, hashes for look-up. All
//! keys come from one master secret, each for its own purpose.

mod fields;

pub use fields::FieldKeys;

use crate::error::{Error, Result};
use crate::ports::clock::Chance;
use crate::tokens::TokenKeys;
use aws_lc_rs::aead::{Aad, Nonce};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;

/// What a code is made for. A code for one purpose says nothing for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Ticket,
    Lookup,
    Identity,
    Challenge,
    Device,
}

impl Purpose {
    /// In the order of their numbers.
    const ALL: [Purpose; 5] =
        [Purpose::Ticket, Purpose::Lookup, Purpose::Identity, Purpose::Challenge, Purpose::Device];

    const fn label(self) -> &'static str {
        match self {
            Purpose::Ticket => "podo ticket 1",
            Purpose::Lookup => "podo lookup 1",
            Purpose::Identity => "podo identity 1",
            Purpose::Challenge => "podo challenge 1",
            Purpose::Device => "podo device 1",
        }
    }
}

pub struct Seals {
    tokens: TokenKeys,
    /// One for each purpose. Boxed, because a key is a thousand bytes and the platform that has them
    /// is moved about.
    codes: Box<[hmac::Key; Purpose::ALL.len()]>,
    sessions: [u8; 32],
    fields: FieldKeys,
}

const NONCE_BYTES: usize = 12;

impl Seals {
    pub fn new(master: &[u8; 32]) -> Seals {
        let code_key = |purpose| hmac::Key::new(hmac::HMAC_SHA256, &derive(master, purpose));
        Seals {
            tokens: TokenKeys::new(&token_secret(master), None),
            codes: Box::new(Purpose::ALL.map(|purpose| code_key(purpose.label()))),
            sessions: derive(master, "podo sessions 1"),
            fields: FieldKeys::new(master, None, None),
        }
    }

    /// The same with other keys for place and entry tokens.
    pub fn with_token_keys(self, tokens: TokenKeys) -> Seals {
        Seals { tokens, ..self }
    }

    /// The same with other keys for sealed fields.
    pub fn with_field_keys(self, fields: FieldKeys) -> Seals {
        Seals { fields, ..self }
    }

    /// The keys of the place and entry tokens.
    pub fn tokens(&self) -> &TokenKeys {
        &self.tokens
    }

    /// The key of the access tokens.
    pub fn session_key(&self) -> &[u8; 32] {
        &self.sessions
    }

    fn key(&self, purpose: Purpose) -> &hmac::Key {
        &self.codes[purpose as usize]
    }

    pub fn code(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(self.key(purpose), bytes);
        tag.as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
    }

    /// Compares the first bytes of a code in constant time.
    pub fn is_code(&self, purpose: Purpose, bytes: &[u8], code: &[u8]) -> bool {
        let expected = self.code(purpose, bytes);
        let Some(expected) = expected.get(..code.len()) else { return false };
        aws_lc_rs::constant_time::verify_slices_are_equal(expected, code).is_ok()
    }

    /// A keyed hash, for finding a personal value without storing it in clear.
    pub fn lookup(&self, field: &str, value: &str) -> [u8; 32] {
        self.code(Purpose::Lookup, &labelled(field, value.as_bytes()))
    }

    /// Seals a personal field. `place` (table, column, row) is part of the seal: a sealed value
    /// that is moved to another row does not open.
    pub fn seal(&self, place: &str, value: &str, chance: &dyn Chance) -> Vec<u8> {
        let mut nonce = [0; NONCE_BYTES];
        chance.fill(&mut nonce);
        let mut sealed = value.as_bytes().to_vec();
        let current = self.fields.current();
        current
            .key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(place.as_bytes()),
                &mut sealed,
            )
            .expect("a field is far shorter than the limit of AES-GCM");
        [&[current.number][..], &nonce, &sealed].concat()
    }

    /// Whether the current key sealed it.
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        sealed.first() == Some(&self.fields.current().number)
    }

    pub fn open(&self, place: &str, sealed: &[u8]) -> Result<String> {
        let broken = || Error::Broken(format!("{place} does not open"));
        let (number, rest) = sealed.split_first().ok_or_else(broken)?;
        let key = &self.fields.numbered(*number).ok_or_else(broken)?.key;
        if rest.len() < NONCE_BYTES {
            return Err(broken());
        }
        let (nonce, body) = rest.split_at(NONCE_BYTES);
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_error| broken())?;
        let mut body = body.to_vec();
        let opened = key.open_in_place(nonce, Aad::from(place.as_bytes()), &mut body);
        let opened = opened.map_err(|_error| broken())?;
        String::from_utf8(opened.to_vec()).map_err(|_error| broken())
    }
}

/// The secret of the place and entry tokens, unless the operator set another.
pub fn token_secret(master: &[u8; 32]) -> [u8; 32] {
    derive(master, "podo tokens 2")
}

fn derive(master: &[u8; 32], purpose: &str) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, master), purpose.as_bytes());
    tag.as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
}

/// The length in front keeps `("ab", "c")` and `("a", "bc")` apart.
fn labelled(label: &str, value: &[u8]) -> Vec<u8> {
    let mut bytes = (label.len() as u64).to_be_bytes().to_vec();
    bytes.extend(label.as_bytes());
    bytes.extend(value);
    bytes
}

/// SHA-256, for fingerprints and for secrets that are long and random already.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 gives 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Chance for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            (0..).zip(bytes).for_each(|(index, byte)| *byte = index);
        }
    }

    #[test]
    fn a_sealed_field_opens_only_where_it_belongs() {
        let seals = Seals::new(&[7; 32]);
        let sealed = seals.seal("users.name.1", "김포도", &Counting);
        assert_eq!(seals.open("users.name.1", &sealed).unwrap(), "김포도");
        assert!(seals.open("users.name.2", &sealed).is_err());
        assert!(Seals::new(&[8; 32]).open("users.name.1", &sealed).is_err());
    }

    #[test]
    fn a_field_is_sealed_with_the_new_key_and_opens_with_the_old() {
        let master = [7; 32];
        let keys = |current, previous| FieldKeys::new(&master, current, previous);
        let seals = |keys| Seals::new(&master).with_field_keys(keys);
        let (own, first) = (seals(keys(None, None)), seals(keys(Some(&[1; 32]), None)));
        let second = seals(keys(Some(&[2; 32]), Some(&[1; 32])));
        let place = "users.name.1";
        let by_own = own.seal(place, "김포도", &Counting);
        let by_first = first.seal(place, "김포도", &Counting);
        assert!(own.is_current(&by_own) && !first.is_current(&by_own));
        assert_eq!(first.open(place, &by_own).unwrap(), "김포도");
        assert_eq!(second.open(place, &by_own).unwrap(), "김포도");
        assert_eq!(second.open(place, &by_first).unwrap(), "김포도");
        assert!(own.open(place, &by_first).is_err());
        let forgotten = seals(keys(Some(&[2; 32]), None));
        assert!(forgotten.open(place, &by_first).is_err());
        assert!(keys(Some(&[1; 32]), Some(&[1; 32])).are_alike());
    }

    #[test]
    fn a_damaged_field_does_not_open() {
        let seals = Seals::new(&[7; 32]);
        let sealed = seals.seal("users.name.1", "김포도", &Counting);
        for index in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[index] ^= 1;
            assert!(seals.open("users.name.1", &damaged).is_err(), "byte {index}");
        }
        assert!(seals.open("users.name.1", &[]).is_err());
    }

    #[test]
    fn a_code_counts_for_its_purpose_only() {
        let seals = Seals::new(&[7; 32]);
        let code = seals.code(Purpose::Ticket, b"1");
        assert!(seals.is_code(Purpose::Ticket, b"1", &code));
        assert!(!seals.is_code(Purpose::Lookup, b"1", &code));
        assert!(!seals.is_code(Purpose::Ticket, b"2", &code));
        assert!(!seals.is_code(Purpose::Ticket, b"1", &[0; 64]));
    }
}

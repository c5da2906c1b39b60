//! Keyring: MACs, encryption of personal fields, and keyed hashes for look-up. All keys are derived
//! from one master secret, each for its own purpose.

pub use crate::identity::encrypted_fields::FieldKeys;

use crate::error::{Error, Result};
use crate::operations::port::clock::Rng;
use crate::waiting_room::tokens::TokenKeys;
use aws_lc_rs::aead::{Aad, Nonce};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;

/// What a MAC is for. A MAC for one purpose is invalid for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Ticket,
    Lookup,
    Identity,
    Challenge,
    Device,
    /// The token of a link in an e-mail.
    Link,
    /// The cursor of a list that a device at the gate downloads.
    GateList,
}

impl Purpose {
    /// In the order of their numbers.
    const ALL: [Purpose; 7] = [
        Purpose::Ticket,
        Purpose::Lookup,
        Purpose::Identity,
        Purpose::Challenge,
        Purpose::Device,
        Purpose::Link,
        Purpose::GateList,
    ];

    const fn label(self) -> &'static str {
        match self {
            Purpose::Ticket => "podo ticket 1",
            Purpose::Lookup => "podo lookup 1",
            Purpose::Identity => "podo identity 1",
            Purpose::Challenge => "podo challenge 1",
            Purpose::Device => "podo device 1",
            Purpose::Link => "podo link 1",
            Purpose::GateList => "podo gate list 1",
        }
    }
}

pub struct Keyring {
    tokens: TokenKeys,
    /// One key per purpose. Boxed, because a key takes about a thousand bytes and the context that
    /// owns it is moved.
    codes: Box<[hmac::Key; Purpose::ALL.len()]>,
    sessions: [u8; 32],
    fields: FieldKeys,
}

const NONCE_BYTES: usize = 12;

impl Keyring {
    pub fn new(master: &[u8; 32]) -> Keyring {
        let code_key = |purpose| hmac::Key::new(hmac::HMAC_SHA256, &derive(master, purpose));
        Keyring {
            tokens: TokenKeys::new(&token_secret(master), None),
            codes: Box::new(Purpose::ALL.map(|purpose| code_key(purpose.label()))),
            sessions: derive(master, "podo sessions 1"),
            fields: FieldKeys::new(master, None, None),
        }
    }

    /// The same with other keys for place and entry tokens.
    pub fn with_token_keys(self, tokens: TokenKeys) -> Keyring {
        Keyring { tokens, ..self }
    }

    /// The same with other keys for encrypted fields.
    pub fn with_field_keys(self, fields: FieldKeys) -> Keyring {
        Keyring { fields, ..self }
    }

    /// The keys of place and entry tokens.
    pub fn tokens(&self) -> &TokenKeys {
        &self.tokens
    }

    /// The key of access tokens.
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

    /// Compares a prefix of the MAC in constant time.
    pub fn is_code(&self, purpose: Purpose, bytes: &[u8], code: &[u8]) -> bool {
        let expected = self.code(purpose, bytes);
        let Some(expected) = expected.get(..code.len()) else { return false };
        aws_lc_rs::constant_time::verify_slices_are_equal(expected, code).is_ok()
    }

    /// A keyed hash, to find a personal value without storing it in clear.
    pub fn lookup(&self, field: &str, value: &str) -> [u8; 32] {
        self.code(Purpose::Lookup, &labelled(field, value.as_bytes()))
    }

    /// Encrypts a personal field. `place` (table, column, row) is the associated data, so a
    /// ciphertext that is moved to another row doesn't decrypt.
    pub fn encrypt(&self, place: &str, value: &str, rng: &dyn Rng) -> Vec<u8> {
        let mut nonce = [0; NONCE_BYTES];
        rng.fill(&mut nonce);
        let mut encrypted = value.as_bytes().to_vec();
        let current = self.fields.current();
        current
            .key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(place.as_bytes()),
                &mut encrypted,
            )
            .expect("a field is far shorter than the limit of AES-GCM");
        [&[current.number][..], &nonce, &encrypted].concat()
    }

    /// Whether the current key encrypted it.
    pub fn is_current(&self, encrypted: &[u8]) -> bool {
        encrypted.first() == Some(&self.fields.current().number)
    }

    pub fn decrypt(&self, place: &str, encrypted: &[u8]) -> Result<String> {
        let broken = || Error::Broken(format!("{place} cannot be decrypted"));
        let (number, rest) = encrypted.split_first().ok_or_else(broken)?;
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

/// The default secret of place and entry tokens.
pub fn token_secret(master: &[u8; 32]) -> [u8; 32] {
    derive(master, "podo tokens 2")
}

pub(crate) fn derive(master: &[u8; 32], purpose: &str) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, master), purpose.as_bytes());
    tag.as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
}

/// The length prefix distinguishes `("ab", "c")` from `("a", "bc")`.
fn labelled(label: &str, value: &[u8]) -> Vec<u8> {
    let mut bytes = (label.len() as u64).to_be_bytes().to_vec();
    bytes.extend(label.as_bytes());
    bytes.extend(value);
    bytes
}

/// SHA-256, for fingerprints and for secrets that are already long and random.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 gives 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Rng for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            (0..).zip(bytes).for_each(|(index, byte)| *byte = index);
        }
    }

    #[test]
    fn an_encrypted_field_decrypts_only_where_it_belongs() {
        let keyring = Keyring::new(&[7; 32]);
        let encrypted = keyring.encrypt("users.name.1", "김포도", &Counting);
        assert_eq!(keyring.decrypt("users.name.1", &encrypted).unwrap(), "김포도");
        assert!(keyring.decrypt("users.name.2", &encrypted).is_err());
        assert!(Keyring::new(&[8; 32]).decrypt("users.name.1", &encrypted).is_err());
    }

    #[test]
    fn a_field_is_encrypted_with_the_new_key_and_decrypted_with_the_old() {
        let master = [7; 32];
        let keys = |current, previous| FieldKeys::new(&master, current, previous);
        let keyring = |keys| Keyring::new(&master).with_field_keys(keys);
        let (own, first) = (keyring(keys(None, None)), keyring(keys(Some(&[1; 32]), None)));
        let second = keyring(keys(Some(&[2; 32]), Some(&[1; 32])));
        let place = "users.name.1";
        let by_own = own.encrypt(place, "김포도", &Counting);
        let by_first = first.encrypt(place, "김포도", &Counting);
        assert!(own.is_current(&by_own) && !first.is_current(&by_own));
        assert_eq!(first.decrypt(place, &by_own).unwrap(), "김포도");
        assert_eq!(second.decrypt(place, &by_own).unwrap(), "김포도");
        assert_eq!(second.decrypt(place, &by_first).unwrap(), "김포도");
        assert!(own.decrypt(place, &by_first).is_err());
        let forgotten = keyring(keys(Some(&[2; 32]), None));
        assert!(forgotten.decrypt(place, &by_first).is_err());
        assert!(keys(Some(&[1; 32]), Some(&[1; 32])).are_alike());
    }

    #[test]
    fn a_damaged_field_does_not_decrypt() {
        let keyring = Keyring::new(&[7; 32]);
        let encrypted = keyring.encrypt("users.name.1", "김포도", &Counting);
        for index in 0..encrypted.len() {
            let mut damaged = encrypted.clone();
            damaged[index] ^= 1;
            assert!(keyring.decrypt("users.name.1", &damaged).is_err(), "byte {index}");
        }
        assert!(keyring.decrypt("users.name.1", &[]).is_err());
    }

    #[test]
    fn a_code_counts_for_its_purpose_only() {
        let keyring = Keyring::new(&[7; 32]);
        let code = keyring.code(Purpose::Ticket, b"1");
        assert!(keyring.is_code(Purpose::Ticket, b"1", &code));
        assert!(!keyring.is_code(Purpose::Lookup, b"1", &code));
        assert!(!keyring.is_code(Purpose::Ticket, b"2", &code));
        assert!(!keyring.is_code(Purpose::Ticket, b"1", &[0; 64]));
    }
}

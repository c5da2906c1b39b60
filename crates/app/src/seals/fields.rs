//! The keys of sealed fields. Each has a number, which stands in front of what it sealed, so that
//! keys can be changed while the platform runs.

use super::derive;
use aws_lc_rs::aead::{AES_256_GCM, LessSafeKey, UnboundKey};

/// The number of the key that comes from the master secret.
const OWN: u8 = 1;

pub(super) struct FieldKey {
    pub(super) number: u8,
    pub(super) key: LessSafeKey,
}

impl FieldKey {
    fn new(number: u8, bytes: &[u8; 32]) -> FieldKey {
        let key = UnboundKey::new(&AES_256_GCM, bytes)
            .expect("a derived key has the length of an AES-256 key");
        FieldKey { number, key: LessSafeKey::new(key) }
    }

    /// The number is made from the secret, so that every node gives it the same.
    fn from_secret(secret: &[u8; 32]) -> FieldKey {
        let number = derive(secret, "podo field key number")[0] | 0x80;
        FieldKey::new(number, &derive(secret, "podo fields 1"))
    }
}

/// One key seals; it and older ones open.
pub struct FieldKeys {
    current: Box<FieldKey>,
    older: Vec<FieldKey>,
}

impl FieldKeys {
    /// The key of the master secret opens in any case; with another it seals no more.
    pub fn new(
        master: &[u8; 32],
        current: Option<&[u8; 32]>,
        previous: Option<&[u8; 32]>,
    ) -> FieldKeys {
        let own = FieldKey::new(OWN, &derive(master, "podo fields 1"));
        let previous = previous.map(FieldKey::from_secret);
        match current.map(FieldKey::from_secret) {
            None => FieldKeys { current: Box::new(own), older: previous.into_iter().collect() },
            Some(current) => FieldKeys {
                current: Box::new(current),
                older: [own].into_iter().chain(previous).collect(),
            },
        }
    }

    /// Two secrets whose keys have one number. Then another secret has to be chosen.
    pub fn are_alike(&self) -> bool {
        self.older.iter().any(|key| key.number == self.current.number)
    }

    pub(super) fn current(&self) -> &FieldKey {
        &self.current
    }

    pub(super) fn numbered(&self, number: u8) -> Option<&FieldKey> {
        let all = [&*self.current].into_iter().chain(&self.older);
        all.into_iter().find(|key| key.number == number)
    }
}

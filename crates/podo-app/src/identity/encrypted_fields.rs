//! The keys of encrypted fields. Each key has a number that prefixes its ciphertexts, so that keys
//! can be rotated while the platform runs.

use crate::identity::keyring::derive;
use aws_lc_rs::aead::{AES_256_GCM, LessSafeKey, UnboundKey};

/// The number of the key derived from the master secret.
const OWN: u8 = 1;

pub(crate) struct FieldKey {
    pub(crate) number: u8,
    pub(crate) key: LessSafeKey,
}

impl FieldKey {
    fn new(number: u8, bytes: &[u8; 32]) -> FieldKey {
        let key = UnboundKey::new(&AES_256_GCM, bytes)
            .expect("a derived key has the length of an AES-256 key");
        FieldKey { number, key: LessSafeKey::new(key) }
    }

    /// Derived from the secret, so that every node uses the same number.
    fn from_secret(secret: &[u8; 32]) -> FieldKey {
        let number = derive(secret, "podo field key number")[0] | 0x80;
        FieldKey::new(number, &derive(secret, "podo fields 1"))
    }
}

/// The current key encrypts; it and the older ones decrypt.
pub struct FieldKeys {
    current: Box<FieldKey>,
    older: Vec<FieldKey>,
}

impl FieldKeys {
    /// The key of the master secret always decrypts; it encrypts only if there is no other.
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

    /// Whether two keys share a number. Then the operator must choose another secret.
    pub fn are_alike(&self) -> bool {
        self.older.iter().any(|key| key.number == self.current.number)
    }

    pub(crate) fn current(&self) -> &FieldKey {
        &self.current
    }

    pub(crate) fn numbered(&self, number: u8) -> Option<&FieldKey> {
        let all = [&*self.current].into_iter().chain(&self.older);
        all.into_iter().find(|key| key.number == number)
    }
}

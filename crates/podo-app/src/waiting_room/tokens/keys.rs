//! The keys of place and entry tokens. Two can be valid at once, so that key rotation invalidates
//! no place: tokens are issued with the current key and read with either.

use aws_lc_rs::hmac;

/// What a MAC is for. A MAC for one purpose is invalid for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Place,
    Entry,
}

pub(crate) struct TokenKey {
    /// Derived from the secret, so that every node uses the same id.
    pub(crate) id: [u8; 2],
    place: hmac::Key,
    entry: hmac::Key,
}

impl TokenKey {
    fn from_secret(secret: &[u8; 32]) -> TokenKey {
        let parent = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let derived = |label: &str| hmac::sign(&parent, label.as_bytes());
        let id = derived("podo token key id");
        let key = |label| hmac::Key::new(hmac::HMAC_SHA256, derived(label).as_ref());
        TokenKey {
            id: [id.as_ref()[0], id.as_ref()[1]],
            place: key("podo place 2"),
            entry: key("podo entry 2"),
        }
    }

    pub(crate) fn code(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(self.key(purpose), bytes);
        tag.as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
    }

    /// Compares a prefix of the MAC in constant time.
    pub(crate) fn is_code(&self, purpose: Purpose, bytes: &[u8], code: &[u8]) -> bool {
        let expected = self.code(purpose, bytes);
        let Some(expected) = expected.get(..code.len()) else { return false };
        aws_lc_rs::constant_time::verify_slices_are_equal(expected, code).is_ok()
    }

    fn key(&self, purpose: Purpose) -> &hmac::Key {
        match purpose {
            Purpose::Place => &self.place,
            Purpose::Entry => &self.entry,
        }
    }
}

/// Boxed, because a key takes about a thousand bytes and the context that owns it is moved.
pub struct TokenKeys {
    current: Box<TokenKey>,
    previous: Option<Box<TokenKey>>,
}

impl TokenKeys {
    pub fn new(current: &[u8; 32], previous: Option<&[u8; 32]>) -> TokenKeys {
        TokenKeys {
            current: Box::new(TokenKey::from_secret(current)),
            previous: previous.map(|secret| Box::new(TokenKey::from_secret(secret))),
        }
    }

    /// Whether the two secrets share a key id (1 in 65,536). Then the operator must choose another
    /// secret.
    pub fn are_alike(&self) -> bool {
        self.previous.as_ref().is_some_and(|previous| previous.id == self.current.id)
    }

    pub(crate) fn current(&self) -> &TokenKey {
        &self.current
    }

    pub(crate) fn named(&self, id: [u8; 2]) -> Option<&TokenKey> {
        let both = [Some(&*self.current), self.previous.as_deref()];
        both.into_iter().flatten().find(|key| key.id == id)
    }
}

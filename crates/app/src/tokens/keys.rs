//! The keys of place and entry tokens. Two may be alive at once, so that changing them costs nobody
//! a place: tokens are issued with the current one and read with either.

use aws_lc_rs::hmac;

/// What a code is made for. A code for one purpose says nothing for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Place,
    Entry,
}

pub(super) struct TokenKey {
    /// Made from the secret, so that every node gives it the same name.
    pub(super) id: [u8; 2],
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

    pub(super) fn code(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(self.key(purpose), bytes);
        tag.as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
    }

    /// Compares the first bytes of a code in constant time.
    pub(super) fn is_code(&self, purpose: Purpose, bytes: &[u8], code: &[u8]) -> bool {
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

pub struct TokenKeys {
    current: TokenKey,
    previous: Option<TokenKey>,
}

impl TokenKeys {
    pub fn new(current: &[u8; 32], previous: Option<&[u8; 32]>) -> TokenKeys {
        TokenKeys {
            current: TokenKey::from_secret(current),
            previous: previous.map(TokenKey::from_secret),
        }
    }

    /// Two secrets whose keys have one name: one in 65,536. Then another secret has to be chosen.
    pub fn are_alike(&self) -> bool {
        self.previous.as_ref().is_some_and(|previous| previous.id == self.current.id)
    }

    pub(super) fn current(&self) -> &TokenKey {
        &self.current
    }

    pub(super) fn named(&self, id: [u8; 2]) -> Option<&TokenKey> {
        [Some(&self.current), self.previous.as_ref()].into_iter().flatten().find(|key| key.id == id)
    }
}

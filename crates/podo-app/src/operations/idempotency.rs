//! Parses idempotency keys.

use crate::identity::keyring::sha256;
use crate::operations::port::idempotency::IdempotencyKey;
use podo_domain::{Refusal, UserId};

/// The endpoints; each has its own key space.
pub const SELECT: &str = "booking/select";
pub const BEST: &str = "booking/best";
pub const REQUEST: &str = "payment/request";
pub const CONFIRM: &str = "payment/confirm";
pub const PAY_FROM_WALLET: &str = "payment/wallet";
pub const CANCEL: &str = "payment/cancel";
pub const CANCEL_RESERVATION: &str = "booking/cancel";
pub const CHARGE: &str = "wallet/charge";
pub const CONFIRM_CHARGE: &str = "wallet/confirm";
pub const ADJUST: &str = "admin/wallet";
pub const TRANSFER: &str = "ticket/transfer";
pub const ACCEPT: &str = "ticket/accept";
pub const CLAIM: &str = "ticket/claim";
pub const RESALE: &str = "resale/take";
pub const ISSUE: &str = "admin/issue";
pub const RESEAT: &str = "admin/reseat";
pub const ADMIN_REFUND: &str = "admin/refund";
pub const ADMIN_RESOLVE: &str = "admin/resolve";

/// Maximum length of a key.
const KEY_MAX: usize = 200;

/// Reads the `Idempotency-Key` header: a structured-field string or the bare text that most clients
/// send. The same key with another body is another request, so the body's hash is included.
pub fn idempotency_key(
    user: UserId,
    endpoint: &'static str,
    header: Option<&str>,
    body: &[u8],
) -> Result<IdempotencyKey, Refusal> {
    let text = header.ok_or(Refusal::KeyMissing)?.trim();
    let key = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let is_well_formed = (1..=KEY_MAX).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    if !is_well_formed {
        return Err(Refusal::KeyMalformed);
    }
    Ok(IdempotencyKey { user, endpoint, key: key.to_owned(), fingerprint: sha256(body) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn read(header: Option<&str>) -> Result<String, Refusal> {
        idempotency_key(UserId::new(Uuid::nil()), "x", header, b"").map(|use_| use_.key)
    }

    #[test]
    fn a_key_may_be_quoted_or_bare() {
        assert_eq!(read(Some("abc-1")), Ok("abc-1".into()));
        assert_eq!(read(Some("\"abc-1\"")), Ok("abc-1".into()));
    }

    #[test]
    fn a_missing_or_odd_key_is_refused() {
        assert_eq!(read(None), Err(Refusal::KeyMissing));
        for odd in ["", "\"\"", "a b", "ü", "a\"b"] {
            assert_eq!(read(Some(odd)), Err(Refusal::KeyMalformed), "{odd}");
        }
        assert_eq!(read(Some(&"k".repeat(201))), Err(Refusal::KeyMalformed));
    }
}

//! Standard Webhooks: verifies a delivery's signature and timestamp.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use podo_app::payments::port::gateway::Delivery;
use podo_domain::Refusal;

/// The tolerated clock skew, both ways.
const TOLERANCE_S: i64 = 5 * 60;

/// Checks the signature over the raw body and returns the event's id. `secrets` are `whsec_…`: two
/// during a rotation.
pub(super) fn verify<'d>(
    secrets: &[String],
    delivery: &'d Delivery<'_>,
) -> Result<&'d str, Refusal> {
    let id = only(delivery, "webhook-id")?;
    let stamp = only(delivery, "webhook-timestamp")?;
    let signatures = only(delivery, "webhook-signature")?;
    let sent_s: i64 = stamp.parse().map_err(|_error| Refusal::WebhookInvalid)?;
    if (delivery.now.ms() / 1_000).abs_diff(sent_s) > TOLERANCE_S.unsigned_abs() {
        return Err(Refusal::WebhookInvalid);
    }
    let content = [format!("{id}.{stamp}.").as_bytes(), delivery.body].concat();
    let is_ours = |signature: &str| {
        let given = signature.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        given.is_some_and(|given| secrets.iter().any(|secret| matches(secret, &content, &given)))
    };
    if signatures.split(' ').any(is_ours) { Ok(id) } else { Err(Refusal::WebhookInvalid) }
}

/// In constant time.
fn matches(secret: &str, content: &[u8], given: &[u8]) -> bool {
    let secret = secret.strip_prefix("whsec_").unwrap_or(secret);
    let Ok(key) = STANDARD.decode(secret) else { return false };
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), content, given).is_ok()
}

/// A header that occurs exactly once.
fn only<'d>(delivery: &'d Delivery<'_>, name: &str) -> Result<&'d str, Refusal> {
    let mut found = delivery.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Ok(value),
        _ => Err(Refusal::WebhookInvalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_domain::Timestamp;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    /// The example of the Standard Webhooks libraries.
    fn headers() -> Vec<(String, String)> {
        [
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    fn check(headers: &[(String, String)], body: &[u8], seconds: i64) -> bool {
        let now = Timestamp::from_ms(seconds * 1_000);
        verify(&[SECRET.to_owned()], &Delivery { headers, body, now }).is_ok()
    }

    #[test]
    fn the_example_of_the_standard_is_accepted() {
        assert!(check(&headers(), BODY, 1_614_265_330));
        assert!(check(&headers(), BODY, 1_614_265_330 + 300));
    }

    #[test]
    fn anything_else_is_forged() {
        assert!(!check(&headers(), br#"{"test": 2432232315}"#, 1_614_265_330), "body");
        assert!(!check(&headers(), BODY, 1_614_265_330 + 301), "too old");
        assert!(!check(&headers(), BODY, 1_614_265_330 - 301), "too new");
        assert!(!check(&headers()[..2], BODY, 1_614_265_330), "no signature");
        let twice = [headers(), headers()].concat();
        assert!(!check(&twice, BODY, 1_614_265_330), "each header twice");
    }
}

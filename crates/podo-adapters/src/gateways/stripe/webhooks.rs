//! `Stripe-Signature: t=SECONDS,v1=HEX`: the HMAC-SHA256 of `SECONDS.BODY` under the endpoint's secret.

use aws_lc_rs::hmac;
use podo_app::payments::port::gateway::Delivery;
use podo_domain::Refusal;

/// The tolerated clock skew, both ways.
const TOLERANCE_S: u64 = 5 * 60;

/// `secrets` are `whsec_…`: two during a rotation. The header may have several signatures then, too.
pub(super) fn verify(secrets: &[String], delivery: &Delivery<'_>) -> Result<(), Refusal> {
    let is_ours = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("stripe-signature");
    let mut found = delivery.headers.iter().filter(is_ours);
    let (Some((_, header)), None) = (found.next(), found.next()) else {
        return Err(Refusal::WebhookInvalid);
    };
    let parts: Vec<(&str, &str)> =
        header.split(',').filter_map(|part| part.trim().split_once('=')).collect();
    let of = |wanted: &'static str| {
        parts.iter().filter(move |(name, _)| *name == wanted).map(|(_, value)| *value)
    };
    let stamp = of("t").next().ok_or(Refusal::WebhookInvalid)?;
    let sent_s: i64 = stamp.parse().map_err(|_error| Refusal::WebhookInvalid)?;
    if TOLERANCE_S < (delivery.now.ms() / 1_000).abs_diff(sent_s) {
        return Err(Refusal::WebhookInvalid);
    }
    let content = [format!("{stamp}.").as_bytes(), delivery.body].concat();
    let is_signed = |given: Vec<u8>| secrets.iter().any(|it| matches(it, &content, &given));
    match of("v1").filter_map(bytes).any(is_signed) {
        true => Ok(()),
        false => Err(Refusal::WebhookInvalid),
    }
}

/// In constant time.
fn matches(secret: &str, content: &[u8], given: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    !secret.is_empty() && hmac::verify(&key, content, given).is_ok()
}

/// Hex digits as bytes.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

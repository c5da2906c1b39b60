//! ID tokens: checks issuer, audience, nonce, signature and expiry.

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use podo_app::identity::port::social::SocialPerson;
use podo_domain::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// The tolerated clock skew.
const LEEWAY_S: i64 = 60;

/// Only these, so that a token can't choose a weaker algorithm.
const ALGORITHMS: [Algorithm; 2] = [Algorithm::RS256, Algorithm::ES256];

/// The expected claims.
pub(crate) struct Expected<'e> {
    pub(crate) issuer: &'e str,
    pub(crate) audience: &'e str,
    pub(crate) nonce: &'e str,
    pub(crate) now: Timestamp,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: i64,
    iat: i64,
    nonce: String,
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    email: Option<String>,
    /// A boolean, or its text. Absent means that the address is unverified.
    #[serde(default)]
    email_verified: Value,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    nickname: Option<String>,
}

/// The id of the signing key.
pub(crate) fn key_id(token: &str) -> Option<String> {
    jsonwebtoken::decode_header(token).ok()?.kid
}

/// A person, as a token describes them.
pub(crate) struct IdentifiedPerson {
    /// With the address, verified or not.
    pub(crate) person: SocialPerson,
    /// Whether the token says that the address is verified.
    pub(crate) is_verified: bool,
}

/// Whether a claim is true.
pub(crate) fn is_true(claim: &Value) -> bool {
    claim.as_bool() == Some(true) || claim.as_str() == Some("true")
}

/// The person, or why the token is invalid.
pub(crate) fn read(
    token: &str,
    keys: &JwkSet,
    expected: &Expected<'_>,
) -> Result<IdentifiedPerson, &'static str> {
    let header = jsonwebtoken::decode_header(token).map_err(|_error| "no header")?;
    let kid = header.kid.ok_or("no key id")?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err("unsupported algorithm");
    }
    let key = keys.find(&kid).ok_or("unknown key")?;
    let key = DecodingKey::from_jwk(key).map_err(|_error| "unusable key")?;
    let mut validation = Validation::new(header.alg);
    validation.set_issuer(&[expected.issuer]);
    validation.set_audience(&[expected.audience]);
    validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
    // Checked below, against the request's `now`.
    validation.validate_exp = false;
    let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation);
    let claims = claims.map_err(|_error| "bad signature, issuer or audience")?.claims;
    check(&claims, expected)?;
    let is_verified = is_true(&claims.email_verified);
    let name = claims.name.or(claims.nickname);
    let person = SocialPerson { subject: claims.sub, email: claims.email, name };
    Ok(IdentifiedPerson { person, is_verified })
}

fn check(claims: &Claims, expected: &Expected<'_>) -> Result<(), &'static str> {
    let now = expected.now.ms().div_euclid(1_000);
    if claims.exp + LEEWAY_S <= now {
        return Err("expired");
    }
    if now + LEEWAY_S < claims.iat {
        return Err("issued in the future");
    }
    if claims.nonce != expected.nonce {
        return Err("wrong nonce");
    }
    if claims.azp.as_deref().is_some_and(|party| party != expected.audience) {
        return Err("wrong authorized party");
    }
    if claims.sub.is_empty() || claims.sub.len() > 255 {
        return Err("no subject");
    }
    Ok(())
}

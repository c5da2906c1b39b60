//! ID tokens: whose they are, for whom, about what, until when. Everything is checked.

use app::ports::social::SocialPerson;
use domain::Timestamp;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::Value;

/// How far the service's clock may be from ours.
const LEEWAY_S: i64 = 60;

/// Only these: a token must not choose a weaker way to be checked.
const ALGORITHMS: [Algorithm; 2] = [Algorithm::RS256, Algorithm::ES256];

/// What the token must say.
pub(super) struct Expected<'e> {
    pub(super) issuer: &'e str,
    pub(super) audience: &'e str,
    pub(super) nonce: &'e str,
    pub(super) now: Timestamp,
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
    /// A truth, or its name as text. Left out, nobody vouches for the address.
    #[serde(default)]
    email_verified: Value,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    nickname: Option<String>,
}

/// The name of the key that signed it.
pub(super) fn key_id(token: &str) -> Option<String> {
    jsonwebtoken::decode_header(token).ok()?.kid
}

/// What a token says of a person.
pub(super) struct Said {
    /// With the address, whoever vouches for it.
    pub(super) person: SocialPerson,
    /// Whether the token vouches for the address.
    pub(super) is_verified: bool,
}

/// Whether a claim says yes.
pub(super) fn is_true(claim: &Value) -> bool {
    claim.as_bool() == Some(true) || claim.as_str() == Some("true")
}

/// Who it is about, or why it is not believed.
pub(super) fn read(
    token: &str,
    keys: &JwkSet,
    expected: &Expected<'_>,
) -> Result<Said, &'static str> {
    let header = jsonwebtoken::decode_header(token).map_err(|_error| "no header")?;
    let kid = header.kid.ok_or("no key id")?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err("another algorithm");
    }
    let key = keys.find(&kid).ok_or("unknown key")?;
    let key = DecodingKey::from_jwk(key).map_err(|_error| "unusable key")?;
    let mut validation = Validation::new(header.alg);
    validation.set_issuer(&[expected.issuer]);
    validation.set_audience(&[expected.audience]);
    validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
    // Compared below, with the request's own `now`.
    validation.validate_exp = false;
    let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation);
    let claims = claims.map_err(|_error| "forged, or for somebody else")?.claims;
    check(&claims, expected)?;
    let is_verified = is_true(&claims.email_verified);
    let name = claims.name.or(claims.nickname);
    let person = SocialPerson { subject: claims.sub, email: claims.email, name };
    Ok(Said { person, is_verified })
}

fn check(claims: &Claims, expected: &Expected<'_>) -> Result<(), &'static str> {
    let now = expected.now.ms().div_euclid(1_000);
    if claims.exp + LEEWAY_S <= now {
        return Err("too old");
    }
    if now + LEEWAY_S < claims.iat {
        return Err("from the future");
    }
    if claims.nonce != expected.nonce {
        return Err("an answer to another question");
    }
    if claims.azp.as_deref().is_some_and(|party| party != expected.audience) {
        return Err("for another party");
    }
    if claims.sub.is_empty() || claims.sub.len() > 255 {
        return Err("about nobody");
    }
    Ok(())
}

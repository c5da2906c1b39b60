//! Access tokens: they identify the caller for an hour and are checked without the store.

use crate::identity::keyring::Keyring;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use podo_domain::identity::{ACCESS_TOKEN_LENGTH, Role};
use podo_domain::{SessionId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

const ISSUER: &str = "podo";
const AUDIENCE: &str = "podo-api";
const TOKEN_TYPE: &str = "at+jwt";

/// Our claims and their MAC are shorter than this.
const CLAIMS_BYTES_MAX: usize = 512;
const CODE_BYTES: usize = 32;

/// How far the clock of the issuing node may be ahead of this one's.
const CLOCKS_DIFFER_S: i64 = 5;

/// A logged-in person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user: UserId,
    pub session: SessionId,
    pub role: Role,
}

#[derive(Serialize, Deserialize)]
struct Claims<'t> {
    iss: &'t str,
    aud: &'t str,
    sub: UserId,
    sid: SessionId,
    role: Role,
    jti: &'t str,
    iat: i64,
    nbf: i64,
    exp: i64,
}

/// Issues and verifies access tokens (HS256, because only this platform verifies them).
pub struct Sessions {
    header: Header,
    encoding: EncodingKey,
    /// The start of every token we issue: the header and a dot. The bearer must not choose type or
    /// algorithm, so no other header is parsed at all.
    start: String,
    /// Boxed, because a key takes about a thousand bytes and the context that owns it is moved.
    key: Box<hmac::Key>,
}

impl Sessions {
    pub fn new(keyring: &Keyring) -> Sessions {
        let header = Header { typ: Some(TOKEN_TYPE.into()), ..Header::new(Algorithm::HS256) };
        let encoding = EncodingKey::from_secret(keyring.session_key());
        let token = jsonwebtoken::encode(&header, &(), &encoding).expect("unit serializes to JSON");
        let n_start = token.find('.').expect("a token has three parts") + 1;
        let key = Box::new(hmac::Key::new(hmac::HMAC_SHA256, keyring.session_key()));
        Sessions { header, encoding, start: token[..n_start].to_owned(), key }
    }

    pub fn issue(&self, caller: Caller, jti: Uuid, now: Timestamp) -> String {
        self.issue_for(caller, jti, now, ACCESS_TOKEN_LENGTH)
    }

    /// The same with another lifetime.
    pub fn issue_for(&self, caller: Caller, jti: Uuid, now: Timestamp, length: Duration) -> String {
        let seconds = now.ms().div_euclid(1_000);
        let length = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
        let mut name = Uuid::encode_buffer();
        let claims = Claims {
            iss: ISSUER,
            aud: AUDIENCE,
            sub: caller.user,
            sid: caller.session,
            role: caller.role,
            jti: jti.simple().encode_lower(&mut name),
            iat: seconds,
            nbf: seconds,
            exp: seconds + length,
        };
        jsonwebtoken::encode(&self.header, &claims, &self.encoding)
            .expect("strings and numbers serialize to JSON")
    }

    /// The caller, if we issued this token and it hasn't expired. This doesn't use the crate that
    /// issues it, because that parses arbitrary headers and claims, and every request pays for
    /// this.
    pub fn check(&self, token: &str, now: Timestamp) -> Option<Caller> {
        self.check_until(token, now).map(|(caller, _)| caller)
    }

    /// The same, with the expiry of the token.
    pub fn check_until(&self, token: &str, now: Timestamp) -> Option<(Caller, Timestamp)> {
        let (signed, code) = token.rsplit_once('.')?;
        let payload = signed.strip_prefix(&self.start)?;
        let mut given = [0; CODE_BYTES + 1];
        let n_given = URL_SAFE_NO_PAD.decode_slice(code, &mut given).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &given[..n_given]).ok()?;
        let mut bytes = [0; CLAIMS_BYTES_MAX];
        let n_bytes = URL_SAFE_NO_PAD.decode_slice(payload, &mut bytes).ok()?;
        let claims: Claims<'_> = serde_json::from_slice(&bytes[..n_bytes]).ok()?;
        let seconds = now.ms().div_euclid(1_000);
        let is_alive = claims.nbf <= seconds + CLOCKS_DIFFER_S && seconds < claims.exp;
        let is_ours = claims.iss == ISSUER && claims.aud == AUDIENCE;
        let caller = Caller { user: claims.sub, session: claims.sid, role: claims.role };
        let ends_at = Timestamp::from_ms(claims.exp.saturating_mul(1_000));
        (is_ours && is_alive).then_some((caller, ends_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller {
            user: UserId::new(Uuid::from_u128(1)),
            session: SessionId::new(Uuid::from_u128(2)),
            role: Role::User,
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ms(1_700_000_000_000 + seconds * 1_000)
    }

    #[test]
    fn a_token_lives_for_an_hour_to_the_second() {
        let sessions = Sessions::new(&Keyring::new(&[1; 32]));
        let token = sessions.issue(caller(), Uuid::from_u128(3), at(0));
        assert_eq!(sessions.check(&token, at(0)), Some(caller()));
        assert_eq!(sessions.check(&token, at(3_599)), Some(caller()));
        assert_eq!(sessions.check(&token, at(3_600)), None);
        assert_eq!(sessions.check(&token, at(-5)), Some(caller()), "another node's clock");
        assert_eq!(sessions.check(&token, at(-6)), None, "not before it was issued");
    }

    #[test]
    fn a_token_of_another_issuer_or_kind_is_rejected() {
        let ours = Sessions::new(&Keyring::new(&[1; 32]));
        let theirs = Sessions::new(&Keyring::new(&[2; 32]));
        let token = theirs.issue(caller(), Uuid::from_u128(3), at(0));
        assert_eq!(ours.check(&token, at(0)), None);
        assert_eq!(ours.check("", at(0)), None);
        let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.e30.";
        assert_eq!(ours.check(unsigned, at(0)), None);
    }

    /// Other libraries read our tokens and we read theirs: the format is that of RFC 7519.
    #[test]
    fn other_readers_agree_on_what_a_token_says() {
        let (keyring, at_first) = (Keyring::new(&[1; 32]), at(0));
        let sessions = Sessions::new(&keyring);
        let token = sessions.issue(caller(), Uuid::from_u128(3), at_first);
        let mut validation = jsonwebtoken::Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.validate_exp = false;
        let key = jsonwebtoken::DecodingKey::from_secret(keyring.session_key());
        let read = jsonwebtoken::decode::<serde_json::Value>(&token, &key, &validation).unwrap();
        assert_eq!(read.header.typ.as_deref(), Some(TOKEN_TYPE));
        assert_eq!(read.claims["sub"], caller().user.to_string());
        for header in [Header::new(Algorithm::HS512), Header::new(Algorithm::HS256)] {
            let other = jsonwebtoken::encode(&header, &read.claims, &sessions.encoding).unwrap();
            assert_eq!(sessions.check(&other, at_first), None, "{:?}", header.alg);
        }
        let mut claims = read.claims;
        claims["iss"] = "other".into();
        let foreign = jsonwebtoken::encode(&sessions.header, &claims, &sessions.encoding).unwrap();
        assert_eq!(sessions.check(&foreign, at_first), None, "another issuer");
    }
}

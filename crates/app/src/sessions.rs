//! Access tokens: who is asking, for one hour, checked without the store.

use crate::seals::Seals;
use domain::accounts::{ACCESS_TOKEN_LENGTH, Role};
use domain::{SessionId, Timestamp, UserId};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const ISSUER: &str = "podo";
const AUDIENCE: &str = "podo-api";
const TOKEN_TYPE: &str = "at+jwt";

/// How far the clock of the node that issued a token may be ahead of this one's.
const CLOCKS_DIFFER_S: i64 = 5;

/// A person who is logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user: UserId,
    pub session: SessionId,
    pub role: Role,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: UserId,
    sid: SessionId,
    role: Role,
    jti: String,
    iat: i64,
    nbf: i64,
    exp: i64,
}

/// Issues and checks access tokens (HS256: only this platform has to check them).
pub struct Sessions {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl Sessions {
    pub fn new(seals: &Seals) -> Sessions {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp", "nbf"]);
        // Times are compared below, with the request's own `now` and without leeway.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Sessions {
            encoding: EncodingKey::from_secret(seals.session_key()),
            decoding: DecodingKey::from_secret(seals.session_key()),
            validation,
        }
    }

    pub fn issue(&self, caller: Caller, jti: uuid::Uuid, now: Timestamp) -> String {
        self.issue_for(caller, jti, now, ACCESS_TOKEN_LENGTH)
    }

    /// The same for another length.
    pub fn issue_for(
        &self,
        caller: Caller,
        jti: uuid::Uuid,
        now: Timestamp,
        length: Duration,
    ) -> String {
        let seconds = now.ms().div_euclid(1_000);
        let length = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
        let claims = Claims {
            iss: ISSUER.into(),
            aud: AUDIENCE.into(),
            sub: caller.user,
            sid: caller.session,
            role: caller.role,
            jti: jti.simple().to_string(),
            iat: seconds,
            nbf: seconds,
            exp: seconds + length,
        };
        let header = Header { typ: Some(TOKEN_TYPE.into()), ..Header::new(Algorithm::HS256) };
        jsonwebtoken::encode(&header, &claims, &self.encoding)
            .expect("claims of strings and numbers become JSON")
    }

    /// Who this token names, if we issued it and it is alive.
    pub fn check(&self, token: &str, now: Timestamp) -> Option<Caller> {
        let data = jsonwebtoken::decode::<Claims>(token, &self.decoding, &self.validation).ok()?;
        let is_access_token = data.header.typ.as_deref() == Some(TOKEN_TYPE);
        let seconds = now.ms().div_euclid(1_000);
        let claims = data.claims;
        let is_alive = claims.nbf <= seconds + CLOCKS_DIFFER_S && seconds < claims.exp;
        (is_access_token && is_alive).then_some(Caller {
            user: claims.sub,
            session: claims.sid,
            role: claims.role,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

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
        let sessions = Sessions::new(&Seals::new(&[1; 32]));
        let token = sessions.issue(caller(), Uuid::from_u128(3), at(0));
        assert_eq!(sessions.check(&token, at(0)), Some(caller()));
        assert_eq!(sessions.check(&token, at(3_599)), Some(caller()));
        assert_eq!(sessions.check(&token, at(3_600)), None);
        assert_eq!(sessions.check(&token, at(-5)), Some(caller()), "another node's clock");
        assert_eq!(sessions.check(&token, at(-6)), None, "not before it was issued");
    }

    #[test]
    fn a_token_of_another_house_or_kind_is_nobody() {
        let ours = Sessions::new(&Seals::new(&[1; 32]));
        let theirs = Sessions::new(&Seals::new(&[2; 32]));
        let token = theirs.issue(caller(), Uuid::from_u128(3), at(0));
        assert_eq!(ours.check(&token, at(0)), None);
        assert_eq!(ours.check("", at(0)), None);
        let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.e30.";
        assert_eq!(ours.check(unsigned, at(0)), None);
    }
}

//! OpenID Connect with Kakao, Naver and Google: discovery, authorization code with PKCE, and ID
//! tokens verified against the provider's published keys.

use crate::gateways::client::{Client, Sent};
use crate::gateways::protocol::{Call, Content, Reply};
use crate::identity::id_token::{Expected, IdentifiedPerson, is_true};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::JwkSet;
use podo_app::identity::keyring::sha256;
use podo_app::identity::port::social::{Flow, SocialPerson, SocialService};
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::{Error, Result};
use podo_domain::identity::{SocialProvider, VouchesIn};
use podo_domain::{Refusal, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The secret is in plain text, so this has no `Debug`.
pub struct SocialSettings {
    pub provider: SocialProvider,
    pub issuer: String,
    pub client_id: String,
    pub client_secret: String,
    /// The redirect URI registered with the provider.
    pub redirect_uri: String,
}

const PATIENCE: Duration = Duration::from_secs(10);

/// The minimum interval between key requests, so that forged key ids can't trigger a flood of them.
const KEYS_KEPT_FOR: Duration = Duration::from_secs(60);

/// The provider's endpoints.
#[derive(Clone, Debug, Deserialize)]
struct Discovery {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    userinfo_endpoint: Option<String>,
}

/// What a code is exchanged for.
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

#[derive(Clone)]
struct Keys {
    set: Arc<JwkSet>,
    asked_at: Timestamp,
}

pub struct Oidc {
    settings: SocialSettings,
    client: Client,
    clock: Arc<dyn Clock>,
    discovery: Mutex<Option<Discovery>>,
    keys: Mutex<Option<Keys>>,
}

impl Oidc {
    pub fn new(
        settings: SocialSettings,
        rng: Arc<dyn Rng>,
        clock: Arc<dyn Clock>,
    ) -> std::result::Result<Oidc, String> {
        let client = Client::new(settings.provider.slug(), PATIENCE, rng)?;
        let (discovery, keys) = Default::default();
        Ok(Oidc { settings, client, clock, discovery, keys })
    }

    /// Fetched once; discovery documents don't change.
    async fn discovery(&self) -> Result<Discovery> {
        if let Some(known) = lock(&self.discovery).clone() {
            return Ok(known);
        }
        let issuer = self.settings.issuer.trim_end_matches('/');
        let found: Discovery =
            self.get(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if found.issuer != self.settings.issuer {
            return Err(Error::unavailable(format!("{issuer} identifies as {}", found.issuer)));
        }
        *lock(&self.discovery) = Some(found.clone());
        Ok(found)
    }

    /// The provider's keys, fetched again if this key id is unknown.
    async fn keys(&self, kid: &str, now: Timestamp) -> Result<Arc<JwkSet>> {
        let known = lock(&self.keys).clone();
        if let Some(keys) = known {
            let is_young = now < keys.asked_at.plus(KEYS_KEPT_FOR);
            if is_young || keys.set.find(kid).is_some() {
                return Ok(keys.set);
            }
        }
        let url = self.discovery().await?.jwks_uri;
        let set: Arc<JwkSet> = Arc::new(self.get(&url).await?);
        *lock(&self.keys) = Some(Keys { set: set.clone(), asked_at: now });
        Ok(set)
    }

    async fn get<T: for<'de> Deserialize<'de>>(&self, url: &str) -> Result<T> {
        let call = Call {
            url: url.to_owned(),
            headers: Vec::new(),
            body: Content::None,
            may_repeat: true,
        };
        let reply = self.send(&call).await?;
        serde_json::from_str(&reply.text)
            .map_err(|_error| Error::unavailable(format!("{url} returned an invalid answer")))
    }

    async fn send(&self, call: &Call) -> Result<Reply> {
        match self.client.send(call, self.clock.now()).await {
            Sent::Answered(reply) if reply.status < 500 => Ok(reply),
            Sent::Answered(_) | Sent::Lost | Sent::Nowhere => {
                let name = self.settings.provider.slug();
                Err(Error::unavailable(format!("{name} does not answer")))
            }
        }
    }

    /// Exchanges the code.
    async fn tokens(&self, code: &str, verifier: &str) -> Result<Tokens> {
        let SocialSettings { client_id, client_secret, redirect_uri, .. } = &self.settings;
        let form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.to_owned()),
            ("redirect_uri", redirect_uri.clone()),
            ("client_id", client_id.clone()),
            ("client_secret", client_secret.clone()),
            ("code_verifier", verifier.to_owned()),
        ];
        let url = self.discovery().await?.token_endpoint;
        let call = Call { url, headers: Vec::new(), body: Content::Form(form), may_repeat: false };
        let reply = self.send(&call).await?;
        let answer = reply.json();
        let token = |name: &str| answer[name].as_str().map(str::to_owned);
        let id_token = token("id_token").filter(|_| reply.is_ok());
        let id_token = id_token.ok_or(Refusal::SocialFailed)?;
        Ok(Tokens { id_token, access_token: token("access_token") })
    }

    /// Whether the user info endpoint says that this person's address is verified.
    async fn user_info_vouches(&self, tokens: &Tokens, person: &SocialPerson) -> Result<bool> {
        let endpoint = self.discovery().await?.userinfo_endpoint;
        let (Some(url), Some(token)) = (endpoint, &tokens.access_token) else { return Ok(false) };
        let headers = vec![("Authorization", format!("Bearer {token}"))];
        let call = Call { url, headers, body: Content::None, may_repeat: true };
        let reply = self.send(&call).await?;
        let info = reply.json();
        Ok(reply.is_ok() && vouches(&info, person))
    }
}

#[async_trait]
impl SocialService for Oidc {
    fn provider(&self) -> SocialProvider {
        self.settings.provider
    }

    async fn page(&self, flow: Flow<'_>) -> Result<String> {
        let start = self.discovery().await?.authorization_endpoint;
        let challenge = URL_SAFE_NO_PAD.encode(sha256(flow.verifier.as_bytes()));
        let mut url = reqwest::Url::parse(&start).map_err(Error::broken)?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &self.settings.redirect_uri)
            .append_pair("scope", "openid email profile")
            .append_pair("state", flow.state)
            .append_pair("nonce", flow.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    async fn person(&self, code: &str, flow: Flow<'_>, now: Timestamp) -> Result<SocialPerson> {
        let tokens = self.tokens(code, flow.verifier).await?;
        let token = &tokens.id_token;
        let kid = crate::identity::id_token::key_id(token).ok_or(Refusal::SocialFailed)?;
        let keys = self.keys(&kid, now).await?;
        let expected = Expected {
            issuer: &self.settings.issuer,
            audience: &self.settings.client_id,
            nonce: flow.nonce,
            now,
        };
        let IdentifiedPerson { person, is_verified } =
            crate::identity::id_token::read(token, &keys, &expected).map_err(|why| {
                let provider = self.settings.provider.slug();
                tracing::warn!(provider, why, "ID token rejected");
                Refusal::SocialFailed
            })?;
        let is_vouched_for = match self.settings.provider.vouches_in() {
            VouchesIn::IdToken => is_verified,
            VouchesIn::UserInfo if person.email.is_none() => false,
            VouchesIn::UserInfo => self.user_info_vouches(&tokens, &person).await?,
            VouchesIn::Nowhere => false,
        };
        Ok(SocialPerson { email: person.email.clone().filter(|_| is_vouched_for), ..person })
    }
}

/// The same person, the same address, and a true flag, under the name of OpenID Connect or of
/// Kakao.
fn vouches(info: &Value, person: &SocialPerson) -> bool {
    let text = |claim: &Value| claim.as_str().map(str::to_owned);
    let account = &info["kakao_account"];
    let id = info["id"].as_i64().map(|id| id.to_string());
    let subject = text(&info["sub"]).or(id);
    let email = text(&info["email"]).or_else(|| text(&account["email"]));
    let is_valid = is_true(&account["is_email_valid"]) && is_true(&account["is_email_verified"]);
    let is_verified = is_true(&info["email_verified"]) || is_valid;
    is_verified && subject.as_ref() == Some(&person.subject) && email == person.email
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_yes_about_this_person_and_this_address_vouches_for_it() {
        let email = Some("fan@podo.kr".to_owned());
        let person = SocialPerson { subject: "42".into(), email, name: None };
        let account = |valid: bool, verified: bool| {
            json!({ "id": 42, "kakao_account": { "email": "fan@podo.kr",
                "is_email_valid": valid, "is_email_verified": verified } })
        };
        let open_id = |sub: &str, email: &str, verified: Value| json!({ "sub": sub, "email": email, "email_verified": verified });
        assert!(vouches(&account(true, true), &person));
        assert!(vouches(&open_id("42", "fan@podo.kr", json!(true)), &person));
        for info in [
            account(true, false),
            account(false, true),
            open_id("42", "fan@podo.kr", json!(false)),
            open_id("42", "fan@podo.kr", Value::Null),
            open_id("42", "other@podo.kr", json!(true)),
            open_id("43", "fan@podo.kr", json!(true)),
            json!({ "email_verified": true }),
            Value::Null,
        ] {
            assert!(!vouches(&info, &person), "{info}");
        }
    }
}

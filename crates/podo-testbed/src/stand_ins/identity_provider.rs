//! A stand-in for Kakao, Naver and Google on loopback: OpenID Connect with discovery, authorization
//! code with PKCE, and ID tokens signed with a published key. It injects the faults that a test
//! requests.

use crate::gateways::protocol::{Reply, StandInRequest, read, write};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use aws_lc_rs::{digest, rand};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Error, Result};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// Faults of the ID tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    None,
    OtherIssuer,
    OtherAudience,
    OtherNonce,
    NoNonce,
    OtherParty,
    TooOld,
    FromTheFuture,
    /// Signed with an unpublished key, under the id of a published one.
    OtherKey,
    UnknownKey,
    /// Unsigned, with `alg: none`.
    Unsigned,
    /// Signed with the public key as a shared secret.
    PublicKeyAsSecret,
    /// Changed after it was signed.
    Changed,
}

impl TokenFault {
    /// All faults; each must be refused.
    pub const ALL: [TokenFault; 12] = [
        TokenFault::OtherIssuer,
        TokenFault::OtherAudience,
        TokenFault::OtherNonce,
        TokenFault::NoNonce,
        TokenFault::OtherParty,
        TokenFault::TooOld,
        TokenFault::FromTheFuture,
        TokenFault::OtherKey,
        TokenFault::UnknownKey,
        TokenFault::Unsigned,
        TokenFault::PublicKeyAsSecret,
        TokenFault::Changed,
    ];
}

pub const CLIENT_ID: &str = "podo-client";
pub const CLIENT_SECRET: &str = "podo-client-secret";
const KEY_ID: &str = "key-1";

struct Accounts {
    issuer: String,
    key: RsaKeyPair,
    other_key: RsaKeyPair,
    /// The person logged in at the service, as claims.
    person: Value,
    fault: TokenFault,
    /// The request behind each unspent code.
    codes: HashMap<String, HashMap<String, String>>,
}

/// It ends with the test's process.
pub struct IdentityProvider {
    address: SocketAddr,
    accounts: Arc<Mutex<Accounts>>,
}

impl IdentityProvider {
    pub fn start() -> Result<IdentityProvider> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let key = || RsaKeyPair::generate(KeySize::Rsa2048).map_err(Error::other);
        let accounts = Arc::new(Mutex::new(Accounts {
            issuer: format!("http://{address}"),
            key: key()?,
            other_key: key()?,
            person: json!({ "sub": "1" }),
            fault: TokenFault::None,
            codes: HashMap::new(),
        }));
        let shared = accounts.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let accounts = shared.clone();
                thread::spawn(move || serve(stream, &accounts));
            }
        });
        Ok(IdentityProvider { address, accounts })
    }

    /// The issuer.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the person logged in at the service: `sub`, `email`, `email_verified`, `name`.
    pub fn log_in(&self, person: Value) {
        lock(&self.accounts).person = person;
    }

    pub fn break_tokens(&self, fault: TokenFault) {
        lock(&self.accounts).fault = fault;
    }
}

fn lock(accounts: &Mutex<Accounts>) -> MutexGuard<'_, Accounts> {
    accounts.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut stream: TcpStream, accounts: &Mutex<Accounts>) {
    // If reading fails, the client has disconnected.
    if let Ok(asked) = read(&stream) {
        let reply = lock(accounts).answer(&asked);
        write(&mut stream, &reply).ok();
    }
}

impl Accounts {
    fn answer(&mut self, asked: &StandInRequest) -> Reply {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        match path {
            "/.well-known/openid-configuration" => Reply::json(200, &self.discovery()),
            "/jwks" => Reply::json(200, &self.keys()),
            "/authorize" => self.authorize(pairs(query)),
            "/token" => self.token(&pairs(&asked.body)),
            "/userinfo" => Reply::json(200, &self.person),
            _ => Reply::json(404, &Value::Null),
        }
    }

    fn discovery(&self) -> Value {
        let at = |path: &str| format!("{}/{path}", self.issuer);
        json!({ "issuer": self.issuer, "authorization_endpoint": at("authorize"),
            "token_endpoint": at("token"), "jwks_uri": at("jwks"),
            "userinfo_endpoint": at("userinfo"),
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"] })
    }

    fn keys(&self) -> Value {
        let public = self.key.public_key();
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({ "keys": [{ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID,
            "n": number(public.modulus().big_endian_without_leading_zero()),
            "e": number(public.exponent().big_endian_without_leading_zero()) }] })
    }

    /// The person consents at once.
    fn authorize(&mut self, asked: HashMap<String, String>) -> Reply {
        let get = |name: &str| asked.get(name).map_or("", String::as_str);
        let is_complete = get("response_type") == "code"
            && get("client_id") == CLIENT_ID
            && get("scope").split(' ').any(|it| it == "openid")
            && get("code_challenge_method") == "S256"
            && !get("code_challenge").is_empty();
        if !is_complete {
            return Reply::json(400, &json!({ "error": "invalid_request" }));
        }
        let code = format!("code-{}", random());
        let to = format!("{}?code={code}&state={}", get("redirect_uri"), get("state"));
        self.codes.insert(code, asked);
        Reply { location: Some(to), ..Reply::json(302, &Value::Null) }
    }

    fn token(&mut self, given: &HashMap<String, String>) -> Reply {
        let get = |name: &str| given.get(name).map_or("", String::as_str);
        let refused = |why: &str| Reply::json(400, &json!({ "error": why }));
        if (get("client_id"), get("client_secret")) != (CLIENT_ID, CLIENT_SECRET) {
            return refused("invalid_client");
        }
        let Some(asked) = self.codes.remove(get("code")) else { return refused("invalid_grant") };
        let digest = digest::digest(&digest::SHA256, get("code_verifier").as_bytes());
        let is_same = asked.get("code_challenge") == Some(&URL_SAFE_NO_PAD.encode(digest))
            && asked.get("redirect_uri").map(String::as_str) == Some(get("redirect_uri"))
            && get("grant_type") == "authorization_code";
        if !is_same {
            return refused("invalid_grant");
        }
        let nonce = asked.get("nonce").map_or("", String::as_str);
        Reply::json(
            200,
            &json!({ "access_token": random(), "token_type": "Bearer", "expires_in": 3600,
                "id_token": self.id_token(nonce) }),
        )
    }

    fn claims(&self, nonce: &str) -> Value {
        let now = seconds_now();
        let mut claims = self.person.clone();
        let mut set = |name: &str, value: Value| claims[name] = value;
        set("iss", json!(self.issuer));
        set("aud", json!(CLIENT_ID));
        set("nonce", json!(nonce));
        set("iat", json!(now));
        set("exp", json!(now + 600));
        match self.fault {
            TokenFault::OtherIssuer => set("iss", json!("https://evil.example")),
            TokenFault::OtherAudience => set("aud", json!("another-client")),
            TokenFault::OtherNonce => set("nonce", json!("another")),
            TokenFault::NoNonce => set("nonce", Value::Null),
            TokenFault::OtherParty => set("azp", json!("another-client")),
            TokenFault::TooOld => set("exp", json!(now - 61)),
            TokenFault::FromTheFuture => set("iat", json!(now + 3_600)),
            TokenFault::None
            | TokenFault::OtherKey
            | TokenFault::UnknownKey
            | TokenFault::Unsigned
            | TokenFault::PublicKeyAsSecret
            | TokenFault::Changed => {}
        }
        claims
    }

    fn id_token(&self, nonce: &str) -> String {
        let (algorithm, key_id) = match self.fault {
            TokenFault::Unsigned => ("none", KEY_ID),
            TokenFault::PublicKeyAsSecret => ("HS256", KEY_ID),
            TokenFault::UnknownKey => ("RS256", "key-9"),
            TokenFault::None
            | TokenFault::OtherIssuer
            | TokenFault::OtherAudience
            | TokenFault::OtherNonce
            | TokenFault::NoNonce
            | TokenFault::OtherParty
            | TokenFault::TooOld
            | TokenFault::FromTheFuture
            | TokenFault::OtherKey
            | TokenFault::Changed => ("RS256", KEY_ID),
        };
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = part(&json!({ "alg": algorithm, "kid": key_id, "typ": "JWT" }));
        let mut claims = self.claims(nonce);
        let signed = format!("{header}.{}", part(&claims));
        let signature = self.signature(signed.as_bytes());
        if self.fault == TokenFault::Changed {
            claims["sub"] = json!("another person");
        }
        format!("{header}.{}.{signature}", part(&claims))
    }

    fn signature(&self, message: &[u8]) -> String {
        let key = match self.fault {
            TokenFault::Unsigned => return String::new(),
            TokenFault::PublicKeyAsSecret => {
                let key = aws_lc_rs::hmac::Key::new(
                    aws_lc_rs::hmac::HMAC_SHA256,
                    self.key.public_key().as_ref(),
                );
                return URL_SAFE_NO_PAD.encode(aws_lc_rs::hmac::sign(&key, message));
            }
            TokenFault::OtherKey | TokenFault::UnknownKey => &self.other_key,
            TokenFault::None
            | TokenFault::OtherIssuer
            | TokenFault::OtherAudience
            | TokenFault::OtherNonce
            | TokenFault::NoNonce
            | TokenFault::OtherParty
            | TokenFault::TooOld
            | TokenFault::FromTheFuture
            | TokenFault::Changed => &self.key,
        };
        let mut signature = vec![0; key.public_modulus_len()];
        let random = rand::SystemRandom::new();
        key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
            .expect("a signature is as long as the modulus");
        URL_SAFE_NO_PAD.encode(signature)
    }
}

#[expect(clippy::disallowed_methods, reason = "another company has a clock of its own")]
fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

fn random() -> String {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).expect("the system has random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The fields of a query or a form.
fn pairs(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = str::from_utf8(&digits).unwrap_or("00");
                u8::from_str_radix(digits, 16).unwrap_or(b'?')
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

//! Forged and altered access tokens: none of them authenticates anyone (Z3).

use crate::support::client::{Api, text};
use crate::support::world::{Plan, World};
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// A forger who even knows our key, so that only the token's content can give them away.
struct Forger {
    key: Vec<u8>,
    header: Value,
    claims: Value,
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// The header in our own order of fields, because it is compared as a whole.
fn head(header: &Value) -> String {
    const FIRST: [&str; 2] = ["typ", "alg"];
    let members = header.as_object().unwrap();
    let first = FIRST.iter().filter_map(|name| members.get_key_value(*name));
    let others = members.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let text: Vec<String> =
        first.chain(others).map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    URL_SAFE_NO_PAD.encode(format!("{{{}}}", text.join(",")))
}

fn sign(algorithm: hmac::Algorithm, key: &[u8], message: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac::sign(&hmac::Key::new(algorithm, key), message.as_bytes()))
}

impl Forger {
    /// Signed like ours.
    fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", head(header), part(claims));
        let signature = sign(hmac::HMAC_SHA256, &self.key, &message);
        format!("{message}.{signature}")
    }

    fn genuine(&self) -> String {
        self.token(&self.header, &self.claims)
    }

    fn with_header(&self, name: &str, value: Value) -> String {
        let mut header = self.header.clone();
        header[name] = value;
        self.token(&header, &self.claims)
    }

    fn with_claim(&self, name: &str, value: Value) -> String {
        let mut claims = self.claims.clone();
        claims[name] = value;
        self.token(&self.header, &claims)
    }

    fn without(&self, name: &str) -> String {
        let mut claims = self.claims.clone();
        claims.as_object_mut().unwrap().remove(name);
        self.token(&self.header, &claims)
    }

    /// Every claim missing, empty, or of another type.
    fn bent_claims(&self) -> Vec<(String, String)> {
        let names = ["iss", "aud", "sub", "sid", "role", "jti", "iat", "nbf", "exp"];
        let missing = names.map(|it| (format!("without {it}"), self.without(it)));
        let null = names.map(|it| (format!("with {it} null"), self.with_claim(it, Value::Null)));
        let now = self.claims["iat"].as_i64().unwrap();
        let wrong = [
            ("iss", json!("evil")),
            ("iss", json!("podo ")),
            ("aud", json!("podo-web")),
            ("aud", json!([])),
            ("sub", json!("admin")),
            ("sub", json!(1)),
            ("sub", json!({ "id": self.claims["sub"] })),
            ("sid", json!("")),
            ("role", json!("ROOT")),
            ("role", json!("user")),
            ("role", json!(["USER", "ADMIN"])),
            ("exp", json!(now)),
            ("exp", json!(now - 1)),
            ("exp", json!(0)),
            ("exp", json!(-1)),
            ("exp", json!("tomorrow")),
            ("exp", json!(1e300)),
            ("nbf", json!(now + 60)),
            ("nbf", json!(i64::MAX)),
            ("nbf", json!("now")),
        ];
        let wrong =
            wrong.map(|(name, value)| (format!("{name} {value}"), self.with_claim(name, value)));
        missing.into_iter().chain(null).chain(wrong).collect()
    }

    /// Other algorithms, types and keys in the header.
    fn bent_headers(&self) -> Vec<(String, String)> {
        let headers = [
            ("typ", json!("JWT")),
            ("typ", json!("at+JWT ")),
            ("typ", Value::Null),
            ("alg", json!("none")),
            ("alg", json!("None")),
            ("alg", json!("HS384")),
            ("alg", json!("RS256")),
            ("alg", json!("ES256")),
            ("alg", json!("EdDSA")),
            ("alg", json!("")),
            ("alg", json!(["HS256"])),
        ];
        let bent = headers
            .map(|(name, value)| (format!("header {name} {value}"), self.with_header(name, value)));
        let other = |algorithm, name: &str| {
            let header = json!({ "alg": name, "typ": "at+jwt" });
            let message = format!("{}.{}", head(&header), part(&self.claims));
            let signature = sign(algorithm, &self.key, &message);
            (format!("really signed with {name}"), format!("{message}.{signature}"))
        };
        let long = [other(hmac::HMAC_SHA384, "HS384"), other(hmac::HMAC_SHA512, "HS512")];
        let keys = [vec![], b"secret".to_vec(), vec![0; 32], self.key[1..].to_vec()];
        let keys = keys.map(|key| {
            let forger = Forger { key, header: self.header.clone(), claims: self.claims.clone() };
            (format!("key of {} bytes", forger.key.len()), forger.genuine())
        });
        // An embedded or referenced key is not ours.
        let brought = [
            ("kid", json!("../../../../dev/null")),
            ("jku", json!("https://evil.example/keys")),
            ("jwk", json!({ "kty": "oct", "k": URL_SAFE_NO_PAD.encode([0; 32]) })),
        ];
        let brought = brought.map(|(name, value)| {
            let mut header = self.header.clone();
            header[name] = value;
            let forger = Forger { key: vec![0; 32], header, claims: self.claims.clone() };
            (format!("brings {name}"), forger.genuine())
        });
        bent.into_iter().chain(long).chain(keys).chain(brought).collect()
    }

    /// A valid token with damaged text.
    fn bent_text(&self) -> Vec<(String, String)> {
        let token = self.genuine();
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, signature] = parts[..] else { panic!("three parts") };
        let bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let other = self.with_claim("role", json!("ADMIN"));
        let other: Vec<&str> = other.split('.').collect();
        let mut flipped = bytes.clone();
        flipped[31] ^= 1;
        let texts = [
            ("no signature", format!("{header}.{claims}.")),
            ("no signature and no dot", format!("{header}.{claims}")),
            ("half a signature", format!("{header}.{claims}.{}", encode(&bytes[..16]))),
            ("a byte less", format!("{header}.{claims}.{}", encode(&bytes[..31]))),
            ("a byte more", format!("{header}.{claims}.{}", encode(&[&bytes[..], &[0]].concat()))),
            ("a bit flipped", format!("{header}.{claims}.{}", encode(&flipped))),
            ("another token's claims", format!("{header}.{}.{signature}", other[1])),
            ("another token's signature", format!("{header}.{claims}.{}", other[2])),
            ("parts swapped", format!("{claims}.{header}.{signature}")),
            ("four parts", format!("{token}.{signature}")),
            ("a dot in front", format!(".{token}")),
            ("padded", format!("{header}.{claims}.{}", URL_SAFE.encode(&bytes))),
            ("quoted", format!("\"{token}\"")),
            ("a part alone", claims.to_owned()),
            ("in another alphabet", format!("{header}.{}.{signature}", STANDARD.encode(claims))),
            ("as an object", json!({ "payload": claims, "signature": signature }).to_string()),
            ("twice", format!("{token}{token}")),
            ("with a space inside", token.replacen('.', ". ", 1)),
            ("empty", String::new()),
        ];
        texts.into_iter().map(|(name, token)| (name.to_owned(), token)).collect()
    }
}

async fn authenticates_no_user(api: &Api, name: &str, token: &str) {
    let answer = api.with_token(token).get("/api/users/me").await;
    assert_eq!(answer.status, 401, "{name}: {}", answer.text);
    answer.refused(401, "LOGIN_REQUIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_token_authenticates_no_user() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let mut fan = world.fan().await;
    let place = text(&fan.enter(&show).await.expect(200), "token");
    fan.wait_inside(&show).await;
    let claims = fan.api.token().split('.').nth(1).unwrap();
    let forger = Forger {
        key: world.context().keyring.session_key().to_vec(),
        header: json!({ "alg": "HS256", "typ": "at+jwt" }),
        claims: serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap(),
    };
    // The control: a correct token signed with the key is accepted.
    fan.api.with_token(&forger.genuine()).get("/api/users/me").await.expect(200);
    let mut forged = [forger.bent_claims(), forger.bent_headers(), forger.bent_text()].concat();
    forged.push(("a place token".to_owned(), place));
    forged.push(("an entry token".to_owned(), fan.api.entry().to_owned()));
    assert!(forged.len() >= 60, "{} forgeries", forged.len());
    for (name, token) in &forged {
        authenticates_no_user(&world.stranger, name, token).await;
    }
}

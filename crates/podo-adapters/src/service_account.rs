//! A Google service account, which signs claims with its private key (RS256).

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::{Value, json};

/// The fields of its JSON file that we use.
#[derive(Deserialize)]
struct File {
    client_email: String,
    private_key: String,
}

pub(crate) struct ServiceAccount {
    pub(crate) email: String,
    key: KeyPair,
}

impl ServiceAccount {
    /// Reads the account's JSON file.
    pub(crate) fn read(text: &str) -> Result<ServiceAccount, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(file.private_key.as_bytes())
            .map_err(|error| format!("private_key: {error}"))?;
        let key = KeyPair::from_pkcs8(key.secret_pkcs8_der())
            .map_err(|error| format!("private_key: {error}"))?;
        Ok(ServiceAccount { email: file.client_email, key })
    }

    /// A JWT with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> Result<String, String> {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({ "alg": "RS256", "typ": "JWT" });
        let text = format!("{}.{}", encode(&header), encode(claims));
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
            .map_err(|_error| "the claim cannot be signed".to_owned())?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

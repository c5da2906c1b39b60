//! AWS Signature Version 4, for requests without a query whose path needs no escaping.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use podo_domain::Timestamp;
use std::fmt::Write;

pub(crate) struct Signer<'s> {
    pub(crate) access_key: &'s str,
    pub(crate) secret_key: &'s str,
    pub(crate) region: &'s str,
    pub(crate) service: &'s str,
}

/// What a signature covers. `headers` are in lower case and sorted, and include `host` and
/// `x-amz-date`.
pub(crate) struct Signed<'s> {
    pub(crate) method: &'s str,
    pub(crate) path: &'s str,
    pub(crate) headers: &'s [(&'s str, &'s str)],
    pub(crate) body: &'s [u8],
}

impl Signed<'_> {
    pub(crate) fn hash(body: &[u8]) -> String {
        hash(body)
    }
}

impl Signer<'_> {
    /// The `Authorization` header.
    pub(crate) fn authorization(&self, request: &Signed<'_>, now: Timestamp) -> String {
        let Signed { method, path, headers, body } = request;
        let mut canonical = format!("{method}\n{path}\n\n");
        for (name, value) in *headers {
            writeln!(canonical, "{name}:{}", value.trim())
                .expect("writing to a string does not fail");
        }
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let signed = names.join(";");
        write!(canonical, "\n{signed}\n{}", hash(body)).expect("writing to a string does not fail");
        let time = amz_date(now);
        let scope = format!("{}/{}/{}/aws4_request", &time[..8], self.region, self.service);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hash(canonical.as_bytes()));
        let signature = hex(&sign(&self.key(&time[..8]), &text));
        let credential = format!("{}/{scope}", self.access_key);
        format!(
            "AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={signed}, \
             Signature={signature}"
        )
    }

    /// The key of one day, region and service.
    fn key(&self, day: &str) -> Vec<u8> {
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [day, self.region, self.service, "aws4_request"] {
            key = sign(&key, part);
        }
        key
    }
}

/// `20150830T123600Z`.
pub(crate) fn amz_date(now: Timestamp) -> String {
    let text = now.to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or_default();
    let digits: String = seconds.chars().filter(|it| *it != '-' && *it != ':').collect();
    format!("{digits}Z")
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hash(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text
}

/// Cases of AWS's own test suite for Signature Version 4.
#[cfg(test)]
mod tests {
    use super::*;

    const HOST: (&str, &str) = ("host", "example.amazonaws.com");
    const DATE: (&str, &str) = ("x-amz-date", "20150830T123600Z");

    fn signature(method: &str, headers: &[(&str, &str)], body: &str) -> String {
        let signer = Signer {
            access_key: "AKIDEXAMPLE",
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            service: "service",
        };
        let now = "2015-08-30T12:36:00Z".parse().unwrap();
        let request = Signed { method, path: "/", headers, body: body.as_bytes() };
        let header = signer.authorization(&request, now);
        assert!(header.contains("Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"));
        header.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    #[test]
    fn get_vanilla() {
        let expected = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
        assert_eq!(signature("GET", &[HOST, DATE], ""), expected);
    }

    #[test]
    fn post_vanilla() {
        let expected = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b";
        assert_eq!(signature("POST", &[HOST, DATE], ""), expected);
    }

    #[test]
    fn post_x_www_form_urlencoded() {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let expected = "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a";
        assert_eq!(signature("POST", &[kind, HOST, DATE], "Param1=value1"), expected);
    }
}

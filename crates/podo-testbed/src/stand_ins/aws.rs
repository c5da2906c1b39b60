//! A stand-in for AWS: the metadata service of an EC2 instance (version 2), STS, and SNS. It checks
//! what the real services check of a caller, and refuses as they do.

use crate::stand_ins::post_box::{PostBox, Received};
use serde_json::json;
use std::io::Result;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The role of the instance.
pub const INSTANCE_ROLE: &str = "podo-instance";

/// The role that a web identity may assume.
pub const CLUSTER_ROLE: &str = "arn:aws:iam::123456789012:role/podo-cluster";

const METADATA_TOKEN: &str = "AQAEAHmetadata==";
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

/// The longest that a metadata token may last, in seconds.
const METADATA_TOKEN_SECONDS_MAX: u32 = 21_600;

pub struct Aws {
    post_box: PostBox,
}

impl Aws {
    /// All credentials that it gives expire at this time (RFC 3339).
    pub fn start(expiration: &str) -> Result<Aws> {
        let (expiration, n_given) = (expiration.to_owned(), AtomicUsize::new(0));
        let answer = move |asked: &Received| {
            // Each time others, so that a test sees which ones are used.
            let number = || n_given.fetch_add(1, Ordering::SeqCst) + 1;
            match (asked.method.as_str(), asked.path.as_str()) {
                ("PUT", "/latest/api/token") => metadata_token(asked),
                ("GET", path) if path.starts_with(ROLES) => {
                    role(asked, &path[ROLES.len()..], &expiration, number)
                }
                ("POST", "/") if asked.body.contains("Action=Publish") => publish(asked),
                ("POST", "/") => assume(asked, &expiration, number),
                _ => (404, String::new()),
            }
        };
        Ok(Aws { post_box: PostBox::start(answer)? })
    }

    pub fn url(&self) -> String {
        self.post_box.url()
    }

    /// Every request, in order of arrival.
    pub fn received(&self) -> Vec<Received> {
        self.post_box.received()
    }
}

fn metadata_token(asked: &Received) -> (u16, String) {
    match asked.header("x-aws-ec2-metadata-token-ttl-seconds").parse::<u32>() {
        Ok(1..=METADATA_TOKEN_SECONDS_MAX) => (200, METADATA_TOKEN.to_owned()),
        _ => (400, String::new()),
    }
}

fn role(
    asked: &Received,
    name: &str,
    expiration: &str,
    number: impl Fn() -> usize,
) -> (u16, String) {
    if asked.header("x-aws-ec2-metadata-token") != METADATA_TOKEN {
        return (401, String::new());
    }
    match name {
        "" => (200, INSTANCE_ROLE.to_owned()),
        INSTANCE_ROLE => {
            let number = number();
            let granted = json!({ "Code": "Success", "LastUpdated": "2026-01-01T00:00:00Z",
                "Type": "AWS-HMAC", "AccessKeyId": format!("ASIAINSTANCE{number}"),
                "SecretAccessKey": "instance/secret+", "Token": format!("instance-token-{number}"),
                "Expiration": expiration });
            (200, granted.to_string())
        }
        _ => (404, String::new()),
    }
}

/// `AssumeRoleWithWebIdentity`. A web identity token names its number, which has to grow: Kubernetes
/// replaces the file, and an old token is expired.
fn assume(asked: &Received, expiration: &str, number: impl Fn() -> usize) -> (u16, String) {
    let field = |name: &str| {
        let mut pairs = asked.body.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    };
    let is_whole = field("Action") == "AssumeRoleWithWebIdentity"
        && field("Version") == "2011-06-15"
        && field("RoleArn") == CLUSTER_ROLE.replace(':', "%3A").replace('/', "%2F")
        && !field("RoleSessionName").is_empty();
    if !is_whole {
        return refused("ValidationError", "the request is not complete");
    }
    let number = number();
    if field("WebIdentityToken") != format!("web-identity-{number}") {
        return refused("ExpiredTokenException", "Token expired");
    }
    let text = format!(
        "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>system:serviceaccount:podo:podo</SubjectFromWebIdentityToken>
    <Audience>sts.amazonaws.com</Audience>
    <AssumedRoleUser>
      <Arn>arn:aws:sts::123456789012:assumed-role/podo-cluster/podo</Arn>
      <AssumedRoleId>AROACLUSTER:podo</AssumedRoleId>
    </AssumedRoleUser>
    <Credentials>
      <SessionToken>cluster-token-{number}</SessionToken>
      <SecretAccessKey>cluster/secret+</SecretAccessKey>
      <Expiration>{expiration}</Expiration>
      <AccessKeyId>ASIACLUSTER{number}</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>c6104cbe</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>"
    );
    (200, text)
}

/// A temporary key needs its session token.
fn publish(asked: &Received) -> (u16, String) {
    let authorization = asked.header("authorization");
    let is_temporary = authorization.contains("Credential=ASIA");
    let is_signed = authorization.starts_with("AWS4-HMAC-SHA256 Credential=")
        && (!is_temporary || authorization.contains("x-amz-security-token"))
        && is_temporary != asked.header("x-amz-security-token").is_empty();
    match is_signed {
        true => (200, "<PublishResponse><MessageId>1</MessageId></PublishResponse>".to_owned()),
        false => (403, refused("InvalidClientTokenId", "The security token is invalid").1),
    }
}

fn refused(code: &str, message: &str) -> (u16, String) {
    let text = format!(
        "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error>
  <Type>Sender</Type><Code>{code}</Code><Message>{message}</Message>
</Error><RequestId>c6104cbe</RequestId></ErrorResponse>"
    );
    (400, text)
}

//! AWS credentials, from the first source that is configured, in the order of AWS's own programs:
//! fixed keys, a profile of the shared files, a web identity token (EKS), the container endpoint (ECS),
//! the instance's role (EC2).

use crate::notify::aws_profile::{AwsProfile, ProfileCredentials};
use crate::notify::http::{Reply, call, client, short};
use podo_domain::Timestamp;
use reqwest::Client;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::Mutex;

/// Credentials are renewed this long before they expire.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// How long a token for the instance's metadata lasts, in seconds.
const METADATA_TOKEN_SECONDS: &str = "21600";

/// Where credentials come from.
pub enum AwsSource {
    Fixed {
        access_key: String,
        secret_key: String,
        session_token: String,
    },
    /// Read again when AWS rejects its keys, which another program may have replaced.
    Profile {
        profile: AwsProfile,
        sts_url: String,
    },
    WebIdentity(WebIdentity),
    Container {
        url: String,
        token: Option<String>,
        token_file: Option<PathBuf>,
    },
    Instance {
        url: String,
    },
}

/// A role that is assumed with the token in a file.
pub struct WebIdentity {
    /// STS.
    pub url: String,
    pub role_arn: String,
    pub session_name: String,
    pub token_file: PathBuf,
}

#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
    /// Empty for fixed keys of a user.
    pub(crate) session_token: String,
    expires_at: Option<Timestamp>,
}

pub(crate) struct CredentialChain {
    source: AwsSource,
    http: Client,
    /// One caller renews while the others wait for it.
    kept: Mutex<Option<Credentials>>,
}

/// The answer of the container and of the instance.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Granted {
    access_key_id: String,
    secret_access_key: String,
    token: String,
    expiration: Timestamp,
}

impl CredentialChain {
    pub(crate) fn open(source: AwsSource) -> Result<CredentialChain, String> {
        Ok(CredentialChain { source, http: client()?, kept: Mutex::new(None) })
    }

    /// Current credentials, or why there are none.
    pub(crate) async fn get(&self, now: Timestamp) -> Result<Credentials, String> {
        let mut kept = self.kept.lock().await;
        let is_current = |it: &Credentials| it.expires_at.is_none_or(|end| now < end.minus(MARGIN));
        if let Some(credentials) = kept.as_ref().filter(|it| is_current(it)) {
            return Ok(credentials.clone());
        }
        let fetched = self.fetch().await?;
        *kept = Some(fetched.clone());
        Ok(fetched)
    }

    /// Forgets credentials that AWS rejected.
    pub(crate) async fn forget(&self) {
        *self.kept.lock().await = None;
    }

    async fn fetch(&self) -> Result<Credentials, String> {
        match &self.source {
            AwsSource::Fixed { access_key, secret_key, session_token } => {
                Ok(fixed(access_key.clone(), secret_key.clone(), session_token.clone()))
            }
            AwsSource::Profile { profile, sts_url } => self.of_profile(profile, sts_url).await,
            AwsSource::WebIdentity(identity) => self.assume(identity).await,
            AwsSource::Container { url, token, token_file } => {
                let from_file = token_file.as_ref().map(read).transpose()?;
                let request = self.http.get(url);
                let request = match from_file.as_ref().or(token.as_ref()) {
                    Some(token) => request.header("authorization", token),
                    None => request,
                };
                granted(&answer(call(request).await)?.text)
            }
            AwsSource::Instance { url } => self.ask_instance(url).await,
        }
    }

    async fn of_profile(&self, profile: &AwsProfile, sts_url: &str) -> Result<Credentials, String> {
        match profile.credentials()? {
            Some(ProfileCredentials::Keys { access_key, secret_key, session_token }) => {
                Ok(fixed(access_key, secret_key, session_token))
            }
            Some(ProfileCredentials::WebIdentity { role_arn, session_name, token_file }) => {
                let session_name = session_name.unwrap_or_else(|| "podo".to_owned());
                let url = sts_url.to_owned();
                self.assume(&WebIdentity { url, role_arn, session_name, token_file }).await
            }
            None => Err(format!("no AWS credentials: the profile {} is gone", profile.name)),
        }
    }

    async fn assume(&self, identity: &WebIdentity) -> Result<Credentials, String> {
        // Kubernetes replaces the file before its token expires.
        let token = read(&identity.token_file)?;
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", identity.role_arn.as_str()),
            ("RoleSessionName", identity.session_name.as_str()),
            ("WebIdentityToken", token.as_str()),
        ];
        let reply = answer(call(self.http.post(&identity.url).form(&form)).await)?;
        assumed(&reply.text)
    }

    /// Version 2 of the metadata service: first a token, then the role, then its credentials.
    async fn ask_instance(&self, url: &str) -> Result<Credentials, String> {
        let request = self.http.put(format!("{url}/latest/api/token"));
        let request =
            request.header("x-aws-ec2-metadata-token-ttl-seconds", METADATA_TOKEN_SECONDS);
        let token = answer(call(request).await)?.text;
        let path = format!("{url}/latest/meta-data/iam/security-credentials/");
        let get = |url: String| self.http.get(url).header("x-aws-ec2-metadata-token", &token);
        let roles = answer(call(get(path.clone())).await)?.text;
        let role = roles.lines().next().unwrap_or_default().trim();
        granted(&answer(call(get(format!("{path}{role}"))).await)?.text)
    }
}

fn fixed(access_key: String, secret_key: String, session_token: String) -> Credentials {
    Credentials { access_key, secret_key, session_token, expires_at: None }
}

fn read(file: &PathBuf) -> Result<String, String> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(text.trim().to_owned())
}

fn answer(
    called: Result<Reply, podo_app::messaging::port::channels::Sent>,
) -> Result<Reply, String> {
    let reply = called.map_err(|_lost| "the credential endpoint does not answer".to_owned())?;
    match reply.status {
        200 => Ok(reply),
        status => Err(format!("no AWS credentials: {status} {}", short(&reply.text))),
    }
}

fn granted(text: &str) -> Result<Credentials, String> {
    let granted: Granted =
        serde_json::from_str(text).map_err(|error| format!("no AWS credentials: {error}"))?;
    Ok(Credentials {
        access_key: granted.access_key_id,
        secret_key: granted.secret_access_key,
        session_token: granted.token,
        expires_at: Some(granted.expiration),
    })
}

/// STS answers in XML; its four values contain no markup.
fn assumed(text: &str) -> Result<Credentials, String> {
    let value = |name: &str| -> Result<String, String> {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let found = text.split_once(&open).and_then(|(_, rest)| rest.split_once(&close));
        let found = found.map(|(value, _)| value.trim().to_owned());
        found.ok_or_else(|| format!("no {name} in the answer of STS"))
    };
    let expiration = value("Expiration")?;
    let expires_at = expiration.parse().map_err(|error| format!("Expiration: {error}"))?;
    Ok(Credentials {
        access_key: value("AccessKeyId")?,
        secret_key: value("SecretAccessKey")?,
        session_token: value("SessionToken")?,
        expires_at: Some(expires_at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_sts_is_read() {
        let text = "<AssumeRoleWithWebIdentityResponse><Credentials>
            <AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>s/1+=</SecretAccessKey>
            <SessionToken>t</SessionToken><Expiration>2026-11-18T12:00:00Z</Expiration>
            </Credentials></AssumeRoleWithWebIdentityResponse>";
        let found = assumed(text).unwrap();
        assert_eq!((found.access_key.as_str(), found.secret_key.as_str()), ("ASIA1", "s/1+="));
        assert_eq!(found.expires_at, Some("2026-11-18T12:00:00Z".parse().unwrap()));
        assert!(assumed("<Error><Code>AccessDenied</Code></Error>").is_err());
    }
}

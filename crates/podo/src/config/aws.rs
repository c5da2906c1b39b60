//! What AWS's own programs read from the environment to find credentials, and where pictures are
//! stored: a folder or a bucket.

use anyhow::{Result, anyhow, bail};
use podo_adapters::images::BucketSettings;
use podo_adapters::notify::{AwsProfile, AwsSource, WebIdentity};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The metadata service of an EC2 instance.
const INSTANCE: &str = "http://169.254.169.254";

/// The credential endpoint of an ECS task.
const CONTAINER: &str = "http://169.254.170.2";

/// Gives the credentials of a role for a token.
const STS: &str = "https://sts.amazonaws.com";

/// Where pictures are stored.
#[derive(Clone, Debug, Deserialize)]
pub struct Media {
    pub media_url: String,
    pub media_access_key: SecretString,
    pub media_secret_key: SecretString,
}

/// A parsed `media_url`.
pub(crate) enum MediaPlace {
    Folder(PathBuf),
    Bucket(BucketSettings),
}

impl Media {
    pub(super) fn check(&self) -> Result<()> {
        let is_set = |key: &SecretString| !key.expose_secret().is_empty();
        if is_set(&self.media_access_key) != is_set(&self.media_secret_key) {
            bail!("media_access_key and media_secret_key: set both or neither");
        }
        match self.media_url.split_once(':') {
            Some(("file", _)) => Ok(()),
            Some(("s3", rest)) => bucket(rest).map(drop),
            Some(_) | None => bail!(
                "media_url: must be file:FOLDER or \
                 s3://BUCKET/PREFIX?region=REGION&endpoint=URL, is `{}`",
                self.media_url
            ),
        }
    }

    /// Whether only this machine has the files.
    pub fn is_local(&self) -> bool {
        self.media_url.starts_with("file:")
    }

    pub(super) fn place(&self, data: &Path, aws: &AwsEnvironment) -> Result<MediaPlace> {
        if let Some(folder) = self.media_url.strip_prefix("file:") {
            return Ok(MediaPlace::Folder(data.join(folder)));
        }
        let named = bucket(self.media_url.trim_start_matches("s3:"))?;
        let (access_key, secret_key) = (&self.media_access_key, &self.media_secret_key);
        let credentials = aws.source(access_key.expose_secret(), secret_key.expose_secret())?;
        let NamedBucket { bucket, prefix, endpoint, region } = named;
        let settings = BucketSettings { bucket, prefix, endpoint, region, credentials };
        Ok(MediaPlace::Bucket(settings))
    }
}

struct NamedBucket {
    bucket: String,
    prefix: String,
    endpoint: String,
    region: String,
}

/// Parses `//BUCKET/PREFIX?region=REGION&endpoint=URL`.
fn bucket(text: &str) -> Result<NamedBucket> {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let path = path.strip_prefix("//").unwrap_or_default().trim_end_matches('/');
    let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
    let is_plain = |text: &str| {
        text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._/".contains(&it))
            && !text.split('/').any(|part| part == "..")
    };
    if bucket.is_empty() || !is_plain(bucket) || !is_plain(prefix) {
        bail!("media_url: bucket and prefix may contain letters, digits and -._ only");
    }
    let (mut endpoint, mut region) = (String::new(), String::new());
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query)?;
    for (name, value) in pairs {
        match name.as_str() {
            "endpoint" if value.starts_with("http://") || value.starts_with("https://") => {
                endpoint = value;
            }
            "region" => region = value,
            _ => bail!("media_url: knows region=REGION and endpoint=http[s]://…, not {name}"),
        }
    }
    if region.is_empty() {
        bail!("media_url: name the region of the bucket: ?region=ap-northeast-2");
    }
    let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    Ok(NamedBucket { bucket: bucket.to_owned(), prefix, endpoint, region })
}

/// The variables, as far as they are set.
#[derive(Clone, Debug, Default)]
pub(super) struct AwsEnvironment {
    access_key: String,
    secret_key: SecretString,
    session_token: SecretString,
    /// Empty for the default one.
    profile: String,
    credentials_file: String,
    config_file: String,
    home: String,
    role_arn: String,
    session_name: String,
    token_file: String,
    relative_uri: String,
    full_uri: String,
    container_token: Option<SecretString>,
    container_token_file: String,
    sts_url: String,
    instance_url: String,
}

impl AwsEnvironment {
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> AwsEnvironment {
        let text = |name: &str| variable(name).unwrap_or_default();
        AwsEnvironment {
            access_key: text("AWS_ACCESS_KEY_ID"),
            secret_key: text("AWS_SECRET_ACCESS_KEY").into(),
            session_token: text("AWS_SESSION_TOKEN").into(),
            profile: text("AWS_PROFILE"),
            credentials_file: text("AWS_SHARED_CREDENTIALS_FILE"),
            config_file: text("AWS_CONFIG_FILE"),
            home: text("HOME"),
            role_arn: text("AWS_ROLE_ARN"),
            session_name: text("AWS_ROLE_SESSION_NAME"),
            token_file: text("AWS_WEB_IDENTITY_TOKEN_FILE"),
            relative_uri: text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
            full_uri: text("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
            container_token: variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(Into::into),
            container_token_file: text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
            sts_url: text("AWS_ENDPOINT_URL_STS"),
            instance_url: text("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
        }
    }

    /// Our own settings first, then the order of AWS's programs. Fails if the chosen profile has no
    /// credentials.
    pub(super) fn source(&self, access_key: &str, secret_key: &str) -> Result<AwsSource> {
        let fixed = |access_key: &str, secret_key: &str, session_token: &str| AwsSource::Fixed {
            access_key: access_key.to_owned(),
            secret_key: secret_key.to_owned(),
            session_token: session_token.to_owned(),
        };
        if !access_key.is_empty() {
            return Ok(fixed(access_key, secret_key, ""));
        }
        if !self.access_key.is_empty() {
            let (secret, token) = (&self.secret_key, &self.session_token);
            return Ok(fixed(&self.access_key, secret.expose_secret(), token.expose_secret()));
        }
        if let Some(profile) = self.profile()? {
            return Ok(AwsSource::Profile { profile, sts_url: or(&self.sts_url, STS) });
        }
        if !self.token_file.is_empty() && !self.role_arn.is_empty() {
            return Ok(AwsSource::WebIdentity(WebIdentity {
                url: or(&self.sts_url, STS),
                role_arn: self.role_arn.clone(),
                session_name: or(&self.session_name, "podo"),
                token_file: PathBuf::from(&self.token_file),
            }));
        }
        Ok(self
            .container()
            .unwrap_or_else(|| AwsSource::Instance { url: or(&self.instance_url, INSTANCE) }))
    }

    /// The profile, if it has credentials. The default profile often has only a region.
    fn profile(&self) -> Result<Option<AwsProfile>> {
        let in_home = |file: &String, name: &str| match file.is_empty() {
            true => PathBuf::from(&self.home).join(".aws").join(name),
            false => PathBuf::from(file),
        };
        let profile = AwsProfile {
            name: or(&self.profile, "default"),
            credentials_file: in_home(&self.credentials_file, "credentials"),
            config_file: in_home(&self.config_file, "config"),
        };
        let has_home = !self.home.is_empty() || !self.credentials_file.is_empty();
        let has_credentials =
            has_home && profile.credentials().map_err(|error| anyhow!("AWS: {error}"))?.is_some();
        if !has_credentials && !self.profile.is_empty() {
            bail!("AWS_PROFILE: the profile {} has no credentials", self.profile);
        }
        Ok(has_credentials.then_some(profile))
    }

    fn container(&self) -> Option<AwsSource> {
        let file = &self.container_token_file;
        let url = match (self.relative_uri.is_empty(), self.full_uri.is_empty()) {
            (false, _) => format!("{CONTAINER}{}", self.relative_uri),
            (true, false) => self.full_uri.clone(),
            (true, true) => return None,
        };
        Some(AwsSource::Container {
            url,
            token: self.container_token.as_ref().map(|it| it.expose_secret().to_owned()),
            token_file: (!file.is_empty()).then(|| PathBuf::from(file)),
        })
    }
}

/// The text, or another if it is empty.
fn or(text: &str, other: &str) -> String {
    match text.is_empty() {
        true => other.to_owned(),
        false => text.trim_end_matches('/').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(variables: &[(&str, &str)], own: &str) -> AwsSource {
        let read = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        AwsEnvironment::read(read).source(own, "secret").unwrap()
    }

    #[test]
    fn sources_are_tried_in_the_order_of_aws() {
        let keys = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "S")];
        let web = [("AWS_ROLE_ARN", "arn"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "/token")];
        let ecs = [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x")];
        let all = [keys.as_slice(), &web, &ecs].concat();
        assert!(
            matches!(source(&all, "own"), AwsSource::Fixed { access_key, .. } if access_key == "own")
        );
        assert!(
            matches!(source(&all, ""), AwsSource::Fixed { access_key, .. } if access_key == "A")
        );
        let later = [web.as_slice(), &ecs].concat();
        assert!(matches!(source(&later, ""), AwsSource::WebIdentity(_)));
        assert!(
            matches!(source(&ecs, ""), AwsSource::Container { url, .. } if url.ends_with("/v2/x"))
        );
        assert!(matches!(source(&[], ""), AwsSource::Instance { url } if url == INSTANCE));
    }

    #[test]
    fn a_bucket_is_named_by_a_url() {
        let named =
            bucket("//posters/podo/live/?region=auto&endpoint=https%3A%2F%2Fs3.kr").unwrap();
        assert_eq!((named.bucket.as_str(), named.prefix.as_str()), ("posters", "podo/live/"));
        assert_eq!((named.region.as_str(), named.endpoint.as_str()), ("auto", "https://s3.kr"));
        for wrong in ["//b", "//?region=r", "//b/../c?region=r", "//b?region=r&x=y", "b?region=r"] {
            assert!(bucket(wrong).is_err(), "{wrong}");
        }
    }

    /// A folder with the shared files.
    fn files(credentials: &str) -> tempfile::TempDir {
        let folder = tempfile::TempDir::with_prefix("podo-aws-").unwrap();
        std::fs::create_dir(folder.path().join(".aws")).unwrap();
        std::fs::write(folder.path().join(".aws/credentials"), credentials).unwrap();
        folder
    }

    #[test]
    fn a_profile_comes_after_the_keys_of_the_environment_and_before_a_web_identity() {
        let folder = files("[default]\naws_access_key_id = A\naws_secret_access_key = S\n");
        let home = [("HOME", folder.path().to_str().unwrap())];
        let web = [("AWS_ROLE_ARN", "arn"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "/token")];
        let both = [home.as_slice(), &web].concat();
        assert!(matches!(source(&both, ""), AwsSource::Profile { .. }));
        let keys = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "S")];
        let all = [both.as_slice(), &keys].concat();
        assert!(matches!(source(&all, ""), AwsSource::Fixed { .. }));
    }

    #[test]
    fn a_default_profile_without_credentials_is_passed_over_and_a_chosen_one_is_not() {
        let folder = files("[default]\nregion = ap-northeast-2\n");
        let home = [("HOME", folder.path().to_str().unwrap())];
        assert!(matches!(source(&home, ""), AwsSource::Instance { .. }));
        let chosen = |name: &str| match name {
            "AWS_PROFILE" => Some("concert".to_owned()),
            "HOME" => Some(folder.path().display().to_string()),
            _ => None,
        };
        let refused = AwsEnvironment::read(chosen).source("", "").err().unwrap();
        assert!(refused.to_string().contains("AWS_PROFILE: the profile concert"), "{refused}");
    }
}

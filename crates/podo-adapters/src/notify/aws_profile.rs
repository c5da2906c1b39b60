//! A profile in the files of AWS's own programs: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Supported are keys, and a role that is assumed with a web identity token. A profile that gets its
//! credentials in another way is refused at the start.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Ways to get credentials that Podo doesn't know.
const UNSUPPORTED: [&str; 5] =
    ["credential_process", "credential_source", "source_profile", "sso_session", "sso_start_url"];

/// Where a profile is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsProfile {
    pub name: String,
    pub credentials_file: PathBuf,
    pub config_file: PathBuf,
}

/// The credentials of a profile.
#[derive(PartialEq, Eq)]
pub enum ProfileCredentials {
    Keys { access_key: String, secret_key: String, session_token: String },
    WebIdentity { role_arn: String, session_name: Option<String>, token_file: PathBuf },
}

impl AwsProfile {
    /// Its credentials; `None` if the files don't have the profile, or it has none.
    pub fn credentials(&self) -> Result<Option<ProfileCredentials>, String> {
        let mut values = section(&read(&self.config_file)?, &self.heading());
        // The file of credentials decides if both have a value.
        values.extend(section(&read(&self.credentials_file)?, &self.name));
        let mut take = |name: &str| values.remove(name).filter(|value| !value.is_empty());
        if let Some(access_key) = take("aws_access_key_id") {
            let secret_key = take("aws_secret_access_key")
                .ok_or_else(|| format!("profile {} has no aws_secret_access_key", self.name))?;
            let session_token = take("aws_session_token").unwrap_or_default();
            return Ok(Some(ProfileCredentials::Keys { access_key, secret_key, session_token }));
        }
        if let (Some(role_arn), Some(file)) = (take("role_arn"), take("web_identity_token_file")) {
            let (session_name, token_file) = (take("role_session_name"), PathBuf::from(file));
            let found = ProfileCredentials::WebIdentity { role_arn, session_name, token_file };
            return Ok(Some(found));
        }
        match UNSUPPORTED.into_iter().find(|name| take(name).is_some()) {
            Some(name) => Err(format!(
                "Podo doesn't support {name} of the profile {}: use keys or web_identity_token_file",
                self.name
            )),
            None => Ok(None),
        }
    }

    /// In the config file every profile but the default one has a prefix.
    fn heading(&self) -> String {
        match self.name.as_str() {
            "default" => "default".to_owned(),
            name => format!("profile {name}"),
        }
    }
}

/// A missing file is an empty one.
fn read(file: &Path) -> Result<String, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("cannot read {}: {error}", file.display())),
    }
}

/// The values under a heading. Indented lines belong to settings of single services.
fn section(text: &str, heading: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut is_inside = false;
    for line in text.lines() {
        let is_comment = line.starts_with(['#', ';']);
        if is_comment || line.starts_with(char::is_whitespace) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            is_inside = name.split_whitespace().eq(heading.split_whitespace());
        } else if let (true, Some((name, value))) = (is_inside, line.split_once('=')) {
            values.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const CREDENTIALS: &str = "# keys\n[default]\naws_access_key_id = AKID1\n\
        aws_secret_access_key=s/1+=\n\n[ concert ]\naws_access_key_id=AKID2\n\
        aws_secret_access_key = s2\naws_session_token = t2\n";
    const CONFIG: &str = "[default]\nregion = ap-northeast-2\ns3 =\n  aws_access_key_id = no\n\
        [profile cluster]\nrole_arn = arn:aws:iam::1:role/podo\n\
        web_identity_token_file = /token\n[profile sso]\nsso_session = company\n\
        [profile empty]\nregion = us-east-1\n[profile half]\naws_access_key_id = AKID3\n";

    fn credentials_of(name: &str) -> Result<Option<ProfileCredentials>, String> {
        let folder = TempDir::with_prefix("podo-aws-").unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (credentials_file, config_file) =
            (file("credentials", CREDENTIALS), file("config", CONFIG));
        AwsProfile { name: name.to_owned(), credentials_file, config_file }.credentials()
    }

    fn keys(access_key: &str, secret_key: &str, session_token: &str) -> ProfileCredentials {
        let own = str::to_owned;
        ProfileCredentials::Keys {
            access_key: own(access_key),
            secret_key: own(secret_key),
            session_token: own(session_token),
        }
    }

    #[test]
    fn a_profile_has_keys_or_a_role_with_a_token() {
        assert!(credentials_of("default") == Ok(Some(keys("AKID1", "s/1+=", ""))));
        assert!(credentials_of("concert") == Ok(Some(keys("AKID2", "s2", "t2"))));
        let role = ProfileCredentials::WebIdentity {
            role_arn: "arn:aws:iam::1:role/podo".to_owned(),
            session_name: None,
            token_file: PathBuf::from("/token"),
        };
        assert!(credentials_of("cluster") == Ok(Some(role)));
        assert!(credentials_of("empty") == Ok(None));
        assert!(credentials_of("unknown") == Ok(None));
    }

    #[test]
    fn a_profile_that_podo_cannot_follow_is_refused_by_name() {
        let error = credentials_of("sso").err().unwrap();
        assert!(error.contains("sso_session of the profile sso"), "{error}");
        let error = credentials_of("half").err().unwrap();
        assert!(error.contains("half has no aws_secret_access_key"), "{error}");
    }

    #[test]
    fn missing_files_have_no_profile() {
        let gone = PathBuf::from("/nowhere/of/podo");
        let profile = AwsProfile {
            name: "default".to_owned(),
            credentials_file: gone.clone(),
            config_file: gone,
        };
        assert!(profile.credentials() == Ok(None));
    }
}

//! What AWS's own programs read from the environment to find credentials.

use podo_adapters::notify::AwsSource;
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;

/// The metadata service of an EC2 instance.
const INSTANCE: &str = "http://169.254.169.254";

/// The credential endpoint of an ECS task.
const CONTAINER: &str = "http://169.254.170.2";

/// The variables, as far as they are set.
#[derive(Clone, Debug, Default)]
pub(super) struct AwsEnvironment {
    access_key: String,
    secret_key: SecretString,
    session_token: SecretString,
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

    /// Our own settings first, then the order of AWS's programs.
    pub(super) fn source(&self, access_key: &str, secret_key: &str) -> AwsSource {
        let fixed = |access_key: &str, secret_key: &str, session_token: &str| AwsSource::Fixed {
            access_key: access_key.to_owned(),
            secret_key: secret_key.to_owned(),
            session_token: session_token.to_owned(),
        };
        let or = |text: &String, other: &str| match text.is_empty() {
            true => other.to_owned(),
            false => text.trim_end_matches('/').to_owned(),
        };
        if !access_key.is_empty() {
            return fixed(access_key, secret_key, "");
        }
        if !self.access_key.is_empty() {
            let (secret, token) = (&self.secret_key, &self.session_token);
            return fixed(&self.access_key, secret.expose_secret(), token.expose_secret());
        }
        if !self.token_file.is_empty() && !self.role_arn.is_empty() {
            return AwsSource::WebIdentity {
                url: or(&self.sts_url, "https://sts.amazonaws.com"),
                role_arn: self.role_arn.clone(),
                session_name: or(&self.session_name, "podo"),
                token_file: PathBuf::from(&self.token_file),
            };
        }
        let file = &self.container_token_file;
        let url = match (self.relative_uri.is_empty(), self.full_uri.is_empty()) {
            (false, _) => format!("{CONTAINER}{}", self.relative_uri),
            (true, false) => self.full_uri.clone(),
            (true, true) => {
                return AwsSource::Instance { url: or(&self.instance_url, INSTANCE) };
            }
        };
        AwsSource::Container {
            url,
            token: self.container_token.as_ref().map(|it| it.expose_secret().to_owned()),
            token_file: (!file.is_empty()).then(|| PathBuf::from(file)),
        }
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
        AwsEnvironment::read(read).source(own, "secret")
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
        assert!(matches!(source(&later, ""), AwsSource::WebIdentity { .. }));
        assert!(
            matches!(source(&ecs, ""), AwsSource::Container { url, .. } if url.ends_with("/v2/x"))
        );
        assert!(matches!(source(&[], ""), AwsSource::Instance { url } if url == INSTANCE));
    }
}

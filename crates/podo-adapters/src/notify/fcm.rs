//! Push through Firebase Cloud Messaging, HTTP v1, as a service account.

use crate::notify::http::{Reply, call, client, short};
use crate::service_account::ServiceAccount;
use async_trait::async_trait;
use podo_app::messaging::port::channels::{Channel, Mail, Sent};
use podo_app::messaging::port::notifications::ChannelKind;
use podo_domain::Timestamp;
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::Mutex;

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// A token is renewed this long before it expires.
const MARGIN: Duration = Duration::from_secs(60);

pub struct FcmSettings {
    pub url: String,
    /// The JSON file of the service account.
    pub account: String,
}

/// What else its JSON file says.
#[derive(Deserialize)]
struct Project {
    project_id: String,
    token_uri: String,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: u64,
}

pub(super) struct Fcm {
    url: String,
    account: ServiceAccount,
    token_uri: String,
    http: Client,
    /// One caller fetches a new token while the others wait for it.
    token: Mutex<Option<(String, Timestamp)>>,
}

impl Fcm {
    pub(super) fn open(settings: FcmSettings) -> Result<Fcm, String> {
        let wrong = |what: String| format!("fcm_account_file: {what}");
        let project: Project =
            serde_json::from_str(&settings.account).map_err(|error| wrong(error.to_string()))?;
        let account = ServiceAccount::read(&settings.account).map_err(wrong)?;
        let home = settings.url.trim_end_matches('/');
        let url = format!("{home}/v1/projects/{}/messages:send", project.project_id);
        let token_uri = project.token_uri;
        Ok(Fcm { url, account, token_uri, http: client()?, token: Mutex::new(None) })
    }

    async fn token(&self, now: Timestamp) -> Result<String, Sent> {
        let mut kept = self.token.lock().await;
        if let Some((token, until)) = kept.as_ref()
            && now < *until
        {
            return Ok(token.clone());
        }
        let assertion = self.assertion(now).map_err(|error| Sent::NotNow { error, after: None })?;
        let form = [("grant_type", GRANT), ("assertion", assertion.as_str())];
        let reply = call(self.http.post(&self.token_uri).form(&form)).await;
        // Nothing was sent yet, whether or not the token arrived.
        let reply = reply.map_err(|_lost| Sent::NotNow {
            error: "the token endpoint does not answer".to_owned(),
            after: None,
        })?;
        let granted: Granted = serde_json::from_str(&reply.text).map_err(|_error| {
            let error = format!("no access token: {} {}", reply.status, short(&reply.text));
            Sent::NotNow { error, after: reply.retry_after }
        })?;
        let until = now.plus(Duration::from_secs(granted.expires_in)).minus(MARGIN);
        *kept = Some((granted.access_token.clone(), until));
        Ok(granted.access_token)
    }

    /// The signed assertion for this account.
    fn assertion(&self, now: Timestamp) -> Result<String, String> {
        let seconds = now.ms() / 1_000;
        self.account.sign(&json!({
            "iss": self.account.email,
            "scope": SCOPE,
            "aud": self.token_uri,
            "iat": seconds,
            "exp": seconds + 3_600,
        }))
    }
}

#[async_trait]
impl Channel for Fcm {
    fn kind(&self) -> ChannelKind {
        ChannelKind::Push
    }

    async fn send(&self, mail: &Mail, now: Timestamp) -> Sent {
        let token = match self.token(now).await {
            Ok(token) => token,
            Err(sent) => return sent,
        };
        let message = json!({ "message": {
            "token": mail.to,
            "notification": { "title": mail.subject, "body": mail.body },
            "data": { "messageId": mail.id },
        } });
        match call(self.http.post(&self.url).bearer_auth(token).json(&message)).await {
            Ok(reply) => {
                if reply.status == 401 {
                    *self.token.lock().await = None;
                }
                meaning(&reply)
            }
            Err(sent) => sent,
        }
    }
}

fn meaning(reply: &Reply) -> Sent {
    let error = format!("FCM answered {}: {}", reply.status, short(&reply.text));
    let body: Value = serde_json::from_str(&reply.text).unwrap_or_default();
    let details = body["error"]["details"].as_array().cloned().unwrap_or_default();
    let code = details.iter().find_map(|detail| detail["errorCode"].as_str());
    match (reply.status, code) {
        (200, _) => Sent::Accepted,
        (_, Some("UNREGISTERED")) | (404, _) => Sent::Gone { error },
        (401 | 403 | 429 | 503, _) => Sent::NotNow { error, after: reply.retry_after },
        (400..=499, _) => Sent::Refused { error },
        _ => Sent::Unknown { error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, code: &str) -> Sent {
        let detail = json!({ "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
            "errorCode": code });
        let text = json!({ "error": { "code": status, "details": [detail] } }).to_string();
        meaning(&Reply { status, retry_after: Some(Duration::from_secs(7)), text })
    }

    #[test]
    fn an_unregistered_device_differs_from_an_exceeded_quota() {
        assert!(matches!(reply(404, "UNREGISTERED"), Sent::Gone { .. }));
        assert!(matches!(reply(400, "INVALID_ARGUMENT"), Sent::Refused { .. }));
        let Sent::NotNow { after, .. } = reply(429, "QUOTA_EXCEEDED") else { panic!() };
        assert_eq!(after, Some(Duration::from_secs(7)));
        assert!(matches!(reply(500, "INTERNAL"), Sent::Unknown { .. }));
    }
}

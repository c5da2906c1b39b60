//! SMS through AWS SNS: one signed form.

use crate::notify::aws_credentials::{AwsSource, CredentialChain};
use crate::notify::http::{Reply, call, client, short};
use crate::notify::sigv4::{Signed, Signer, amz_date};
use podo_app::messaging::port::channels::{Mail, Sent};
use podo_domain::Timestamp;
use reqwest::{Client, Url};

/// The maximum length that SNS accepts in one call.
const TEXT_MAX: usize = 1_600;

const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

pub struct SnsSettings {
    /// Empty for the region's default.
    pub url: String,
    pub region: String,
    pub credentials: AwsSource,
    /// Shown as the sender, where the country allows it.
    pub sender: String,
}

pub(super) struct Sns {
    region: String,
    sender: String,
    credentials: CredentialChain,
    url: Url,
    host: String,
    http: Client,
}

impl Sns {
    pub(super) fn open(settings: SnsSettings) -> Result<Sns, String> {
        let own = format!("https://sns.{}.amazonaws.com/", settings.region);
        let url = if settings.url.is_empty() { own } else { settings.url.clone() };
        let url: Url = url.parse().map_err(|error| format!("sns_url: {error}"))?;
        let name = url.host_str().ok_or("sns_url: names no host")?;
        let host = match url.port() {
            Some(port) => format!("{name}:{port}"),
            None => name.to_owned(),
        };
        let credentials = CredentialChain::open(settings.credentials)?;
        let SnsSettings { region, sender, .. } = settings;
        Ok(Sns { region, sender, credentials, url, host, http: client()? })
    }

    fn form(&self, mail: &Mail) -> String {
        let text: String = mail.body.chars().take(TEXT_MAX).collect();
        let mut fields = vec![
            ("Action", "Publish"),
            ("Version", "2010-03-31"),
            ("PhoneNumber", &mail.to),
            ("Message", &text),
            ("MessageAttributes.entry.1.Name", "AWS.SNS.SMS.SMSType"),
            ("MessageAttributes.entry.1.Value.DataType", "String"),
            ("MessageAttributes.entry.1.Value.StringValue", "Transactional"),
        ];
        if !self.sender.is_empty() {
            fields.extend([
                ("MessageAttributes.entry.2.Name", "AWS.SNS.SMS.SenderID"),
                ("MessageAttributes.entry.2.Value.DataType", "String"),
                ("MessageAttributes.entry.2.Value.StringValue", self.sender.as_str()),
            ]);
        }
        let pair = |(name, value): (&str, &str)| format!("{name}={}", encode(value));
        fields.into_iter().map(pair).collect::<Vec<_>>().join("&")
    }
}

impl Sns {
    pub(super) async fn send(&self, mail: &Mail, now: Timestamp) -> Sent {
        let credentials = match self.credentials.get(now).await {
            Ok(credentials) => credentials,
            Err(error) => return Sent::NotNow { error, after: None },
        };
        let body = self.form(mail);
        let date = amz_date(now);
        let mut headers =
            vec![("content-type", FORM), ("host", self.host.as_str()), ("x-amz-date", &date)];
        let token = credentials.session_token.as_str();
        if !token.is_empty() {
            headers.push(("x-amz-security-token", token));
        }
        let signer = Signer {
            access_key: &credentials.access_key,
            secret_key: &credentials.secret_key,
            region: &self.region,
            service: "sns",
        };
        let request =
            Signed { method: "POST", path: "/", headers: &headers, body: body.as_bytes() };
        let authorization = signer.authorization(&request, now);
        let request = self.http.post(self.url.clone()).header("authorization", authorization);
        // The client sets the host itself.
        let others = headers.iter().filter(|(name, _)| *name != "host");
        let request = others.fold(request, |it, (name, value)| it.header(*name, *value));
        match call(request.body(body)).await {
            Ok(reply) if matches!(reply.status, 401 | 403) => {
                self.credentials.forget().await;
                meaning(&reply)
            }
            Ok(reply) => meaning(&reply),
            Err(sent) => sent,
        }
    }
}

fn meaning(reply: &Reply) -> Sent {
    let error = format!("SNS answered {}: {}", reply.status, short(&reply.text));
    let is_throttled = reply.text.contains("<Code>Thrott");
    match reply.status {
        200 if reply.text.contains("<MessageId>") => Sent::Accepted,
        429 | 503 => Sent::NotNow { error, after: reply.retry_after },
        400..=499 if is_throttled => Sent::NotNow { error, after: reply.retry_after },
        // A skewed clock, or keys that are being rotated: retry the notification.
        401 | 403 => Sent::NotNow { error, after: None },
        400..=499 => Sent::Refused { error },
        _ => Sent::Unknown { error },
    }
}

/// Form encoding, with `%20` for a space.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, text: &str) -> Sent {
        meaning(&Reply { status, retry_after: None, text: text.to_owned() })
    }

    #[test]
    fn text_is_encoded_for_a_form() {
        assert_eq!(encode("+8210 좌석"), "%2B8210%20%EC%A2%8C%EC%84%9D");
    }

    #[test]
    fn only_what_was_certainly_not_taken_is_sent_again() {
        assert_eq!(reply(200, "<MessageId>1</MessageId>"), Sent::Accepted);
        assert!(matches!(reply(400, "<Code>Throttling</Code>"), Sent::NotNow { .. }));
        assert!(matches!(reply(400, "<Code>InvalidParameter</Code>"), Sent::Refused { .. }));
        assert!(matches!(reply(403, "<Code>InvalidSecurity</Code>"), Sent::NotNow { .. }));
        assert!(matches!(reply(500, ""), Sent::Unknown { .. }));
        assert!(matches!(reply(200, "what?"), Sent::Unknown { .. }));
    }
}

//! Kakao Alimtalk through NHN Cloud's KakaoTalk Bizmessage (API v2.3). Kakao delivers only texts
//! that it approved before, so Podo sends the code of a registered template and its fields.

use crate::notify::http::{Reply, call, client, short};
use podo_app::messaging::port::channels::{Mail, Sent};
use podo_app::messaging::templates::Template;
use reqwest::Client;
use serde_json::{Value, json};

/// Longest code of a template at the provider.
pub const TEMPLATE_CODE_MAX: usize = 20;

/// The provider's limit for a text message in place of an undeliverable Alimtalk.
const FALLBACK_MAX: usize = 1_000;

pub struct AlimtalkSettings {
    pub url: String,
    pub app_key: String,
    pub secret_key: String,
    /// The key of the organiser's Kakao channel.
    pub sender_key: String,
    /// Before the name of the template: `P_` makes `P_booking_confirmed`.
    pub template_prefix: String,
    /// The registered number that sends a text message if Kakao can't deliver; empty for none.
    pub fallback_number: String,
}

pub(super) struct Alimtalk {
    settings: AlimtalkSettings,
    url: String,
    http: Client,
}

impl Alimtalk {
    pub(super) fn open(settings: AlimtalkSettings) -> Result<Alimtalk, String> {
        let home = settings.url.trim_end_matches('/');
        let url = format!("{home}/alimtalk/v2.3/appkeys/{}/messages", settings.app_key);
        Ok(Alimtalk { url, settings, http: client()? })
    }

    /// Korean numbers, and notifications with a template.
    pub(super) fn may_send(&self, mail: &Mail) -> bool {
        mail.template.is_some() && domestic(&mail.to).is_some()
    }

    pub(super) async fn send(&self, mail: &Mail) -> Sent {
        let Some(body) = self.body(mail) else {
            return Sent::Refused { error: "not a Korean number, or no template".to_owned() };
        };
        let request = self.http.post(&self.url).header("x-secret-key", &self.settings.secret_key);
        // The provider refuses a second request with this key for ten minutes.
        let request = request.header("x-nc-api-idempotency-key", &mail.id);
        match call(request.json(&body)).await {
            Ok(reply) => meaning(&reply),
            Err(sent) => sent,
        }
    }

    fn body(&self, mail: &Mail) -> Option<Value> {
        let fields: serde_json::Map<String, Value> =
            mail.fields.iter().map(|(name, it)| ((*name).to_owned(), json!(it))).collect();
        let text: String = mail.body.chars().take(FALLBACK_MAX).collect();
        let number = &self.settings.fallback_number;
        let fallback = match number.is_empty() {
            true => json!({ "isResend": false }),
            false => json!({ "isResend": true, "resendType": "LMS", "resendTitle": mail.subject,
                "resendContent": text, "resendSendNo": number }),
        };
        Some(json!({
            "senderKey": self.settings.sender_key,
            "templateCode": code(&self.settings.template_prefix, mail.template?),
            "recipientList": [{
                "recipientNo": domestic(&mail.to)?,
                "templateParameter": fields,
                "resendParameter": fallback,
            }],
        }))
    }
}

/// The code under which the organiser registers a template.
pub fn code(prefix: &str, template: Template) -> String {
    format!("{prefix}{}", template.as_str().replace('-', "_"))
}

/// `01012345678` of `+821012345678`.
fn domestic(number: &str) -> Option<String> {
    let rest = number.strip_prefix("+82")?;
    Some(format!("0{}", rest.trim_start_matches('0')))
}

fn meaning(reply: &Reply) -> Sent {
    let error = format!("Alimtalk answered {}: {}", reply.status, short(&reply.text));
    let body: Value = serde_json::from_str(&reply.text).unwrap_or_default();
    let accepted = body["header"]["isSuccessful"].as_bool();
    let result = body["message"]["sendResults"][0]["resultCode"].as_i64();
    match (reply.status, accepted, result) {
        (200, Some(true), Some(0) | None) => Sent::Accepted,
        // The request was read and refused, as a whole or for its only recipient.
        (200, Some(_), _) => Sent::Refused { error },
        (401 | 403 | 429 | 503, _, _) => Sent::NotNow { error, after: reply.retry_after },
        (400..=499, _, _) => Sent::Refused { error },
        _ => Sent::Unknown { error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &Value) -> Sent {
        meaning(&Reply { status, retry_after: None, text: body.to_string() })
    }

    #[test]
    fn the_manual_lists_every_template() {
        let manual = include_str!("../../../../docs/alimtalk.md");
        for template in Template::ALL {
            let code = code("", template);
            assert!(manual.contains(&format!("`{code}`")), "{code}");
        }
    }

    #[test]
    fn numbers_are_written_as_in_korea() {
        assert_eq!(domestic("+821012345678").as_deref(), Some("01012345678"));
        assert_eq!(domestic("+12025550123"), None);
    }

    #[test]
    fn every_code_fits_with_a_prefix_of_three_letters() {
        for template in Template::ALL {
            assert!(code("P1_", template).len() <= TEMPLATE_CODE_MAX, "{template:?}");
        }
    }

    #[test]
    fn only_an_accepted_recipient_counts_as_sent() {
        let answer = |ok: bool, code: i64| {
            json!({ "header": { "isSuccessful": ok, "resultCode": 0 },
                "message": { "sendResults": [{ "resultCode": code }] } })
        };
        assert_eq!(reply(200, &answer(true, 0)), Sent::Accepted);
        assert!(matches!(reply(200, &answer(true, -1_008)), Sent::Refused { .. }));
        assert!(matches!(reply(200, &answer(false, 0)), Sent::Refused { .. }));
        assert!(matches!(reply(503, &json!({})), Sent::NotNow { .. }));
        assert!(matches!(reply(500, &json!({})), Sent::Unknown { .. }));
    }
}

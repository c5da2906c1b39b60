//! The organiser's server that says who is a member. It is asked with the signature of our webhooks
//! about what the fan typed; only a clear yes makes the fan eligible.

use crate::catalog::phases::members::{MemberIdentifier, MemberKey, confirmed_key};
use crate::catalog::phases::port::{KeyHash, MemberWebhook, SetMemberWebhook};
use crate::context::AppContext;
use crate::error::Result;
use crate::messaging::port::webhook_client::{AnswerLimits, Answered, Post};
use crate::messaging::webhook_endpoints::{EndpointUrl, new_secret, signed};
use podo_domain::catalog::phases::PhaseAudience;
use podo_domain::catalog::text::Line;
use podo_domain::{PhaseId, Refusal, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use utoipa::ToSchema;

/// A fan waits for the answer.
const LIMITS: AnswerLimits = AnswerLimits { within: Duration::from_secs(5), bytes_max: 4 * 1_024 };

/// As organisers see it; the secret is present only when it was just created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWebhookView {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// Sets the address of a phase for members. The first time it creates the secret.
pub async fn set(
    context: &AppContext,
    actor: UserId,
    phase: PhaseId,
    url: EndpointUrl,
) -> Result<MemberWebhookView> {
    context.messaging.webhook_client.check(url.as_str())?;
    let now = context.now();
    if audience_of(context, phase).await? != PhaseAudience::Members {
        return Err(Refusal::InvalidPhase { field: "audience".to_owned() }.into());
    }
    let url = String::from(url);
    let (webhook, secret) = match context.store.member_webhook(phase).await? {
        Some(known) => (MemberWebhook { url, ..known }, None),
        None => {
            let made = new_secret(context);
            let secret = context.keyring.encrypt(&place(phase), &made, &*context.rng);
            (MemberWebhook { phase, url, secret, previous_secret: None }, Some(made))
        }
    };
    let shown = MemberWebhookView { url: webhook.url.clone(), secret };
    context.store.set_member_webhook(SetMemberWebhook { actor, webhook, now }).await?;
    Ok(shown)
}

/// Refuses an unknown phase.
async fn audience_of(context: &AppContext, phase: PhaseId) -> Result<PhaseAudience> {
    let now = context.now();
    let room = context.catalog.schedules.room(&*context.store, phase.room(), now).await?;
    let room = room.ok_or(Refusal::NotFound)?;
    Ok(room.phase().ok_or(Refusal::NotFound)?.terms.audience)
}

/// Creates a new secret. Questions are signed with both until the next rotation.
pub async fn rotate_secret(
    context: &AppContext,
    actor: UserId,
    phase: PhaseId,
) -> Result<MemberWebhookView> {
    audience_of(context, phase).await?;
    let known = context.store.member_webhook(phase).await?;
    let mut webhook = known.ok_or(Refusal::NoMemberWebhook)?;
    let secret = new_secret(context);
    let encrypted = context.keyring.encrypt(&place(phase), &secret, &*context.rng);
    webhook.previous_secret = Some(std::mem::replace(&mut webhook.secret, encrypted));
    let shown = MemberWebhookView { url: webhook.url.clone(), secret: Some(secret) };
    let now = context.now();
    context.store.set_member_webhook(SetMemberWebhook { actor, webhook, now }).await?;
    Ok(shown)
}

/// The list of the phase decides again. Fans who were confirmed stay verified.
pub async fn remove(context: &AppContext, actor: UserId, phase: PhaseId) -> Result<()> {
    context.store.remove_member_webhook(phase, actor, context.now()).await
}

fn place(phase: PhaseId) -> String {
    format!("phase_webhooks.secret.{phase}")
}

/// What the organiser's server answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    eligible: bool,
    #[serde(default)]
    membership_number: Option<Line<100>>,
}

/// The confirmed membership. Whatever isn't a clear answer is refused as `MembershipUnanswered`,
/// so the fan can try again.
pub(crate) async fn ask(
    context: &AppContext,
    webhook: &MemberWebhook,
    key: &MemberKey,
) -> Result<KeyHash> {
    let post = question(context, webhook, key)?;
    let answered = context.messaging.webhook_client.ask(&post, LIMITS).await;
    let answer = read(answered).map_err(|reason| {
        let phase = webhook.phase;
        tracing::warn!(
            phase.id = %phase, reason,
            "The organiser's server didn't say who is a member; check its address and its log"
        );
        Refusal::MembershipUnanswered
    })?;
    if !answer.eligible {
        return Err(Refusal::MemberUnknown.into());
    }
    // With the number, one membership serves one account whichever way the fan names it.
    let number = answer.membership_number.map(MemberIdentifier::Number);
    Ok(confirmed_key(&context.keyring, webhook.phase, number.as_ref().unwrap_or(&key.id)))
}

/// Only what the fan typed: nothing of the account leaves the platform.
fn question(context: &AppContext, webhook: &MemberWebhook, key: &MemberKey) -> Result<Post> {
    let now = context.now();
    let (id, phase) = (context.rng.id(now), webhook.phase);
    let (field, value) = key.id.named();
    let mut data = json!({
        "eventScheduleId": phase.schedule(), "phaseId": phase, "name": key.name.as_str(),
    });
    data[field] = json!(value);
    let body =
        json!({ "version": 1, "id": id, "type": "MembershipAsked", "at": now, "data": data });
    let decrypt = |encrypted: &Vec<u8>| context.keyring.decrypt(&place(phase), encrypted);
    let secrets = std::iter::once(&webhook.secret).chain(&webhook.previous_secret);
    let secrets = secrets.map(decrypt).collect::<Result<Vec<String>>>()?;
    let post = Post { url: webhook.url.clone(), headers: Vec::new(), body: body.to_string() };
    signed(post, &format!("msg_{id}"), now, &secrets)
}

fn read(answered: Answered) -> std::result::Result<Answer, String> {
    match answered {
        Answered::With(200, body) => {
            // An array with the values in order would do for the struct alone.
            let object: serde_json::Result<Map<String, Value>> = serde_json::from_slice(&body);
            let answer = object.and_then(|object| serde_json::from_value(Value::Object(object)));
            answer.map_err(|error| format!("not an answer: {error}"))
        }
        Answered::With(status, _) => Err(format!("it answered {status}")),
        Answered::Not(reason) => Err(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_counts() {
        let eligible = |status: u16, body: &str| {
            read(Answered::With(status, body.as_bytes().to_vec())).map(|it| it.eligible).ok()
        };
        assert_eq!(eligible(200, r#"{"eligible":true,"more":1}"#), Some(true));
        assert_eq!(eligible(200, r#"{"eligible":false}"#), Some(false));
        for body in
            ["", "yes", "true", "{}", "[true]", r#"{"eligible":"true"}"#, r#"{"eligible":1}"#]
        {
            assert_eq!(eligible(200, body), None, "{body}");
        }
        let blank = r#"{"eligible":true,"membershipNumber":" "}"#;
        assert_eq!(eligible(200, blank), None, "a membership that can't be told apart");
        for status in [201, 204, 301, 401, 404, 429, 500, 503] {
            assert_eq!(eligible(status, r#"{"eligible":true}"#), None, "{status}");
        }
    }
}

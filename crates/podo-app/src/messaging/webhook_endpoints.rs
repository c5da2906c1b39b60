//! Organisers' webhook endpoints: Standard Webhooks, signed, retried, logged, replayable.

use crate::context::AppContext;
use crate::error::Result;
use crate::messaging::port::webhook_client::{Post, Posted};
use crate::messaging::port::webhook_endpoints::{
    Delivery, DeliveryStatus, Endpoint, EndpointStatus, Tried,
};
use crate::store::{Page, PageRequest};
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use podo_domain::catalog::text::Line;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::messaging::webhook_endpoints::{Next, after};
use podo_domain::{DeliveryId, EndpointId, Refusal, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// The prefix that the standard requires for secrets.
const SECRET_PREFIX: &str = "whsec_";

/// An endpoint as organisers see it; the secret is present only when it was just created.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    pub id: EndpointId,
    pub url: String,
    #[schema(value_type = Vec<String>)]
    pub types: Vec<MessageKind>,
    pub status: EndpointStatus,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

fn view(endpoint: Endpoint, secret: Option<String>) -> EndpointView {
    let Endpoint { endpoint: id, url, kinds: types, status, created_at, .. } = endpoint;
    EndpointView { id, url, types, status, created_at, secret }
}

pub type EndpointUrl = Line<500>;

pub async fn add(
    context: &AppContext,
    actor: UserId,
    url: EndpointUrl,
    kinds: Vec<MessageKind>,
) -> Result<EndpointView> {
    context.messaging.webhook_client.check(url.as_str())?;
    let now = context.now();
    let id = EndpointId::new(context.rng.id(now));
    let secret = new_secret(context);
    let endpoint = Endpoint {
        endpoint: id,
        url: url.into(),
        secret: context.keyring.encrypt(&place(id), &secret, &*context.rng),
        previous_secret: None,
        kinds,
        status: EndpointStatus::Active,
        created_at: now,
    };
    context.store.add_endpoint(endpoint.clone(), actor).await?;
    Ok(view(endpoint, Some(secret)))
}

pub async fn list(context: &AppContext) -> Result<Vec<EndpointView>> {
    let endpoints = context.store.endpoints().await?;
    Ok(endpoints.into_iter().map(|endpoint| view(endpoint, None)).collect())
}

/// Changes to an endpoint; absent fields stay as they are.
#[derive(Default)]
pub struct EndpointEdit {
    pub url: Option<EndpointUrl>,
    pub kinds: Option<Vec<MessageKind>>,
    /// If absent, a disabled endpoint becomes active again.
    pub status: Option<EndpointStatus>,
}

pub async fn change(
    context: &AppContext,
    actor: UserId,
    id: EndpointId,
    edit: EndpointEdit,
) -> Result<EndpointView> {
    let mut endpoint = context.store.endpoint(id).await?.ok_or(Refusal::NotFound)?;
    if let Some(url) = edit.url {
        context.messaging.webhook_client.check(url.as_str())?;
        endpoint.url = url.into();
    }
    endpoint.kinds = edit.kinds.unwrap_or(endpoint.kinds);
    endpoint.status = edit.status.unwrap_or(EndpointStatus::Active);
    context.store.change_endpoint(endpoint.clone(), actor, context.now()).await?;
    Ok(view(endpoint, None))
}

/// Creates a new secret. Messages are signed with both until the next change, so that receivers can
/// switch without missing one.
pub async fn rotate_secret(
    context: &AppContext,
    actor: UserId,
    id: EndpointId,
) -> Result<EndpointView> {
    let mut endpoint = context.store.endpoint(id).await?.ok_or(Refusal::NotFound)?;
    let secret = new_secret(context);
    let encrypted = context.keyring.encrypt(&place(id), &secret, &*context.rng);
    endpoint.previous_secret = Some(std::mem::replace(&mut endpoint.secret, encrypted));
    context.store.change_endpoint(endpoint.clone(), actor, context.now()).await?;
    Ok(view(endpoint, Some(secret)))
}

pub async fn remove(context: &AppContext, actor: UserId, id: EndpointId) -> Result<()> {
    context.store.remove_endpoint(id, actor, context.now()).await
}

pub async fn deliveries(
    context: &AppContext,
    id: EndpointId,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    context.store.endpoint(id).await?.ok_or(Refusal::NotFound)?;
    let rows = context.store.deliveries(id, page).await?;
    Ok(Page::cut(rows, page.limit, |delivery| delivery.id.uuid()))
}

pub async fn replay(
    context: &AppContext,
    actor: UserId,
    id: EndpointId,
    delivery: DeliveryId,
) -> Result<()> {
    context.store.replay_delivery(id, delivery, actor, context.now()).await
}

fn place(id: EndpointId) -> String {
    format!("webhook_endpoints.secret.{id}")
}

pub(crate) fn new_secret(context: &AppContext) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(context.rng.secret()))
}

/// Attempts one delivery; true if it arrived.
pub(crate) async fn deliver(context: &AppContext, delivery: Delivery) -> Result<bool> {
    let Some(endpoint) = context.store.endpoint(delivery.endpoint_id).await? else {
        return Ok(false);
    };
    let posted = match endpoint.status {
        EndpointStatus::Active => {
            let post = sign(context, &endpoint, &delivery)?;
            context.messaging.webhook_client.post(&post).await
        }
        EndpointStatus::Disabled => Posted::Failed("the endpoint is disabled".to_owned()),
    };
    let (answered, error) = match posted {
        Posted::Answered(status @ 200..=299) => (Some(status), None),
        Posted::Answered(status) => (Some(status), Some(format!("the endpoint answered {status}"))),
        Posted::Failed(error) => (None, Some(error)),
    };
    let now = context.now();
    let next = after(delivery.attempts, answered);
    let (status, next_at) = match next {
        Next::Delivered => (DeliveryStatus::Delivered, now),
        Next::Again(pause) => (DeliveryStatus::Pending, now.plus(pause)),
        Next::GiveUp | Next::Disable => (DeliveryStatus::Failed, now),
    };
    let disables = matches!(next, Next::GiveUp | Next::Disable).then_some(endpoint.endpoint);
    let answered = answered.map(u32::from);
    let tried = Tried { delivery: delivery.id, status, next_at, answered, error, disables };
    context.store.note_delivery(tried, now).await?;
    Ok(next == Next::Delivered)
}

/// Records a delivery that couldn't be attempted: it is postponed like an unanswered one. The
/// endpoint isn't at fault, so it stays active.
pub(crate) async fn note_failure(
    context: &AppContext,
    delivery: DeliveryId,
    attempts: u32,
    error: String,
) -> Result<()> {
    let now = context.now();
    let (status, next_at) = match after(attempts, None) {
        Next::Again(pause) => (DeliveryStatus::Pending, now.plus(pause)),
        Next::Delivered | Next::GiveUp | Next::Disable => (DeliveryStatus::Failed, now),
    };
    let error = Some(error);
    let tried = Tried { delivery, status, next_at, answered: None, error, disables: None };
    context.store.note_delivery(tried, now).await
}

/// The id is the message's, so that receivers can detect duplicates.
fn sign(context: &AppContext, endpoint: &Endpoint, delivery: &Delivery) -> Result<Post> {
    let id = format!("msg_{}", delivery.message_id);
    let place = place(endpoint.endpoint);
    let decrypt = |encrypted: &Vec<u8>| context.keyring.decrypt(&place, encrypted);
    let secrets = std::iter::once(&endpoint.secret).chain(&endpoint.previous_secret);
    let secrets = secrets.map(decrypt).collect::<Result<Vec<String>>>()?;
    let unsigned =
        Post { url: endpoint.url.clone(), headers: Vec::new(), body: delivery.body.clone() };
    signed(unsigned, &id, context.now(), &secrets)
}

/// With the headers of Standard Webhooks: one signature for each secret.
pub(crate) fn signed(post: Post, id: &str, now: Timestamp, secrets: &[String]) -> Result<Post> {
    let seconds = now.ms() / 1_000;
    let sign = |secret: &String| signature(secret, id, seconds, &post.body);
    let signatures = secrets.iter().map(sign).collect::<Result<Vec<String>>>()?;
    let headers = vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ];
    Ok(Post { headers, ..post })
}

fn signature(secret: &str, id: &str, seconds: i64, body: &str) -> Result<String> {
    let key = secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret);
    let key = STANDARD.decode(key).map_err(crate::Error::broken)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    Ok(format!("v1,{}", STANDARD.encode(tag.as_ref())))
}

/// The test vector of the standard's own libraries.
#[test]
fn a_signature_is_the_one_of_the_standard() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let signed =
        signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
    assert_eq!(signed.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

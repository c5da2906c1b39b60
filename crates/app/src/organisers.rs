//! Webhooks of organisers: Standard Webhooks, signed, retried, logged, replayable.

use crate::error::Result;
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::courier::{Post, Posted};
use crate::ports::organisers::{Delivery, DeliveryStatus, Endpoint, EndpointStatus, Tried};
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::messages::MessageKind;
use domain::organisers::{Next, after};
use domain::text::Line;
use domain::{DeliveryId, EndpointId, Refusal, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// In front of every secret, as the standard wants it.
const SECRET_PREFIX: &str = "whsec_";

/// What an organiser sees of an endpoint; the secret only when it was just made.
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
    platform: &Platform,
    actor: UserId,
    url: EndpointUrl,
    kinds: Vec<MessageKind>,
) -> Result<EndpointView> {
    platform.courier.check(url.as_str())?;
    let now = platform.now();
    let id = EndpointId::new(platform.chance.id(now));
    let secret = new_secret(platform);
    let endpoint = Endpoint {
        endpoint: id,
        url: url.into(),
        secret: platform.seals.seal(&place(id), &secret, &*platform.chance),
        previous_secret: None,
        kinds,
        status: EndpointStatus::Active,
        created_at: now,
    };
    platform.store.add_endpoint(endpoint.clone(), actor).await?;
    Ok(view(endpoint, Some(secret)))
}

pub async fn list(platform: &Platform) -> Result<Vec<EndpointView>> {
    let endpoints = platform.store.endpoints().await?;
    Ok(endpoints.into_iter().map(|endpoint| view(endpoint, None)).collect())
}

/// What changes of an endpoint; what is left out stays.
#[derive(Default)]
pub struct EndpointEdit {
    pub url: Option<EndpointUrl>,
    pub kinds: Option<Vec<MessageKind>>,
    /// Left out, an endpoint that was disabled is active again.
    pub status: Option<EndpointStatus>,
}

pub async fn change(
    platform: &Platform,
    actor: UserId,
    id: EndpointId,
    edit: EndpointEdit,
) -> Result<EndpointView> {
    let mut endpoint = platform.store.endpoint(id).await?.ok_or(Refusal::NotFound)?;
    if let Some(url) = edit.url {
        platform.courier.check(url.as_str())?;
        endpoint.url = url.into();
    }
    endpoint.kinds = edit.kinds.unwrap_or(endpoint.kinds);
    endpoint.status = edit.status.unwrap_or(EndpointStatus::Active);
    platform.store.change_endpoint(endpoint.clone(), actor, platform.now()).await?;
    Ok(view(endpoint, None))
}

/// A new secret. Messages are signed with both until the next change, so that nobody misses one.
pub async fn rotate_secret(
    platform: &Platform,
    actor: UserId,
    id: EndpointId,
) -> Result<EndpointView> {
    let mut endpoint = platform.store.endpoint(id).await?.ok_or(Refusal::NotFound)?;
    let secret = new_secret(platform);
    let sealed = platform.seals.seal(&place(id), &secret, &*platform.chance);
    endpoint.previous_secret = Some(std::mem::replace(&mut endpoint.secret, sealed));
    platform.store.change_endpoint(endpoint.clone(), actor, platform.now()).await?;
    Ok(view(endpoint, Some(secret)))
}

pub async fn remove(platform: &Platform, actor: UserId, id: EndpointId) -> Result<()> {
    platform.store.remove_endpoint(id, actor, platform.now()).await
}

pub async fn deliveries(
    platform: &Platform,
    id: EndpointId,
    page: PageAsk,
) -> Result<Page<Delivery>> {
    platform.store.endpoint(id).await?.ok_or(Refusal::NotFound)?;
    let rows = platform.store.deliveries(id, page).await?;
    Ok(Page::cut(rows, page.limit, |delivery| delivery.id.uuid()))
}

pub async fn replay(
    platform: &Platform,
    actor: UserId,
    id: EndpointId,
    delivery: DeliveryId,
) -> Result<()> {
    platform.store.replay_delivery(id, delivery, actor, platform.now()).await
}

fn place(id: EndpointId) -> String {
    format!("webhook_endpoints.secret.{id}")
}

fn new_secret(platform: &Platform) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(platform.chance.secret()))
}

/// Tries one delivery; true when it arrived.
pub(crate) async fn deliver(platform: &Platform, delivery: Delivery) -> Result<bool> {
    let Some(endpoint) = platform.store.endpoint(delivery.endpoint_id).await? else {
        return Ok(false);
    };
    let posted = match endpoint.status {
        EndpointStatus::Active => {
            let post = sign(platform, &endpoint, &delivery)?;
            platform.courier.post(&post).await
        }
        EndpointStatus::Disabled => Posted::Failed("the endpoint is disabled".to_owned()),
    };
    let (answered, error) = match posted {
        Posted::Answered(status @ 200..=299) => (Some(status), None),
        Posted::Answered(status) => (Some(status), Some(format!("it answered {status}"))),
        Posted::Failed(error) => (None, Some(error)),
    };
    let now = platform.now();
    let next = after(delivery.attempts, answered);
    let (status, next_at) = match next {
        Next::Delivered => (DeliveryStatus::Delivered, now),
        Next::Again(pause) => (DeliveryStatus::Pending, now.plus(pause)),
        Next::GiveUp | Next::Disable => (DeliveryStatus::Failed, now),
    };
    let disables = matches!(next, Next::GiveUp | Next::Disable).then_some(endpoint.endpoint);
    let answered = answered.map(u32::from);
    let tried = Tried { delivery: delivery.id, status, next_at, answered, error, disables };
    platform.store.note_delivery(tried, now).await?;
    Ok(next == Next::Delivered)
}

/// A delivery that could not be tried: it is put off like one that was not answered. The endpoint is
/// not to blame, so it stays active.
pub(crate) async fn note_failure(
    platform: &Platform,
    (delivery, attempts): (DeliveryId, u32),
    error: String,
) -> Result<()> {
    let now = platform.now();
    let (status, next_at) = match after(attempts, None) {
        Next::Again(pause) => (DeliveryStatus::Pending, now.plus(pause)),
        Next::Delivered | Next::GiveUp | Next::Disable => (DeliveryStatus::Failed, now),
    };
    let error = Some(error);
    let tried = Tried { delivery, status, next_at, answered: None, error, disables: None };
    platform.store.note_delivery(tried, now).await
}

/// The id is the message's: whoever gets it twice can tell.
fn sign(platform: &Platform, endpoint: &Endpoint, delivery: &Delivery) -> Result<Post> {
    let id = format!("msg_{}", delivery.message_id);
    let seconds = platform.now().ms() / 1_000;
    let mut signatures = Vec::new();
    for sealed in std::iter::once(&endpoint.secret).chain(&endpoint.previous_secret) {
        let secret = platform.seals.open(&place(endpoint.endpoint), sealed)?;
        signatures.push(signature(&secret, &id, seconds, &delivery.body)?);
    }
    Ok(Post {
        url: endpoint.url.clone(),
        headers: vec![
            ("webhook-id", id),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ],
        body: delivery.body.clone(),
    })
}

fn signature(secret: &str, id: &str, seconds: i64, body: &str) -> Result<String> {
    let key = secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret);
    let key = STANDARD.decode(key).map_err(crate::Error::broken)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    Ok(format!("v1,{}", STANDARD.encode(tag.as_ref())))
}

/// The example that the standard's own libraries test themselves with.
#[test]
fn a_signature_is_the_one_of_the_standard() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let signed =
        signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
    assert_eq!(signed.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

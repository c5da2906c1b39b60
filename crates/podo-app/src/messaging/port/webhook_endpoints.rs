//! Organisers' webhook endpoints, and the deliveries to them.

use crate::error::Result;
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{DeliveryId, EndpointId, MessageId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EndpointStatus {
    Active,
    /// It answered 410 Gone, nothing arrived for days, or an organiser paused it.
    Disabled,
}

impl EndpointStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            EndpointStatus::Active => "ACTIVE",
            EndpointStatus::Disabled => "DISABLED",
        }
    }

    pub fn parse(text: &str) -> Option<EndpointStatus> {
        let all = [EndpointStatus::Active, EndpointStatus::Disabled];
        all.into_iter().find(|status| status.as_str() == text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub endpoint: EndpointId,
    pub url: String,
    /// Encrypted; the previous secret stays valid until the next rotation.
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
    pub kinds: Vec<MessageKind>,
    pub status: EndpointStatus,
    pub created_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DeliveryStatus {
    Pending,
    Delivered,
    /// All attempts failed.
    Failed,
}

impl DeliveryStatus {
    pub const ALL: [DeliveryStatus; 3] =
        [DeliveryStatus::Pending, DeliveryStatus::Delivered, DeliveryStatus::Failed];

    pub const fn as_str(self) -> &'static str {
        match self {
            DeliveryStatus::Pending => "PENDING",
            DeliveryStatus::Delivered => "DELIVERED",
            DeliveryStatus::Failed => "FAILED",
        }
    }

    pub fn parse(text: &str) -> Option<DeliveryStatus> {
        DeliveryStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// One message to one endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub id: DeliveryId,
    pub endpoint_id: EndpointId,
    pub message_id: MessageId,
    #[serde(rename = "type")]
    pub kind: String,
    pub body: String,
    pub status: DeliveryStatus,
    pub attempts: u32,
    pub next_at: Timestamp,
    /// The endpoint's last HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A message that endpoints may subscribe to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToTell {
    pub message: MessageId,
    pub kind: MessageKind,
    pub body: String,
}

/// The result of a delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub delivery: DeliveryId,
    pub status: DeliveryStatus,
    pub next_at: Timestamp,
    pub answered: Option<u32>,
    pub error: Option<String>,
    /// The endpoint to disable, because it wants no more messages.
    pub disables: Option<EndpointId>,
}

#[async_trait]
pub trait WebhookEndpoints: Send + Sync {
    /// Writes an audit entry, as does every change here.
    async fn add_endpoint(&self, endpoint: Endpoint, actor: UserId) -> Result<()>;

    async fn endpoints(&self) -> Result<Vec<Endpoint>>;

    async fn endpoint(&self, endpoint: EndpointId) -> Result<Option<Endpoint>>;

    /// Sets URL and kinds and activates it again. Refusals: `NotFound`.
    async fn change_endpoint(
        &self,
        endpoint: Endpoint,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// Removes it with its deliveries. Refusals: `NotFound`.
    async fn remove_endpoint(
        &self,
        endpoint: EndpointId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// Plans one delivery for every active endpoint that subscribes to a message, in one
    /// transaction with the marks of the messages; returns how many.
    async fn plan_deliveries(
        &self,
        consumer: &'static str,
        messages: Vec<ToTell>,
        now: Timestamp,
    ) -> Result<u64>;

    /// Claims due deliveries, each for one caller until `until`.
    async fn take_deliveries(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Delivery>>;

    async fn note_delivery(&self, tried: Tried, now: Timestamp) -> Result<()>;

    /// Newest first.
    async fn deliveries(&self, endpoint: EndpointId, page: PageRequest) -> Result<Vec<Delivery>>;

    /// Sends one again, whatever its status. Refusals: `NotFound`.
    async fn replay_delivery(
        &self,
        endpoint: EndpointId,
        delivery: DeliveryId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;
}

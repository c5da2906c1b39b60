//! Where organisers want to be told, and what became of each message to them.

use crate::error::Result;
use crate::paging::PageAsk;
use async_trait::async_trait;
use domain::messages::MessageKind;
use domain::{DeliveryId, EndpointId, MessageId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EndpointStatus {
    Active,
    /// It said 410 Gone, nothing arrived for days, or an organiser paused it.
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
    /// Sealed; the one before it counts until everybody has the new one.
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
    /// Tried as often as we try.
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

/// One message on its way to one endpoint.
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
    /// What the endpoint last answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A message that organisers may want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToTell {
    pub message: MessageId,
    pub kind: MessageKind,
    pub body: String,
}

/// How a try to deliver went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub delivery: DeliveryId,
    pub status: DeliveryStatus,
    pub next_at: Timestamp,
    pub answered: Option<u32>,
    pub error: Option<String>,
    /// The endpoint wants nothing more.
    pub disables: Option<EndpointId>,
}

#[async_trait]
pub trait Organisers: Send + Sync {
    /// Noted in the audit log, as every change here.
    async fn add_endpoint(&self, endpoint: Endpoint, actor: UserId) -> Result<()>;

    async fn endpoints(&self) -> Result<Vec<Endpoint>>;

    async fn endpoint(&self, endpoint: EndpointId) -> Result<Option<Endpoint>>;

    /// Sets where, what, and that it is active again. Refusals: `NotFound`.
    async fn change_endpoint(
        &self,
        endpoint: Endpoint,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// With its deliveries. Refusals: `NotFound`.
    async fn remove_endpoint(
        &self,
        endpoint: EndpointId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// One delivery for every active endpoint that wants a message, in one transaction with the
    /// marks of the messages; says how many.
    async fn plan_deliveries(
        &self,
        consumer: &'static str,
        messages: Vec<ToTell>,
        now: Timestamp,
    ) -> Result<u64>;

    /// Takes deliveries that are due, for one hand alone until `until`.
    async fn take_deliveries(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Delivery>>;

    async fn note_delivery(&self, tried: Tried, now: Timestamp) -> Result<()>;

    /// Newest first.
    async fn deliveries(&self, endpoint: EndpointId, page: PageAsk) -> Result<Vec<Delivery>>;

    /// Sends one again, however it went before. Refusals: `NotFound`.
    async fn replay_delivery(
        &self,
        endpoint: EndpointId,
        delivery: DeliveryId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;
}

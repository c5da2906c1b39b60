//! Letters that leave the house: who wants them where, and what became of each.

use crate::error::Result;
use async_trait::async_trait;
use domain::messages::Language;
use domain::{DeviceId, MessageId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// How a letter leaves the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChannelKind {
    Email,
    Sms,
    Push,
}

impl ChannelKind {
    pub const ALL: [ChannelKind; 3] = [ChannelKind::Email, ChannelKind::Sms, ChannelKind::Push];

    pub const fn as_str(self) -> &'static str {
        match self {
            ChannelKind::Email => "EMAIL",
            ChannelKind::Sms => "SMS",
            ChannelKind::Push => "PUSH",
        }
    }

    pub fn parse(text: &str) -> Option<ChannelKind> {
        ChannelKind::ALL.into_iter().find(|channel| channel.as_str() == text)
    }
}

/// A letter to be sent to one recipient over one channel: at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub message: MessageId,
    pub channel: ChannelKind,
    /// A device, or the fan.
    pub recipient: Uuid,
    pub user: UserId,
    pub subject: String,
    pub body: String,
    pub attempts: u32,
}

/// What a fan wants to get and in which language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotificationSettings {
    pub language: Language,
    pub email: bool,
    pub sms: bool,
    pub push: bool,
}

impl Default for NotificationSettings {
    fn default() -> NotificationSettings {
        NotificationSettings { language: Language::Ko, email: true, sms: false, push: true }
    }
}

/// A device with its sealed push token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub device: DeviceId,
    pub user: UserId,
    pub token: Vec<u8>,
    /// Keyed hash: a token belongs to one fan, the last who brought it.
    pub token_hash: [u8; 32],
}

/// What became of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeOutcome {
    Sent,
    /// It did not arrive, and may be sent again at this moment.
    Later {
        at: Timestamp,
        error: String,
    },
    /// It will never arrive.
    Failed {
        error: String,
    },
    /// Nobody knows whether it arrived: it is not sent again, because twice is worse than once in
    /// the mailbox only.
    Unknown {
        error: String,
    },
}

/// A letter over a channel, as the fan's organiser sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticeView {
    pub message_id: MessageId,
    pub channel: ChannelKind,
    pub status: String,
    pub attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: Timestamp,
}

#[async_trait]
pub trait Notifications: Send + Sync {
    /// What each of them wants, in their order.
    async fn notification_settings(&self, users: &[UserId]) -> Result<Vec<NotificationSettings>>;

    async fn set_notification_settings(
        &self,
        user: UserId,
        settings: NotificationSettings,
        now: Timestamp,
    ) -> Result<()>;

    /// Remembers a device; the same token again changes its owner only.
    async fn add_device(&self, device: Device, now: Timestamp) -> Result<()>;

    async fn remove_device(&self, user: UserId, device: DeviceId) -> Result<bool>;

    async fn devices_of(&self, user: UserId) -> Result<Vec<Device>>;

    /// Takes notices that are due, each for one hand alone until `until`. One that somebody took and
    /// never finished is closed as unknown.
    async fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notice>>;

    async fn finish_notice(
        &self,
        notice: &Notice,
        outcome: NoticeOutcome,
        now: Timestamp,
    ) -> Result<()>;

    async fn notices_of(&self, user: UserId, limit: u32) -> Result<Vec<NoticeView>>;
}

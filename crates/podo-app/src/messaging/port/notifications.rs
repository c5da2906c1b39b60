//! Notifications over external channels: settings, devices, and the outcome of each.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::messaging::messages::Language;
use podo_domain::{DeviceId, MessageId, ReservationId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// An external channel.
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

/// A notification to one recipient over one channel, sent at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub message: MessageId,
    pub channel: ChannelKind,
    /// A device, or the fan.
    pub recipient: Uuid,
    pub user: UserId,
    /// The booking that it is about.
    pub reservation: Option<ReservationId>,
    pub subject: String,
    pub body: String,
    pub attempts: u32,
    /// `None` for plain text.
    pub content: Option<NoticeContent>,
}

/// What a notification is rendered from when it is sent. The facts are those of the moment when
/// the message was consumed, so a later change of the event doesn't change them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeContent {
    pub template: String,
    pub language: Language,
    /// JSON.
    pub facts: String,
}

/// A fan's channels and language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotificationSettings {
    pub language: Language,
    pub email: bool,
    pub sms: bool,
    pub push: bool,
    /// Reminders of openings and of shows; true by default.
    #[serde(default = "wanted")]
    pub reminders: bool,
}

const fn wanted() -> bool {
    true
}

impl Default for NotificationSettings {
    fn default() -> NotificationSettings {
        NotificationSettings {
            language: Language::Ko,
            email: true,
            sms: false,
            push: true,
            reminders: true,
        }
    }
}

/// A device with its encrypted push token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub device: DeviceId,
    pub user: UserId,
    pub token: Vec<u8>,
    /// Keyed hash: a token belongs to the fan who registered it last.
    pub token_hash: [u8; 32],
}

/// The outcome of a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeOutcome {
    Sent,
    /// Not delivered; it may be sent again at this moment.
    Later {
        at: Timestamp,
        error: String,
    },
    /// It will never be delivered.
    Failed {
        error: String,
    },
    /// The outcome is unknown. It isn't sent again, because a duplicate is worse than a
    /// notification that is only in the mailbox.
    Unknown {
        error: String,
    },
}

/// A notification over a channel, as organisers see it.
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
    /// The settings of each user, in the given order.
    async fn notification_settings(&self, users: &[UserId]) -> Result<Vec<NotificationSettings>>;

    /// The language of a fan's notifications, without touching the channels. Unless it is the fan's
    /// choice, a language that is already stored stays.
    async fn remember_language(
        &self,
        user: UserId,
        language: Language,
        is_choice: bool,
        now: Timestamp,
    ) -> Result<()>;
    async fn set_notification_settings(
        &self,
        user: UserId,
        settings: NotificationSettings,
        now: Timestamp,
    ) -> Result<()>;

    /// Stores a device; a known token only changes its owner.
    async fn add_device(&self, device: Device, now: Timestamp) -> Result<()>;

    async fn remove_device(&self, user: UserId, device: DeviceId) -> Result<bool>;

    async fn devices_of(&self, user: UserId) -> Result<Vec<Device>>;

    /// Claims due notifications, each for one caller until `until`. One that was claimed and never
    /// finished is closed as unknown.
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

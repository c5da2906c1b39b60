//! The external channels of notifications.

use crate::messaging::port::notifications::ChannelKind;
use crate::messaging::templates::Template;
use async_trait::async_trait;
use podo_domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A notification with its address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// Stable for one notification, for channels that can detect repeats by it.
    pub id: String,
    /// An e-mail address, a phone number or a device token.
    pub to: String,
    pub subject: String,
    /// Plain and short.
    pub body: String,
    /// The template and its fields, for channels whose provider keeps the approved text.
    pub template: Option<Template>,
    pub fields: Vec<(&'static str, String)>,
    /// Only for e-mail.
    pub rich: Option<RichMail>,
}

/// What an e-mail has besides its subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RichMail {
    pub html: String,
    pub text: String,
    /// Empty for the sender.
    pub reply_to: String,
    /// The https address that ends reminders with one POST (RFC 8058); empty for other mails.
    pub unsubscribe_url: String,
    pub attachments: Vec<Attachment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub name: String,
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

/// The result of sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    Accepted,
    /// Certainly not accepted; a later attempt may succeed.
    NotNow {
        error: String,
        after: Option<Duration>,
    },
    /// Permanently refused.
    Refused {
        error: String,
    },
    /// The address no longer exists.
    Gone {
        error: String,
    },
    /// It may have been accepted.
    Unknown {
        error: String,
    },
}

#[async_trait]
pub trait Channel: Send + Sync {
    fn kind(&self) -> ChannelKind;

    async fn send(&self, mail: &Mail, now: Timestamp) -> Sent;
}

/// The configured channels.
#[derive(Clone, Default)]
pub struct Channels(pub Vec<Arc<dyn Channel>>);

impl Channels {
    pub fn kinds(&self) -> Vec<ChannelKind> {
        self.0.iter().map(|channel| channel.kind()).collect()
    }

    pub fn get(&self, kind: ChannelKind) -> Option<&Arc<dyn Channel>> {
        self.0.iter().find(|channel| channel.kind() == kind)
    }
}

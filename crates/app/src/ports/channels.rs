//! How letters leave the house.

use super::notifications::ChannelKind;
use async_trait::async_trait;
use domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A letter with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Stable for one letter, for channels that can tell a repeat by it.
    pub id: String,
    /// An e-mail address, a phone number or a device's token.
    pub to: String,
    pub subject: String,
    pub body: String,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    Accepted,
    /// It certainly was not taken, and may be later.
    NotNow {
        error: String,
        after: Option<Duration>,
    },
    /// It will never be taken.
    Refused {
        error: String,
    },
    /// The address does not exist any more.
    Gone {
        error: String,
    },
    /// It may have been taken.
    Unknown {
        error: String,
    },
}

#[async_trait]
pub trait Channel: Send + Sync {
    fn kind(&self) -> ChannelKind;

    async fn send(&self, mail: &Mail, now: Timestamp) -> Sent;
}

/// The channels that are set up.
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

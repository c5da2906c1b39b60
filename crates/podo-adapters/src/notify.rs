//! Outbound channels for notifications and webhooks.

mod fcm;
mod http;
mod sigv4;
mod smtp;
mod sns;
mod webhook_client;

pub use fcm::FcmSettings;
pub use smtp::SmtpSettings;
pub use sns::SnsSettings;
pub use webhook_client::HttpWebhookClient;

use fcm::Fcm;
use podo_app::messaging::port::channels::{Channel, Channels};
use smtp::Smtp;
use sns::Sns;
use std::sync::Arc;

/// A channel exists if its settings do. Secrets are in plain text, so these types have no `Debug`.
#[derive(Default)]
pub struct ChannelSettings {
    pub smtp: Option<SmtpSettings>,
    pub sns: Option<SnsSettings>,
    pub fcm: Option<FcmSettings>,
}

impl ChannelSettings {
    /// The configured channels.
    pub fn open(self) -> Result<Channels, String> {
        let mut channels: Vec<Arc<dyn Channel>> = Vec::new();
        if let Some(settings) = self.smtp {
            channels.push(Arc::new(Smtp::open(settings)?));
        }
        if let Some(settings) = self.sns {
            channels.push(Arc::new(Sns::open(settings)?));
        }
        if let Some(settings) = self.fcm {
            channels.push(Arc::new(Fcm::open(settings)?));
        }
        Ok(Channels(channels))
    }
}

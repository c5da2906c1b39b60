//! How letters and webhooks leave the house.

mod fcm;
mod http;
mod outside;
mod sigv4;
mod smtp;
mod sns;

pub use fcm::FcmSettings;
pub use outside::Outside;
pub use smtp::SmtpSettings;
pub use sns::SnsSettings;

use app::ports::channels::{Channel, Channels};
use fcm::Fcm;
use smtp::Smtp;
use sns::Sns;
use std::sync::Arc;

/// Each channel is there when its settings are. Secrets stand here in plain text, so none of these
/// can be printed.
#[derive(Default)]
pub struct ChannelSettings {
    pub smtp: Option<SmtpSettings>,
    pub sns: Option<SnsSettings>,
    pub fcm: Option<FcmSettings>,
}

impl ChannelSettings {
    /// The channels that are set up.
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

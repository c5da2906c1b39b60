//! Outbound channels for notifications and webhooks.

mod alimtalk;
mod aws_credentials;
mod aws_profile;
mod fcm;
mod http;
mod sigv4;
mod sms;
mod smtp;
mod sns;
mod webhook_client;

pub use alimtalk::{AlimtalkSettings, TEMPLATE_CODE_MAX, code};
pub use aws_credentials::{AwsSource, WebIdentity};
pub use aws_profile::{AwsProfile, ProfileCredentials};
pub use fcm::FcmSettings;
pub use smtp::SmtpSettings;
pub use sns::SnsSettings;
pub use webhook_client::HttpWebhookClient;

pub(crate) use aws_credentials::CredentialChain;
pub(crate) use http::client;
pub(crate) use sigv4::{Signed, Signer, amz_date};

use alimtalk::Alimtalk;
use fcm::Fcm;
use podo_app::messaging::port::channels::{Channel, Channels};
use sms::Sms;
use smtp::Smtp;
use sns::Sns;
use std::sync::Arc;

/// A channel exists if its settings do. Secrets are in plain text, so these types have no `Debug`.
#[derive(Default)]
pub struct ChannelSettings {
    pub smtp: Option<SmtpSettings>,
    pub sns: Option<SnsSettings>,
    pub alimtalk: Option<AlimtalkSettings>,
    pub fcm: Option<FcmSettings>,
}

impl ChannelSettings {
    /// The configured channels.
    pub fn open(self) -> Result<Channels, String> {
        let mut channels: Vec<Arc<dyn Channel>> = Vec::new();
        if let Some(settings) = self.smtp {
            channels.push(Arc::new(Smtp::open(settings)?));
        }
        let sns = self.sns.map(Sns::open).transpose()?;
        let alimtalk = self.alimtalk.map(Alimtalk::open).transpose()?;
        if sns.is_some() || alimtalk.is_some() {
            channels.push(Arc::new(Sms { alimtalk, sns }));
        }
        if let Some(settings) = self.fcm {
            channels.push(Arc::new(Fcm::open(settings)?));
        }
        Ok(Channels(channels))
    }
}

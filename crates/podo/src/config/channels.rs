//! Settings of outgoing channels: e-mail, SMS, push, and organisers' webhooks.

use anyhow::{Context, Result, bail};
use ipnet::IpNet;
use podo_adapters::notify::{ChannelSettings, FcmSettings, SmtpSettings, SnsSettings};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Clone, Debug, Deserialize)]
pub struct Channels {
    pub smtp_url: SecretString,
    pub smtp_from: String,
    pub sns_region: String,
    pub sns_url: String,
    pub sns_access_key: String,
    pub sns_secret_key: SecretString,
    pub sns_sender: String,
    pub fcm_url: String,
    pub fcm_account_file: PathBuf,
    pub webhook_allow: Vec<String>,
}

impl Channels {
    pub(super) fn check(&self) -> Result<()> {
        if self.smtp_url.expose_secret().is_empty() != self.smtp_from.is_empty() {
            bail!("smtp_url and smtp_from: set both or neither");
        }
        let sns = [&self.sns_region, &self.sns_access_key];
        let is_any = sns.iter().any(|text| !text.is_empty());
        let is_all = sns.iter().all(|text| !text.is_empty())
            && !self.sns_secret_key.expose_secret().is_empty();
        if is_any && !is_all {
            bail!("sns_region, sns_access_key and sns_secret_key: set all or none");
        }
        self.networks().map(drop)
    }

    pub(super) fn networks(&self) -> Result<Vec<IpNet>> {
        let parse = |text: &String| {
            let network = text.parse::<IpNet>();
            network.or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).with_context(|| {
                format!("webhook_allow: `{text}` is neither an address nor a network")
            })
        };
        self.webhook_allow.iter().map(parse).collect()
    }

    pub(super) fn settings(&self) -> Result<ChannelSettings> {
        let smtp_url = self.smtp_url.expose_secret();
        let smtp = (!smtp_url.is_empty())
            .then(|| SmtpSettings { url: smtp_url.to_owned(), from: self.smtp_from.clone() });
        let sns = (!self.sns_region.is_empty()).then(|| SnsSettings {
            url: self.sns_url.clone(),
            region: self.sns_region.clone(),
            access_key: self.sns_access_key.clone(),
            secret_key: self.sns_secret_key.expose_secret().to_owned(),
            sender: self.sns_sender.clone(),
        });
        let file = &self.fcm_account_file;
        let fcm = match file.as_os_str().is_empty() {
            true => None,
            false => {
                let account = std::fs::read_to_string(file)
                    .with_context(|| format!("fcm_account_file: cannot read {}", file.display()))?;
                Some(FcmSettings { url: self.fcm_url.clone(), account })
            }
        };
        Ok(ChannelSettings { smtp, sns, fcm })
    }
}

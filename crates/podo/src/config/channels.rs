//! Settings of outgoing channels: e-mail, SMS, push, and organisers' webhooks.

use crate::config::aws::AwsEnvironment;
use anyhow::{Context, Result, bail};
use ipnet::IpNet;
use podo_adapters::notify::{
    AlimtalkSettings, ChannelSettings, FcmSettings, SmtpSettings, SnsSettings, TEMPLATE_CODE_MAX,
    code,
};
use podo_app::messaging::templates::Template;
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
    pub alimtalk_url: String,
    pub alimtalk_app_key: String,
    pub alimtalk_secret_key: SecretString,
    pub alimtalk_sender_key: String,
    pub alimtalk_template_prefix: String,
    pub alimtalk_fallback_number: String,
    pub fcm_url: String,
    pub fcm_account_file: PathBuf,
    pub webhook_allow: Vec<String>,
}

impl Channels {
    pub(super) fn check(&self) -> Result<()> {
        if self.smtp_url.expose_secret().is_empty() != self.smtp_from.is_empty() {
            bail!("smtp_url and smtp_from: set both or neither");
        }
        let has_secret = !self.sns_secret_key.expose_secret().is_empty();
        if self.sns_access_key.is_empty() == has_secret {
            bail!("sns_access_key and sns_secret_key: set both or neither");
        }
        if has_secret && self.sns_region.is_empty() {
            bail!("sns_region: must be set with sns_access_key");
        }
        self.check_alimtalk()?;
        self.networks().map(drop)
    }

    fn check_alimtalk(&self) -> Result<()> {
        let secret = self.alimtalk_secret_key.expose_secret();
        let all = [self.alimtalk_app_key.as_str(), secret, self.alimtalk_sender_key.as_str()];
        let n_set = all.iter().filter(|text| !text.is_empty()).count();
        if n_set != 0 && n_set != all.len() {
            bail!("alimtalk_app_key, alimtalk_secret_key and alimtalk_sender_key: set all or none");
        }
        let is_long =
            |it: &Template| code(&self.alimtalk_template_prefix, *it).len() > TEMPLATE_CODE_MAX;
        if let Some(template) = Template::ALL.iter().find(|it| is_long(it)) {
            bail!(
                "alimtalk_template_prefix: with {} the code has more than {TEMPLATE_CODE_MAX} \
                 characters",
                template.as_str()
            );
        }
        Ok(())
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

    pub(super) fn settings(&self, aws: &AwsEnvironment) -> Result<ChannelSettings> {
        let smtp_url = self.smtp_url.expose_secret();
        let smtp = (!smtp_url.is_empty())
            .then(|| SmtpSettings { url: smtp_url.to_owned(), from: self.smtp_from.clone() });
        let sns = match self.sns_region.is_empty() {
            true => None,
            false => Some(SnsSettings {
                url: self.sns_url.clone(),
                region: self.sns_region.clone(),
                credentials: aws
                    .source(&self.sns_access_key, self.sns_secret_key.expose_secret())?,
                sender: self.sns_sender.clone(),
            }),
        };
        let file = &self.fcm_account_file;
        let fcm = match file.as_os_str().is_empty() {
            true => None,
            false => {
                let account = std::fs::read_to_string(file)
                    .with_context(|| format!("fcm_account_file: cannot read {}", file.display()))?;
                Some(FcmSettings { url: self.fcm_url.clone(), account })
            }
        };
        let alimtalk = (!self.alimtalk_app_key.is_empty()).then(|| AlimtalkSettings {
            url: self.alimtalk_url.clone(),
            app_key: self.alimtalk_app_key.clone(),
            secret_key: self.alimtalk_secret_key.expose_secret().to_owned(),
            sender_key: self.alimtalk_sender_key.clone(),
            template_prefix: self.alimtalk_template_prefix.clone(),
            fallback_number: self.alimtalk_fallback_number.clone(),
        });
        Ok(ChannelSettings { smtp, sns, alimtalk, fcm })
    }
}

//! Settings of the payment gateways: a gateway is active if its keys are set.

use anyhow::{Result, bail};
use podo_adapters::gateways::{
    GatewaySettings, InicisSettings, KcpSettings, PortOneSettings, StripeSettings, TossSettings,
};
use podo_app::payments::settlement::read_rates;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Debug, Deserialize)]
pub struct Gateways {
    pub toss_url: String,
    pub toss_client_key: String,
    pub toss_secret_key: SecretString,
    pub portone_url: String,
    pub portone_store_id: String,
    pub portone_channel_key: String,
    pub portone_secret: SecretString,
    pub portone_webhook_secrets: SecretString,
    pub portone_channel: Channel,
    pub inicis_url: String,
    pub inicis_pay_url: String,
    pub inicis_mid: String,
    pub inicis_sign_key: SecretString,
    pub inicis_api_key: SecretString,
    pub kcp_url: String,
    pub kcp_site_cd: String,
    pub kcp_certificate: PathBuf,
    pub kcp_private_key: PathBuf,
    pub stripe_url: String,
    pub stripe_publishable_key: String,
    pub stripe_secret_key: SecretString,
    pub stripe_webhook_secrets: SecretString,
    pub gateway_fees: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    Live,
    Test,
}

impl Gateways {
    pub(super) fn check(&self, public_url: &str) -> Result<()> {
        all_or_none("toss", &[&self.toss_client_key, open(&self.toss_secret_key)])?;
        let portone = [
            self.portone_store_id.as_str(),
            &self.portone_channel_key,
            open(&self.portone_secret),
            open(&self.portone_webhook_secrets),
        ];
        all_or_none("portone", &portone)?;
        let inicis =
            [self.inicis_mid.as_str(), open(&self.inicis_sign_key), open(&self.inicis_api_key)];
        all_or_none("inicis", &inicis)?;
        let files = [&self.kcp_certificate, &self.kcp_private_key].map(|path| path.to_str());
        let [certificate, key] = files.map(|path| path.unwrap_or("?"));
        all_or_none("kcp", &[&self.kcp_site_cd, certificate, key])?;
        let stripe = [
            self.stripe_publishable_key.as_str(),
            open(&self.stripe_secret_key),
            open(&self.stripe_webhook_secrets),
        ];
        all_or_none("stripe", &stripe)?;
        if read_rates(&self.gateway_fees).is_none() {
            bail!("gateway_fees: write names with percentages, for example \"toss:3.3, kcp:2.95\"");
        }
        if self.is_any() && public_url.is_empty() {
            bail!("public_url: payment gateways need the URL to send fans back to");
        }
        Ok(())
    }

    /// Whether a real payment gateway is configured.
    pub(super) fn is_any(&self) -> bool {
        self.names().next().is_some()
    }

    /// The configured gateways.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("toss", !self.toss_client_key.is_empty()),
            ("portone", !self.portone_store_id.is_empty()),
            ("inicis", !self.inicis_mid.is_empty()),
            ("kcp", !self.kcp_site_cd.is_empty()),
            ("stripe", !self.stripe_publishable_key.is_empty()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name)
    }

    pub(super) fn settings(&self) -> GatewaySettings {
        let is_there = |name: &str| self.names().any(|it| it == name);
        GatewaySettings {
            toss: is_there("toss").then(|| TossSettings {
                url: self.toss_url.clone(),
                client_key: self.toss_client_key.clone(),
                secret_key: open(&self.toss_secret_key).to_owned(),
            }),
            portone: is_there("portone").then(|| self.portone()),
            inicis: is_there("inicis").then(|| InicisSettings {
                url: self.inicis_url.clone(),
                pay_url: Some(self.inicis_pay_url.clone()).filter(|url| !url.is_empty()),
                mid: self.inicis_mid.clone(),
                sign_key: open(&self.inicis_sign_key).to_owned(),
                api_key: open(&self.inicis_api_key).to_owned(),
            }),
            kcp: is_there("kcp").then(|| KcpSettings {
                url: self.kcp_url.clone(),
                site_cd: self.kcp_site_cd.clone(),
                certificate: self.kcp_certificate.clone(),
                private_key: self.kcp_private_key.clone(),
            }),
            stripe: is_there("stripe").then(|| StripeSettings {
                url: self.stripe_url.clone(),
                publishable_key: self.stripe_publishable_key.clone(),
                secret_key: open(&self.stripe_secret_key).to_owned(),
                webhook_secrets: several(&self.stripe_webhook_secrets),
            }),
            ..GatewaySettings::default()
        }
    }

    fn portone(&self) -> PortOneSettings {
        PortOneSettings {
            url: self.portone_url.clone(),
            store_id: self.portone_store_id.clone(),
            channel_key: self.portone_channel_key.clone(),
            secret: open(&self.portone_secret).to_owned(),
            webhook_secrets: several(&self.portone_webhook_secrets),
            is_test: self.portone_channel == Channel::Test,
        }
    }
}

/// Secrets with commas between them.
fn several(secrets: &SecretString) -> Vec<String> {
    open(secrets).split(',').map(|secret| secret.trim().to_owned()).collect()
}

fn open(secret: &SecretString) -> &str {
    secret.expose_secret()
}

fn all_or_none(name: &str, values: &[&str]) -> Result<()> {
    let n_set = values.iter().filter(|value| !value.is_empty()).count();
    if n_set != 0 && n_set != values.len() {
        bail!("{name}: set all of its keys or none; `podo check-config --manual` lists them");
    }
    Ok(())
}

//! Settings of accounts: identity verification, social login, and organisers' sessions.

use crate::config::Switch;
use anyhow::{Result, bail};
use podo_adapters::gateways::IdentitySettings;
use podo_adapters::identity::social::SocialSettings;
use podo_domain::identity::SocialProvider;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;

#[derive(Clone, Debug, Deserialize)]
pub struct People {
    pub identity_url: String,
    pub identity_store_id: String,
    pub identity_channel_key: String,
    pub identity_secret: SecretString,
    pub kakao_issuer: String,
    pub kakao_client_id: String,
    pub kakao_client_secret: SecretString,
    pub naver_issuer: String,
    pub naver_client_id: String,
    pub naver_client_secret: SecretString,
    pub google_issuer: String,
    pub google_client_id: String,
    pub google_client_secret: SecretString,
    pub admin_codes: Switch,
    pub admin_idle_minutes: u32,
    pub admin_proof_minutes: u32,
    pub confirm_email: ConfirmEmail,
    pub queue_log_days: u32,
    pub sign_ups_per_minute_per_ip: u32,
}

/// Whether an e-mail address must be confirmed before the account is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfirmEmail {
    /// If an SMTP server is configured.
    Auto,
    On,
    Off,
}

impl People {
    pub(super) fn check(&self, public_url: &str) -> Result<()> {
        if self.sign_ups_per_minute_per_ip == 0 {
            bail!("sign_ups_per_minute_per_ip: must be at least 1; `limits = \"off\"` disables it");
        }
        let identity = [
            self.identity_store_id.as_str(),
            &self.identity_channel_key,
            self.identity_secret.expose_secret(),
        ];
        all_or_none("identity", &identity)?;
        for (provider, (_, id, secret)) in self.services() {
            all_or_none(provider.slug(), &[id, secret.expose_secret()])?;
            if !id.is_empty() && public_url.is_empty() {
                bail!("public_url: {} needs the URL to send fans back to", provider.slug());
            }
        }
        Ok(())
    }

    /// The identity verification service, if one is configured.
    pub fn identity(&self) -> Option<IdentitySettings> {
        (!self.identity_store_id.is_empty()).then(|| IdentitySettings {
            url: self.identity_url.trim_end_matches('/').to_owned(),
            store_id: self.identity_store_id.clone(),
            channel_key: self.identity_channel_key.clone(),
            secret: self.identity_secret.expose_secret().to_owned(),
        })
    }

    /// How long an organiser's session may be idle.
    pub fn admin_idle(&self) -> Option<Duration> {
        minutes(self.admin_idle_minutes)
    }

    /// How long a step-up proof stays valid.
    pub fn admin_proof(&self) -> Option<Duration> {
        minutes(self.admin_proof_minutes)
    }

    /// How long the waiting rooms' log is kept, if it is kept at all.
    pub fn queue_log_for(&self) -> Option<Duration> {
        let days = Duration::from_secs(24 * 60 * 60) * self.queue_log_days;
        (!days.is_zero()).then_some(days)
    }

    /// The configured login providers.
    pub fn social(&self, public_url: &str) -> Vec<SocialSettings> {
        let home = public_url.trim_end_matches('/');
        let settings = |(provider, (issuer, id, secret)): (SocialProvider, Service<'_>)| {
            (!id.is_empty()).then(|| SocialSettings {
                provider,
                issuer: issuer.to_owned(),
                client_id: id.to_owned(),
                client_secret: secret.expose_secret().to_owned(),
                redirect_uri: format!("{home}/api/auth/{}/callback", provider.slug()),
            })
        };
        self.services().into_iter().filter_map(settings).collect()
    }

    fn services(&self) -> [(SocialProvider, Service<'_>); 3] {
        SocialProvider::ALL.map(|provider| {
            let service: Service<'_> = match provider {
                SocialProvider::Kakao => {
                    (&self.kakao_issuer, &self.kakao_client_id, &self.kakao_client_secret)
                }
                SocialProvider::Naver => {
                    (&self.naver_issuer, &self.naver_client_id, &self.naver_client_secret)
                }
                SocialProvider::Google => {
                    (&self.google_issuer, &self.google_client_id, &self.google_client_secret)
                }
            };
            (provider, service)
        })
    }
}

/// Issuer, client id, client secret.
type Service<'s> = (&'s str, &'s str, &'s SecretString);

fn all_or_none(name: &str, values: &[&str]) -> Result<()> {
    let n_set = values.iter().filter(|value| !value.is_empty()).count();
    if n_set != 0 && n_set != values.len() {
        bail!("{name}: set all of its keys or none; `podo check-config --manual` lists them");
    }
    Ok(())
}

/// 0 disables the limit.
fn minutes(n: u32) -> Option<Duration> {
    (n > 0).then(|| Duration::from_secs(60 * u64::from(n)))
}

//! The organiser's name and look in notifications and on tickets, and keys for passes.

use anyhow::{Context, Result, bail};
use podo_adapters::passes::{ApplePassSettings, GooglePassSettings};
use podo_app::messaging::templates::Brand as Look;
use podo_domain::identity::Email;
use podo_domain::payments::receipts::BusinessNumber;
use podo_domain::{Currency, Timestamp};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Deserialize)]
pub struct Brand {
    pub brand_name: String,
    pub brand_logo_url: String,
    pub brand_color: String,
    pub mail_reply_to: String,
    pub currency: Currency,
    pub time_zone: String,
    pub business_name: String,
    pub business_number: String,
}

impl Brand {
    pub(super) fn check(&self) -> Result<()> {
        if self.brand_name.trim().is_empty() || self.brand_name.chars().count() > 60 {
            bail!("brand_name: must have 1 to 60 characters");
        }
        let logo = &self.brand_logo_url;
        if !logo.is_empty() && (!logo.starts_with("https://") || logo.contains(['"', ' ', '<'])) {
            bail!("brand_logo_url: must be an https address");
        }
        let digits = self.brand_color.strip_prefix('#').unwrap_or_default();
        if digits.len() != 6 || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
            bail!("brand_color: must be a colour such as #4a16ba");
        }
        let reply_to = &self.mail_reply_to;
        if !reply_to.is_empty() && Email::try_from(reply_to.clone()).is_err() {
            bail!("mail_reply_to: must be an e-mail address");
        }
        if Timestamp::start_of_day("2026-01-01", &self.time_zone).is_none() {
            bail!("time_zone: must be an IANA time zone such as Asia/Seoul");
        }
        if self.business_name.chars().count() > 100 {
            bail!("business_name: must have at most 100 characters");
        }
        let number = &self.business_number;
        if !number.is_empty() && BusinessNumber::parse(number).is_none() {
            bail!("business_number: must be a business registration number such as 220-81-62517");
        }
        Ok(())
    }

    pub(super) fn look(&self, home: &str) -> Look {
        let number = BusinessNumber::parse(&self.business_number);
        Look {
            name: self.brand_name.trim().to_owned(),
            logo_url: self.brand_logo_url.clone(),
            color: self.brand_color.clone(),
            reply_to: self.mail_reply_to.clone(),
            home: home.trim_end_matches('/').to_owned(),
            business_name: self.business_name.trim().to_owned(),
            business_number: number.map_or_else(String::new, |it| it.as_str().to_owned()),
        }
    }
}

/// Keys for passes in the wallets of phones.
#[derive(Clone, Debug, Deserialize)]
pub struct Passes {
    pub apple_pass_type_id: String,
    pub apple_team_id: String,
    pub apple_pass_certificate: PathBuf,
    pub apple_pass_private_key: PathBuf,
    pub apple_wwdr_certificate: PathBuf,
    pub google_wallet_issuer_id: String,
    pub google_wallet_account_file: PathBuf,
}

impl Passes {
    pub(super) fn check(&self) -> Result<()> {
        let text = |path: &Path| !path.as_os_str().is_empty();
        let apple = [
            !self.apple_pass_type_id.is_empty(),
            !self.apple_team_id.is_empty(),
            text(&self.apple_pass_certificate),
            text(&self.apple_pass_private_key),
            text(&self.apple_wwdr_certificate),
        ];
        if apple.contains(&true) && apple.contains(&false) {
            bail!(
                "apple_pass_type_id, apple_team_id, apple_pass_certificate, apple_pass_private_key \
                 and apple_wwdr_certificate: set all or none"
            );
        }
        if apple[0] && !self.apple_pass_type_id.starts_with("pass.") {
            bail!("apple_pass_type_id: must begin with `pass.`");
        }
        let issuer = &self.google_wallet_issuer_id;
        if issuer.is_empty() == text(&self.google_wallet_account_file) {
            bail!("google_wallet_issuer_id and google_wallet_account_file: set both or neither");
        }
        if !issuer.chars().all(|it| it.is_ascii_digit()) || issuer.len() > 20 {
            bail!("google_wallet_issuer_id: must be a number of at most 20 digits");
        }
        Ok(())
    }

    /// Keys for Apple Wallet, if they are set.
    pub(super) fn apple(&self) -> Option<ApplePassSettings> {
        (!self.apple_pass_type_id.is_empty()).then(|| ApplePassSettings {
            pass_type_id: self.apple_pass_type_id.clone(),
            team_id: self.apple_team_id.clone(),
            certificate: self.apple_pass_certificate.clone(),
            private_key: self.apple_pass_private_key.clone(),
            wwdr_certificate: self.apple_wwdr_certificate.clone(),
        })
    }

    /// Keys for Google Wallet, if they are set.
    pub(super) fn google(&self) -> Result<Option<GooglePassSettings>> {
        if self.google_wallet_issuer_id.is_empty() {
            return Ok(None);
        }
        let file = &self.google_wallet_account_file;
        let account = std::fs::read_to_string(file).with_context(|| {
            format!("google_wallet_account_file: cannot read {}", file.display())
        })?;
        let issuer_id = self.google_wallet_issuer_id.clone();
        Ok(Some(GooglePassSettings { issuer_id, account }))
    }
}

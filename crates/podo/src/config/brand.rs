//! The organiser's name and look in notifications and on tickets.

use anyhow::{Result, bail};
use podo_app::messaging::templates::Brand as Look;
use podo_domain::identity::Email;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct Brand {
    pub brand_name: String,
    pub brand_logo_url: String,
    pub brand_color: String,
    pub mail_reply_to: String,
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
        Ok(())
    }

    pub(super) fn look(&self, home: &str) -> Look {
        Look {
            name: self.brand_name.trim().to_owned(),
            logo_url: self.brand_logo_url.clone(),
            color: self.brand_color.clone(),
            reply_to: self.mail_reply_to.clone(),
            home: home.trim_end_matches('/').to_owned(),
        }
    }
}

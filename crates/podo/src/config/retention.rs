//! Settings of data retention.

use anyhow::{Context, Result, bail};
use podo_domain::operations::retention::{YEARS_MAX, YEARS_MIN, records_kept_for};
use serde::Deserialize;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Debug, Deserialize)]
pub struct Retention {
    pub login_history_days: u32,
    pub payment_retention_years: u32,
}

impl Retention {
    pub(super) fn check(&self) -> Result<()> {
        if !(92..=1_096).contains(&self.login_history_days) {
            bail!("login_history_days: must be 92 to 1096, is {}", self.login_history_days);
        }
        self.records_for()?;
        Ok(())
    }

    /// How long purchase records are kept.
    pub fn records_for(&self) -> Result<Duration> {
        let years = self.payment_retention_years;
        records_kept_for(years).with_context(|| {
            format!(
                "payment_retention_years: must be {YEARS_MIN} to {YEARS_MAX}, is {years}; Korean law \
                 requires {YEARS_MIN} years"
            )
        })
    }

    /// How long logins are kept.
    pub fn logins_for(&self) -> Duration {
        DAY * self.login_history_days
    }
}

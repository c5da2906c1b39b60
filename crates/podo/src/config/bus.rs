//! Settings of the bus.

#[cfg(feature = "kafka")]
use crate::config::Switch;
use anyhow::{Result, bail};
use secrecy::SecretString;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Debug, Deserialize)]
pub struct Bus {
    pub bus_url: String,
    pub bus_prefix: String,
    pub bus_create_topics: crate::config::Switch,
    pub bus_partitions: u32,
    pub bus_replication: u32,
    pub bus_retention_days: u32,
    pub bus_idempotence: crate::config::Switch,
    pub bus_security: String,
    pub bus_mechanism: String,
    pub bus_username: String,
    pub bus_password: SecretString,
    pub bus_ca: PathBuf,
    pub bus_options: Vec<String>,
    pub relay_every_ms: u32,
    pub relay_notify: crate::config::Switch,
}

const SECURITY: [&str; 4] = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"];

impl Bus {
    pub(super) fn check(&self) -> Result<()> {
        if !(1..=1_000).contains(&self.bus_partitions) {
            bail!("bus_partitions: must be 1 to 1000, is {}", self.bus_partitions);
        }
        if !(1..=9).contains(&self.bus_replication) {
            bail!("bus_replication: must be 1 to 9, is {}", self.bus_replication);
        }
        if self.bus_retention_days == 0 {
            bail!("bus_retention_days: must be at least 1");
        }
        if !SECURITY.contains(&self.bus_security.as_str()) {
            bail!("bus_security: must be one of {}", SECURITY.join(", "));
        }
        if self.bus_security.starts_with("sasl") && self.bus_username.is_empty() {
            bail!("bus_username: `{}` requires bus_username and bus_password", self.bus_security);
        }
        if self.relay_every_ms < 10 {
            bail!("relay_every_ms: must be at least 10");
        }
        self.options().map(drop)
    }

    /// Whether other processes receive what this one publishes.
    pub fn reaches_others(&self) -> bool {
        self.bus_url != "memory:"
    }

    /// Parses the librdkafka properties.
    fn options(&self) -> Result<Vec<(String, String)>> {
        let part = |option: &String| match option.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => bail!("bus_options: write `{option}` as `key=value`"),
        };
        self.bus_options.iter().map(part).collect()
    }

    #[cfg(feature = "kafka")]
    pub(super) fn kafka(&self) -> Result<podo_adapters::kafka::KafkaSettings> {
        use secrecy::ExposeSecret;
        let brokers = self.bus_url.trim_start_matches("kafka:").trim_start_matches("//");
        let days = u64::from(self.bus_retention_days);
        let ca = &self.bus_ca;
        Ok(podo_adapters::kafka::KafkaSettings {
            brokers: brokers.to_owned(),
            prefix: self.bus_prefix.clone(),
            makes_topics: self.bus_create_topics == Switch::On,
            partitions: self.bus_partitions,
            replication: self.bus_replication,
            retention: std::time::Duration::from_secs(days * 24 * 60 * 60),
            idempotence: self.bus_idempotence == Switch::On,
            security: self.bus_security.clone(),
            mechanism: self.bus_mechanism.clone(),
            username: self.bus_username.clone(),
            password: self.bus_password.expose_secret().to_owned(),
            ca: (!ca.as_os_str().is_empty()).then(|| ca.clone()),
            options: self.options()?,
        })
    }
}

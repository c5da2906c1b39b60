//! Settings: built-in defaults, then a file, then the environment, then flags.

mod aws;
mod brand;
mod bus;
mod channels;
pub(crate) mod data_folder;
mod gateways;
mod people;
mod retention;
pub mod roles;
pub(crate) mod secret;
mod sources;

pub use aws::Media;
pub(crate) use aws::MediaPlace;
pub use brand::{Brand, Passes};
pub use bus::Bus;
pub use channels::Channels;
pub use gateways::Gateways;
pub use people::{ConfirmEmail, People};
pub use retention::Retention;

use crate::config::aws::AwsEnvironment;
use crate::config::roles::Roles;
use crate::http::edge::embeds::EmbedOrigins;
use crate::http::proxies::{ForwardedHeader, Proxies};
use anyhow::{Context, Result, anyhow, bail};
use podo_adapters::gateways::GatewaySettings;
use podo_adapters::notify::ChannelSettings;
use podo_adapters::sql::{Connections, DEADLINE_EXTRA, Logins, PostgresSettings};
use podo_domain::waiting_room::HealthLimits;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;
use toml::{Table, Value};

/// Both the manual and the defaults.
pub const DEFAULT: &str = include_str!("config.default.toml");

#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    pub listen: String,
    pub listen_admin: String,
    pub roles: Roles,
    pub data: PathBuf,
    pub store_url: String,
    pub store_connections: u32,
    pub store_roles: StoreRoles,
    pub store_logins: Vec<String>,
    pub store_role_connections: String,
    pub store_statement_timeout_ms: u32,
    pub store_lock_timeout_ms: u32,
    pub store_deadline_ms: u32,
    pub replica_urls: Vec<String>,
    pub replica_lag_max_ms: u32,
    pub store_ca: String,
    pub live_url: String,
    pub live_ca: PathBuf,
    #[serde(flatten)]
    pub bus: Bus,
    #[serde(flatten)]
    pub channels: Channels,
    #[serde(flatten)]
    pub brand: Brand,
    #[serde(flatten)]
    pub passes: Passes,
    #[serde(flatten)]
    pub media: Media,
    #[serde(skip)]
    aws: AwsEnvironment,
    pub hold_seconds: u32,
    pub offer_seconds: u32,
    pub admit_every_ms: u32,
    pub slow_down_p99_ms: u32,
    pub slow_down_errors_percent: u32,
    pub token_secret: SecretString,
    pub token_secret_previous: SecretString,
    pub field_secret: SecretString,
    pub field_secret_previous: SecretString,
    pub sweep_every_ms: u32,
    pub reconcile_every_seconds: u32,
    pub verify_every_seconds: u32,
    pub limits: Switch,
    pub requests_per_second_per_ip: u32,
    pub requests_per_minute_per_user: u32,
    pub gate_requests_per_second_per_ip: u32,
    pub gate_requests_per_minute_per_user: u32,
    pub connections_per_ip: u32,
    pub streams_per_ip: u32,
    pub unsent_mb_per_ip: u32,
    pub header_seconds: u32,
    pub request_seconds: u32,
    pub idle_seconds: u32,
    pub send_stall_seconds: u32,
    pub trusted_proxies: Vec<String>,
    pub forwarded_header: ForwardedHeader,
    pub public_url: String,
    pub embed_origins: Vec<String>,
    pub sandbox: SandboxMode,
    pub sandbox_beside_real_gateways: SandboxBesideReal,
    pub gateway_timeout_seconds: u32,
    #[serde(flatten)]
    pub gateways: Gateways,
    #[serde(flatten)]
    pub people: People,
    #[serde(flatten)]
    pub retention: Retention,
    pub ticket_codes: TicketCodes,
    pub log: LogStyle,
    pub otlp_endpoint: String,
    pub otlp_percent: u32,
    pub admin_email: String,
    pub admin_password: SecretString,
    #[serde(skip)]
    shown: String,
    /// A warning for each setting that was given under a deprecated name.
    #[serde(skip)]
    pub deprecated: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    On,
    Off,
}

/// The PostgreSQL users that the services connect as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreRoles {
    /// Every service connects as the URL's user.
    Off,
    /// Every service switches to its role.
    On,
    /// Every service switches to its role if the URL's user is a member of it.
    Auto,
    /// Every service logs in with its own credentials.
    Logins,
}

/// When the built-in payment sandbox, which moves no money, is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// While no real gateway is configured.
    Auto,
    On,
    Off,
}

/// Whether the sandbox may run beside a real gateway, where fans could choose to pay nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum SandboxBesideReal {
    #[serde(rename = "refuse")]
    Refuse,
    #[serde(rename = "fans may buy for nothing")]
    FansMayBuyForNothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogStyle {
    Auto,
    Pretty,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TicketCodes {
    Fixed,
    Rotating,
}

/// Settings given on the command line, and the settings file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub file: Option<PathBuf>,
    pub listen: Option<String>,
    pub roles: Option<String>,
    pub data: Option<PathBuf>,
}

impl Config {
    /// Reads all sources. `variable` looks up the environment.
    pub fn load(
        overrides: &Overrides,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Config> {
        let mut table: Table = DEFAULT.parse().context("the built-in defaults do not parse")?;
        let file = overrides.file.clone().or_else(|| variable("PODO_CONFIG").map(PathBuf::from));
        let mut deprecated = Vec::new();
        if let Some(file) = file {
            deprecated = sources::merge_file(&mut table, &file)?;
        }
        let aws = AwsEnvironment::read(&variable);
        deprecated.extend(sources::merge_environment(&mut table, variable)?);
        if let Some(listen) = &overrides.listen {
            table.insert("listen".into(), Value::String(listen.clone()));
        }
        if let Some(roles) = &overrides.roles {
            table.insert("roles".into(), Value::String(roles.clone()));
        }
        if let Some(data) = &overrides.data {
            table.insert("data".into(), Value::String(data.display().to_string()));
        }
        let shown = sources::describe(&table);
        let config: Config = table.try_into().context("a setting has the wrong type")?;
        config.check()?;
        Ok(Config { shown, deprecated, aws, ..config })
    }

    /// Whether the payment sandbox is offered.
    pub fn has_sandbox(&self) -> bool {
        match self.sandbox {
            SandboxMode::Auto => !self.gateways.is_any(),
            SandboxMode::On => true,
            SandboxMode::Off => false,
        }
    }

    fn check_sandbox(&self) -> Result<()> {
        let may_stand_beside =
            self.sandbox_beside_real_gateways == SandboxBesideReal::FansMayBuyForNothing;
        match (self.has_sandbox(), self.gateways.is_any()) {
            (false, false) => {
                bail!("sandbox: it is off, and no payment gateway is configured")
            }
            (true, true) if !may_stand_beside => bail!(
                "sandbox: it is on beside a real payment gateway, so any fan could choose it and buy \
                 for nothing; set sandbox = \"auto\", or if that is meant \
                 sandbox_beside_real_gateways = \"fans may buy for nothing\""
            ),
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<()> {
        if self.hold_seconds == 0 || self.hold_seconds > 3_600 {
            bail!("hold_seconds: must be 1 to 3600, is {}", self.hold_seconds);
        }
        if self.offer_seconds == 0 || self.offer_seconds > 86_400 {
            bail!("offer_seconds: must be 1 to 86400, is {}", self.offer_seconds);
        }
        if !(10..=1_000).contains(&self.admit_every_ms) {
            bail!(
                "admit_every_ms: must be 10 to 1000: a free slot must be filled within two seconds"
            );
        }
        if self.sweep_every_ms < 10 {
            bail!("sweep_every_ms: must be at least 10");
        }
        if self.slow_down_errors_percent > 100 {
            bail!("slow_down_errors_percent: must be 0 to 100");
        }
        if self.verify_every_seconds < 60 {
            bail!("verify_every_seconds: must be at least 60");
        }
        if self.reconcile_every_seconds == 0 {
            bail!("reconcile_every_seconds: must be at least 1");
        }
        if !(1..=1_000).contains(&self.store_connections) {
            bail!("store_connections: must be 1 to 1000, is {}", self.store_connections);
        }
        if self.store_statement_timeout_ms < 100 || self.store_lock_timeout_ms < 100 {
            bail!("store_statement_timeout_ms and store_lock_timeout_ms: must be at least 100");
        }
        self.postgres(&self.store_url)?;
        self.check_limits()?;
        self.check_patience()?;
        self.proxies()?;
        if self.live_url == "memory:" && !self.roles.is_complete() {
            bail!(
                "roles: `{}` leaves a part to other nodes, but live_url = \"memory:\" keeps the \
                 waiting room inside this process, where they cannot see it: no fan would be \
                 admitted. Give all nodes one `live_url = \"redis://…\"`, or run all roles here",
                self.roles
            );
        }
        if self.otlp_percent > 100 {
            bail!("otlp_percent: must be 0 to 100");
        }
        self.bus.check()?;
        self.channels.check()?;
        self.brand.check()?;
        self.passes.check()?;
        self.media.check()?;
        self.embeds()?;
        self.gateways.check(&self.public_url)?;
        self.check_sandbox()?;
        self.people.check(&self.public_url)?;
        self.retention.check()?;
        if self.admin_email.is_empty() != self.admin_password.expose_secret().is_empty() {
            bail!("admin_email and admin_password: set both or neither");
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<()> {
        let limits = [
            ("requests_per_second_per_ip", self.requests_per_second_per_ip),
            ("requests_per_minute_per_user", self.requests_per_minute_per_user),
            ("gate_requests_per_second_per_ip", self.gate_requests_per_second_per_ip),
            ("gate_requests_per_minute_per_user", self.gate_requests_per_minute_per_user),
            ("connections_per_ip", self.connections_per_ip),
        ];
        if let Some((name, _)) = limits.into_iter().find(|(_, limit)| *limit == 0) {
            bail!("{name}: must be at least 1; `limits = \"off\"` disables it");
        }
        if self.streams_per_ip == 0 || self.unsent_mb_per_ip == 0 {
            bail!("streams_per_ip and unsent_mb_per_ip: must be at least 1");
        }
        Ok(())
    }

    fn check_patience(&self) -> Result<()> {
        let times = [
            ("header_seconds", self.header_seconds),
            ("request_seconds", self.request_seconds),
            ("idle_seconds", self.idle_seconds),
            ("send_stall_seconds", self.send_stall_seconds),
        ];
        for (name, seconds) in times {
            if !(1..=3_600).contains(&seconds) {
                bail!("{name}: must be 1 to 3600, is {seconds}");
            }
        }
        if self.request_seconds < self.header_seconds {
            bail!("request_seconds: must not be less than header_seconds, which is a part of it");
        }
        Ok(())
    }

    /// Whether an e-mail address must be confirmed before the account is created.
    pub fn confirms_email(&self) -> bool {
        match self.people.confirm_email {
            ConfirmEmail::Auto => !self.channels.smtp_url.expose_secret().is_empty(),
            ConfirmEmail::On => true,
            ConfirmEmail::Off => false,
        }
    }

    pub fn offer_length(&self) -> Duration {
        Duration::from_secs(u64::from(self.offer_seconds))
    }

    pub fn hold_length(&self) -> Duration {
        Duration::from_secs(u64::from(self.hold_seconds))
    }

    /// The load above which fewer fans are admitted; `None` if both limits are 0.
    pub fn health_limits(&self) -> Option<HealthLimits> {
        let or_never = |limit: u64| if limit == 0 { u64::MAX / 10 } else { limit };
        let p99_ms = u64::from(self.slow_down_p99_ms);
        let percent = u64::from(self.slow_down_errors_percent);
        let limits =
            HealthLimits { p99_ms: or_never(p99_ms), failed_per_mille: or_never(percent * 10) };
        (p99_ms > 0 || percent > 0).then_some(limits)
    }

    pub fn verify_every(&self) -> Duration {
        Duration::from_secs(u64::from(self.verify_every_seconds))
    }

    pub fn reconcile_every(&self) -> Duration {
        Duration::from_secs(u64::from(self.reconcile_every_seconds))
    }

    /// How to connect to PostgreSQL.
    pub fn postgres(&self, url: &str) -> Result<PostgresSettings> {
        let n_all = self.store_connections as usize;
        let connections = match (self.store_roles, self.store_role_connections.as_str()) {
            (StoreRoles::Off, _) => Connections::Shared(n_all),
            (_, "") => Connections::per_role(n_all),
            (_, split) => {
                let split = split.parse().map_err(|error: String| anyhow!(error));
                Connections::PerRole(split.context("store_role_connections")?)
            }
        };
        let logins = match self.store_roles {
            StoreRoles::Logins => {
                let logins = Logins::read(&self.store_logins).map_err(|error| anyhow!(error));
                Some(logins.context("store_logins")?)
            }
            StoreRoles::Off | StoreRoles::On | StoreRoles::Auto => None,
        };
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        let statement_timeout = ms(self.store_statement_timeout_ms);
        let deadline = match self.store_deadline_ms {
            0 => statement_timeout + DEADLINE_EXTRA,
            set => ms(set),
        };
        if deadline <= statement_timeout {
            bail!("store_deadline_ms: must be more than store_statement_timeout_ms, or 0");
        }
        Ok(PostgresSettings {
            are_roles_optional: self.store_roles == StoreRoles::Auto,
            logins,
            statement_timeout,
            deadline,
            lock_timeout: ms(self.store_lock_timeout_ms),
            replica_urls: self.replica_urls.clone(),
            replica_lag_max: ms(self.replica_lag_max_ms),
            ca: (!self.store_ca.is_empty()).then(|| PathBuf::from(&self.store_ca)),
            ..PostgresSettings::new(url, connections)
        })
    }

    /// The sites that may show our pages in a frame and call the API from a browser.
    pub fn embeds(&self) -> Result<EmbedOrigins> {
        EmbedOrigins::parse(&self.embed_origins).context("embed_origins")
    }

    /// The configured payment gateways.
    pub fn gateways(&self) -> GatewaySettings {
        let seconds = u64::from(self.gateway_timeout_seconds);
        GatewaySettings {
            public_url: self.public_url.trim_end_matches('/').to_owned(),
            patience: (seconds > 0).then(|| Duration::from_secs(seconds)),
            ..self.gateways.settings()
        }
    }

    /// How to connect to Kafka.
    #[cfg(feature = "kafka")]
    pub fn kafka(&self) -> Result<podo_adapters::kafka::KafkaSettings> {
        self.bus.kafka()
    }

    /// The channels that notifications are sent through.
    pub fn channels(&self) -> Result<ChannelSettings> {
        self.channels.settings(&self.aws)
    }

    /// The organiser's name and look.
    pub fn look(&self) -> podo_app::messaging::templates::Brand {
        self.brand.look(&self.public_url)
    }

    /// Keys for Apple Wallet, if they are set.
    pub fn apple_passes(&self) -> Option<podo_adapters::passes::ApplePassSettings> {
        self.passes.apple()
    }

    /// Keys for Google Wallet, if they are set.
    pub fn google_passes(&self) -> Result<Option<podo_adapters::passes::GooglePassSettings>> {
        self.passes.google()
    }

    /// Where pictures are stored.
    pub(crate) fn media_place(&self) -> Result<MediaPlace> {
        self.media.place(&self.data, &self.aws)
    }

    /// Private networks that organisers' webhooks may reach.
    pub fn webhook_networks(&self) -> Result<Vec<ipnet::IpNet>> {
        self.channels.networks()
    }

    /// The effective settings, without secrets.
    pub fn describe(&self) -> &str {
        &self.shown
    }

    /// The trusted proxies.
    pub fn proxies(&self) -> Result<Proxies> {
        Proxies::parse(&self.trusted_proxies, self.forwarded_header)
            .map_err(|error| anyhow!(error))
            .context("trusted_proxies")
    }
}

/// The environment of this process.
#[expect(clippy::disallowed_methods, reason = "this is where settings are read")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests;

//! Settings: the built-in defaults, a file, the environment and flags, in this order.

mod bus;
mod channels;
mod gateways;
mod people;

pub use bus::Bus;
pub use channels::Channels;
pub use gateways::Gateways;
pub use people::{ConfirmEmail, People};

use crate::proxies::Proxies;
use crate::roles::Roles;
use adapters::gateways::GatewaySettings;
use adapters::notify::ChannelSettings;
use adapters::sql::{Connections, PostgresSettings};
use anyhow::{Context, Result, anyhow, bail};
use domain::queue::HealthLimits;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::{Table, Value};

/// The manual and the default in one.
pub const DEFAULT: &str = include_str!("config.default.toml");

#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    pub listen: String,
    pub listen_admin: String,
    pub roles: Roles,
    pub data: PathBuf,
    pub store_url: String,
    pub store_connections: u32,
    pub store_roles: Switch,
    pub store_role_connections: String,
    pub store_statement_timeout_ms: u32,
    pub store_lock_timeout_ms: u32,
    pub replica_urls: Vec<String>,
    pub replica_lag_max_ms: u32,
    pub store_ca: String,
    pub live_url: String,
    pub live_ca: PathBuf,
    #[serde(flatten)]
    pub bus: Bus,
    #[serde(flatten)]
    pub channels: Channels,
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
    pub connections_per_ip: u32,
    pub trusted_proxies: Vec<String>,
    pub public_url: String,
    pub sandbox: Switch,
    pub gateway_timeout_seconds: u32,
    #[serde(flatten)]
    pub gateways: Gateways,
    #[serde(flatten)]
    pub people: People,
    pub ticket_codes: TicketCodes,
    pub log: LogStyle,
    pub otlp_endpoint: String,
    pub otlp_percent: u32,
    pub admin_email: String,
    pub admin_password: SecretString,
    #[serde(skip)]
    shown: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    On,
    Off,
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

/// Settings given on the command line, and the file to read.
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
        if let Some(file) = file {
            merge(&mut table, read_file(&file)?, &file.display().to_string())?;
        }
        merge_environment(&mut table, variable)?;
        if let Some(listen) = &overrides.listen {
            table.insert("listen".into(), Value::String(listen.clone()));
        }
        if let Some(roles) = &overrides.roles {
            table.insert("roles".into(), Value::String(roles.clone()));
        }
        if let Some(data) = &overrides.data {
            table.insert("data".into(), Value::String(data.display().to_string()));
        }
        let shown = describe(&table);
        let config: Config = table.try_into().context("a setting has the wrong type")?;
        config.check()?;
        Ok(Config { shown, ..config })
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
                "admit_every_ms: must be 10 to 1000: a free slot is given away within two seconds"
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
        if self.requests_per_second_per_ip == 0 {
            bail!("requests_per_second_per_ip: must be at least 1; `limits = \"off\"` lifts it");
        }
        if self.requests_per_minute_per_user == 0 {
            bail!("requests_per_minute_per_user: must be at least 1; `limits = \"off\"` lifts it");
        }
        if self.connections_per_ip == 0 {
            bail!("connections_per_ip: must be at least 1; `limits = \"off\"` lifts it");
        }
        self.proxies()?;
        if self.live_url == "memory:" && !self.roles.is_complete() {
            bail!(
                "roles: `{}` leaves a part to other nodes, but live_url = \"memory:\" keeps the \
                 waiting room inside this process, where they cannot see it: nobody would be let \
                 in. Give all nodes one `live_url = \"redis://…\"`, or run all roles here",
                self.roles
            );
        }
        if self.otlp_percent > 100 {
            bail!("otlp_percent: must be 0 to 100");
        }
        self.bus.check()?;
        self.channels.check()?;
        self.gateways.check(&self.public_url, self.sandbox)?;
        self.people.check(&self.public_url)?;
        if self.admin_email.is_empty() != self.admin_password.expose_secret().is_empty() {
            bail!("admin_email and admin_password: set both or none");
        }
        Ok(())
    }

    /// Whether an address has to be confirmed before it has an account.
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

    /// Above what fewer fans are let in; never, when both are 0.
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

    /// How the store is reached when it is PostgreSQL.
    pub fn postgres(&self, url: &str) -> Result<PostgresSettings> {
        let n_all = self.store_connections as usize;
        let connections = match (self.store_roles, self.store_role_connections.as_str()) {
            (Switch::Off, _) => Connections::Shared(n_all),
            (Switch::On, "") => Connections::per_role(n_all),
            (Switch::On, split) => {
                let split = split.parse().map_err(|error: String| anyhow!(error));
                Connections::PerRole(split.context("store_role_connections")?)
            }
        };
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        Ok(PostgresSettings {
            statement_timeout: ms(self.store_statement_timeout_ms),
            lock_timeout: ms(self.store_lock_timeout_ms),
            replica_urls: self.replica_urls.clone(),
            replica_lag_max: ms(self.replica_lag_max_ms),
            ca: (!self.store_ca.is_empty()).then(|| PathBuf::from(&self.store_ca)),
            ..PostgresSettings::new(url, connections)
        })
    }

    /// The payment companies that are set up.
    pub fn gateways(&self) -> GatewaySettings {
        let seconds = u64::from(self.gateway_timeout_seconds);
        GatewaySettings {
            public_url: self.public_url.trim_end_matches('/').to_owned(),
            patience: (seconds > 0).then(|| Duration::from_secs(seconds)),
            ..self.gateways.settings()
        }
    }

    /// How Kafka is reached.
    #[cfg(feature = "kafka")]
    pub fn kafka(&self) -> Result<adapters::kafka::KafkaSettings> {
        self.bus.kafka()
    }

    /// What letters leave the house over.
    pub fn channels(&self) -> Result<ChannelSettings> {
        self.channels.settings()
    }

    /// Private networks that organisers' webhooks may be in.
    pub fn webhook_networks(&self) -> Result<Vec<ipnet::IpNet>> {
        self.channels.networks()
    }

    /// What counts, without secrets.
    pub fn describe(&self) -> &str {
        &self.shown
    }

    /// The proxies in front.
    pub fn proxies(&self) -> Result<Proxies> {
        Proxies::parse(&self.trusted_proxies)
            .map_err(|error| anyhow!(error))
            .context("trusted_proxies")
    }
}

/// All settings as TOML. Of a secret it is shown only whether there is one.
fn describe(table: &Table) -> String {
    let is_secret = |key: &str| {
        ["secret", "password", "_key", "smtp_url", "bus_options"]
            .iter()
            .any(|word| key.contains(word))
    };
    let line = |(key, value): (&String, &Value)| match (value.as_str(), value.as_array()) {
        (Some(""), _) => format!("{key} = \"\"\n"),
        (Some(_), _) if is_secret(key) => format!("{key} = \"(set)\"\n"),
        (Some(text), _) => format!("{key} = {:?}\n", without_password(text)),
        (None, Some(items)) => {
            let items = items.iter().filter_map(Value::as_str).map(without_password);
            format!("{key} = {:?}\n", items.collect::<Vec<_>>())
        }
        (None, None) => format!("{key} = {value}\n"),
    };
    table.iter().map(line).collect::<String>().trim_end().to_owned()
}

/// A URL as it may be shown.
fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (person, host) = rest.rsplit_once('@')?;
        let (user, _) = person.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{host}"))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}

/// The environment of this process.
#[expect(clippy::disallowed_methods, reason = "this is where settings are read")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn read_file(file: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the settings file {}", file.display()))?;
    text.parse().with_context(|| format!("{} is not TOML", file.display()))
}

fn merge(table: &mut Table, more: Table, source: &str) -> Result<()> {
    for (key, value) in more {
        if !table.contains_key(&key) {
            bail!("{source}: unknown setting `{key}`; `podo check-config --manual` lists all");
        }
        table.insert(key, value);
    }
    Ok(())
}

/// `PODO_HOLD_SECONDS=2` sets `hold_seconds`, as the type that the default has; a list is written
/// with commas.
fn merge_environment(table: &mut Table, variable: impl Fn(&str) -> Option<String>) -> Result<()> {
    for (key, value) in table.iter_mut() {
        let name = format!("PODO_{}", key.to_uppercase());
        let Some(text) = variable(&name) else { continue };
        *value = if value.is_integer() {
            let number = text.parse().with_context(|| format!("{name}: `{text}` is no number"))?;
            Value::Integer(number)
        } else if value.is_array() {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
        } else {
            Value::String(text)
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)], overrides: &Overrides) -> Result<Config> {
        Config::load(overrides, |name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn everything_has_a_default() {
        let config = load(&[], &Overrides::default()).unwrap();
        assert_eq!(config.listen, "127.0.0.1:8080");
        assert_eq!(config.hold_length(), Duration::from_secs(300));
        assert_eq!(config.limits, Switch::On);
    }

    #[test]
    fn addresses_are_confirmed_where_letters_can_be_mailed() {
        let mail = [("PODO_SMTP_URL", "smtp://mail.example"), ("PODO_SMTP_FROM", "a@podo.example")];
        let confirms =
            |more: &[(&str, &str)]| load(more, &Overrides::default()).unwrap().confirms_email();
        assert!(!confirms(&[]), "nobody could get the code");
        assert!(confirms(&mail));
        assert!(!confirms(&[mail[0], mail[1], ("PODO_CONFIRM_EMAIL", "off")]));
        assert!(confirms(&[("PODO_CONFIRM_EMAIL", "on")]));
    }

    #[test]
    fn flags_win_over_the_environment() {
        let variables = [("PODO_LISTEN", "127.0.0.1:1"), ("PODO_HOLD_SECONDS", "2")];
        let flags = Overrides { listen: Some("127.0.0.1:2".into()), ..Overrides::default() };
        let config = load(&variables, &flags).unwrap();
        assert_eq!((config.listen.as_str(), config.hold_seconds), ("127.0.0.1:2", 2));
    }

    #[test]
    fn replicas_are_a_list_and_their_passwords_are_not_shown() {
        let urls = "postgres://podo:grapes-9@a/podo, postgres://podo@b/podo";
        let config = load(&[("PODO_REPLICA_URLS", urls)], &Overrides::default()).unwrap();
        let settings = config.postgres("postgres://podo@c/podo").unwrap();
        assert_eq!(settings.replica_urls.len(), 2);
        assert_eq!(settings.replica_urls[1], "postgres://podo@b/podo");
        assert!(!config.describe().contains("grapes-9"), "{}", config.describe());
    }

    #[test]
    fn an_unknown_or_wrong_setting_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("podo.toml");
        std::fs::write(&file, "hold_secnods = 3").unwrap();
        let flags = Overrides { file: Some(file), ..Overrides::default() };
        let refused = load(&[], &flags).unwrap_err().to_string();
        assert!(refused.contains("hold_secnods"), "{refused}");
        let refused = load(&[("PODO_HOLD_SECONDS", "soon")], &Overrides::default());
        assert!(format!("{:#}", refused.unwrap_err()).contains("PODO_HOLD_SECONDS"));
        let refused = load(&[("PODO_HOLD_SECONDS", "0")], &Overrides::default());
        assert!(format!("{:#}", refused.unwrap_err()).contains("hold_seconds"));
    }

    #[test]
    fn a_free_slot_is_never_left_for_long() {
        let slow = load(&[("PODO_ADMIT_EVERY_MS", "2000")], &Overrides::default());
        assert!(slow.unwrap_err().to_string().contains("admit_every_ms"));
    }

    #[test]
    fn fans_are_let_in_more_slowly_by_the_limits_that_are_set() {
        let limits = |p99_ms, percent| {
            let set =
                [("PODO_SLOW_DOWN_P99_MS", p99_ms), ("PODO_SLOW_DOWN_ERRORS_PERCENT", percent)];
            load(&set, &Overrides::default()).unwrap().health_limits()
        };
        let both = HealthLimits { p99_ms: 700, failed_per_mille: 20 };
        assert_eq!(limits("700", "2"), Some(both));
        assert_eq!(limits("0", "2").map(|it| it.failed_per_mille), Some(20));
        assert_eq!(limits("0", "0"), None);
    }

    #[test]
    fn a_part_of_the_roles_needs_engines_that_nodes_share() {
        let alone = load(&[("PODO_ROLES", "queue,booking")], &Overrides::default());
        let refused = alone.unwrap_err().to_string();
        assert!(refused.contains("`queue,booking`") && refused.contains("live_url"), "{refused}");
        let shared = [("PODO_ROLES", "queue"), ("PODO_LIVE_URL", "redis://127.0.0.1:1")];
        let flags = Overrides { roles: Some("worker".into()), ..Overrides::default() };
        assert_eq!(load(&shared, &flags).unwrap().roles.to_string(), "worker");
    }

    #[test]
    fn the_password_is_never_shown() {
        let variables = [("PODO_ADMIN_EMAIL", "a@b.kr"), ("PODO_ADMIN_PASSWORD", "grapes-9")];
        let config = load(&variables, &Overrides::default()).unwrap();
        assert!(
            !config.describe().contains("grapes-9") && !format!("{config:?}").contains("grapes-9")
        );
        assert!(config.describe().contains("admin_password = \"(set)\""), "{}", config.describe());
        assert!(config.describe().contains("hold_seconds = 300"), "{}", config.describe());
    }
}

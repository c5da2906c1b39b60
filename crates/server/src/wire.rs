//! Which adapter stands behind which port: the only file that knows.

use crate::config::{Config, Switch, TicketCodes};
use crate::{data_folder, secret};
use adapters::clock::{SteadyClock, SystemChance, SystemClock};
use adapters::gateways::PortOneIdentity;
use adapters::gateways::sandbox::Sandbox;
use adapters::notify::Outside;
use adapters::otlp::{self, Exporter};
use adapters::passwords::Argon2Pool;
use adapters::social::Oidc;
use adapters::sql::SqlStore;
use adapters::{memory, redis};
use anyhow::{Context, Result, anyhow, bail};
use app::Platform;
use app::clock::SyncedClock;
use app::platform::Rules;
use app::ports::bus::Bus;
use app::ports::clock::{Chance, Clock};
use app::ports::gateway::Gateway;
use app::ports::holds::Holds;
use app::ports::identity::Certifier;
use app::ports::limits::{Limits, SharedBuckets};
use app::ports::queue::Queue;
use app::ports::queue_blocks::QueueBlocks;
use app::ports::revocations::Revocations;
use app::ports::seat_versions::SeatVersions;
use app::ports::social::SocialService;
use app::ports::strains::Strains;
use app::queue::QueueLogBuffer;
use app::rate_limits::RateLimits;
use app::reconciliation::Reconciliation;
use app::schedules::Schedules;
use app::seals::{FieldKeys, Seals, token_secret};
use app::sessions::Sessions;
use app::tokens::TokenKeys;
use app::traces::Spans;
use domain::NodeId;
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The platform and the parts of it that the process needs by their own name.
pub struct Wired {
    pub platform: Platform,
    /// The platform's clock, to be compared with the store's now and then.
    pub clock: Arc<SyncedClock>,
    pub store: Arc<SqlStore>,
    /// `None` where real money is taken.
    pub sandbox: Option<Arc<Sandbox>>,
    /// Sends spans to the collector, if there is one.
    pub exporter: Option<Exporter>,
}

/// Opens the engines that the settings name.
pub async fn platform(config: &Config) -> Result<Wired> {
    data_folder::make(&config.data)?;
    let chance: Arc<dyn Chance> = Arc::new(SystemChance::new());
    let store = open_store(config, chance.clone()).await?;
    platform_on(config, Arc::new(store), chance).await
}

/// The store alone, for those who only look something up.
pub(crate) async fn open_store(config: &Config, chance: Arc<dyn Chance>) -> Result<SqlStore> {
    let store = match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(path) => SqlStore::sqlite(&path, chance),
        Store::Postgres(url) => SqlStore::postgres(&config.postgres(&url)?, chance).await,
    };
    store.map_err(|error| anyhow!(error))
}

/// Where everything that must survive is kept.
#[derive(Debug, PartialEq, Eq)]
pub enum Store {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Store {
    /// Reads `store_url`; a relative path of a SQLite file starts at the data folder.
    pub fn named_by(url: &str, data: &Path) -> Result<Store> {
        match url.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Store::Sqlite(data.join(path))),
            Some(("postgres" | "postgresql", _)) => Ok(Store::Postgres(url.to_owned())),
            Some((scheme, _)) => {
                bail!("store_url: unknown scheme `{scheme}` (sqlite, postgres)")
            }
            None => bail!("store_url: `{url}` is no URL; use sqlite:PATH or postgres://…"),
        }
    }
}

/// The same on a store that is open already: tests open theirs with a guard switched off.
pub async fn platform_on(
    config: &Config,
    store: Arc<SqlStore>,
    chance: Arc<dyn Chance>,
) -> Result<Wired> {
    let live = Live::open(config, store.clone()).await?;
    let bus = open_bus(config)?;
    let seals = seals(config, &secret::load_or_make(&config.data, &*chance)?)?;
    let synced_clock = Arc::new(SyncedClock::new(local_clock(config)?));
    synced_clock.sync(&*store).await.context("the store's clock")?;
    let clock: Arc<dyn Clock> = synced_clock.clone();
    let n_password_threads = std::thread::available_parallelism().map_or(1, |n| n.get() - 1);
    let passwords = Argon2Pool::start(n_password_threads).map_err(|error| anyhow!(error))?;
    let (gateways, sandbox) = gateways(config, &store, &chance)?;
    let node = NodeId::new(chance.id(clock.now()));
    let (spans, exporter) = open_traces(config, node)?;
    let platform = Platform {
        node,
        store: store.clone(),
        queue: live.queue,
        holds: live.holds,
        limits: live.limits,
        rate_limits: RateLimits::new(live.shared_buckets),
        revocations: live.revocations,
        strains: live.strains,
        seat_versions: live.seat_versions,
        bus,
        channels: config.channels()?.open().map_err(|error| anyhow!(error))?,
        courier: Arc::new(
            Outside::new(config.webhook_networks()?).map_err(|error| anyhow!(error))?,
        ),
        passwords: Arc::new(passwords),
        gateways,
        certifier: certifier(config, &chance, &clock)?,
        social: social(config, &chance, &clock)?,
        clock,
        chance,
        sessions: Sessions::new(&seals),
        seals,
        schedules: Schedules::default(),
        shelf: Default::default(),
        progress: Default::default(),
        knocks: Default::default(),
        proven: Default::default(),
        noted: Default::default(),
        openings: Default::default(),
        waits: Default::default(),
        queue_log: QueueLogBuffer::new(config.people.queue_log_for().is_none()),
        vitals: Default::default(),
        layouts: Default::default(),
        seat_maps: Default::default(),
        reconciliation: Reconciliation::default(),
        purchases: Default::default(),
        worker_tallies: Default::default(),
        job_tallies: Default::default(),
        spans,
        rules: Rules {
            hold_length: config.hold_length(),
            offer_length: config.offer_length(),
            limits_on: config.limits == Switch::On,
            health_limits: config.health_limits(),
            tickets_rotate: config.ticket_codes == TicketCodes::Rotating,
            admins_need_code: config.people.admin_codes == Switch::On,
            admin_idle: config.people.admin_idle(),
            admin_proof: config.people.admin_proof(),
            confirm_email: config.confirms_email(),
            queue_log_for: config.people.queue_log_for(),
            logins_for: config.retention.logins_for(),
            records_for: config.retention.records_for()?,
            sign_ups_per_minute: config.people.sign_ups_per_minute_per_ip,
        },
    };
    Ok(Wired { platform, clock: synced_clock, store, sandbox, exporter })
}

/// What is corrected to the store's clock must not be set by anybody else.
fn local_clock(config: &Config) -> Result<Arc<dyn Clock>> {
    Ok(match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(_) => Arc::new(SystemClock),
        Store::Postgres(_) => Arc::new(SteadyClock::start()),
    })
}

type Traces = (Option<Arc<dyn Spans>>, Option<Exporter>);

/// Where spans go, and what sends them, if they are wanted.
fn open_traces(config: &Config, node: NodeId) -> Result<Traces> {
    if config.otlp_endpoint.is_empty() {
        return Ok((None, None));
    }
    let opened = otlp::open(&config.otlp_endpoint, node.to_string());
    let (spans, exporter) = opened.map_err(|error| anyhow!(error))?;
    Ok((Some(Arc::new(spans)), Some(exporter)))
}

/// What carries messages to the workers.
fn open_bus(config: &Config) -> Result<Arc<dyn Bus>> {
    match config.bus.bus_url.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(memory::Bus::default())),
        #[cfg(feature = "kafka")]
        Some(("kafka", _)) => {
            let bus = adapters::kafka::Bus::open(config.kafka()?);
            Ok(Arc::new(bus.map_err(|error| anyhow!(error)).context("bus_url")?))
        }
        #[cfg(not(feature = "kafka"))]
        Some(("kafka", _)) => bail!("bus_url: this program was built without Kafka"),
        Some(_) | None => bail!("bus_url: unknown; use memory: or kafka://HOST:PORT,HOST:PORT…"),
    }
}

/// All keys, with those of the place and entry tokens as the operator set them.
fn seals(config: &Config, master: &[u8; 32]) -> Result<Seals> {
    let own = token_secret(master);
    let read = |name: &str, text: &SecretString| match text.expose_secret() {
        "" => Ok(None),
        OWN_SECRET => Ok(Some(own)),
        text => secret::parse(text)
            .map(Some)
            .with_context(|| format!("{name}: must be 64 hexadecimal digits or \"{OWN_SECRET}\"")),
    };
    let current = read("token_secret", &config.token_secret)?.unwrap_or(own);
    let previous = read("token_secret_previous", &config.token_secret_previous)?;
    let keys = TokenKeys::new(&current, previous.as_ref());
    if keys.are_alike() {
        bail!("token_secret: its key is named as that of token_secret_previous; choose another");
    }
    let of_fields = |name: &str, text: &SecretString| match text.expose_secret() {
        "" => Ok(None),
        text => secret::parse(text)
            .map(Some)
            .with_context(|| format!("{name}: must be 64 hexadecimal digits")),
    };
    let current = of_fields("field_secret", &config.field_secret)?;
    let previous = of_fields("field_secret_previous", &config.field_secret_previous)?;
    let fields = FieldKeys::new(master, current.as_ref(), previous.as_ref());
    if fields.are_alike() {
        bail!("field_secret: its key is numbered as that of field_secret_previous; choose another");
    }
    Ok(Seals::new(master).with_token_keys(keys).with_field_keys(fields))
}

/// What stands for the token secret that is made from `secret.key`.
const OWN_SECRET: &str = "secret.key";

type Gateways = (Vec<Arc<dyn Gateway>>, Option<Arc<Sandbox>>);

/// The payment companies that are set up, or the built-in one.
fn gateways(config: &Config, store: &Arc<SqlStore>, chance: &Arc<dyn Chance>) -> Result<Gateways> {
    let mut gateways = config.gateways().open(chance).map_err(|error| anyhow!(error))?;
    let sandbox = config.has_sandbox().then(|| Arc::new(Sandbox::new(store.clone())));
    gateways.extend(sandbox.clone().map(|sandbox| sandbox as Arc<dyn Gateway>));
    Ok((gateways, sandbox))
}

/// Who certifies persons, if it is set up.
fn certifier(
    config: &Config,
    chance: &Arc<dyn Chance>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<dyn Certifier>>> {
    let Some(settings) = config.people.identity() else { return Ok(None) };
    let certifier = PortOneIdentity::new(settings, chance.clone(), clock.clone());
    Ok(Some(Arc::new(certifier.map_err(|error| anyhow!(error))?)))
}

/// Services whose accounts log in here.
fn social(
    config: &Config,
    chance: &Arc<dyn Chance>,
    clock: &Arc<dyn Clock>,
) -> Result<Vec<Arc<dyn SocialService>>> {
    let open = |settings| -> Result<Arc<dyn SocialService>> {
        let service = Oidc::new(settings, chance.clone(), clock.clone());
        Ok(Arc::new(service.map_err(|error| anyhow!(error))?))
    };
    config.people.social(&config.public_url).into_iter().map(open).collect()
}

/// What may be forgotten.
struct Live {
    queue: Arc<dyn Queue>,
    holds: Arc<dyn Holds>,
    limits: Arc<dyn Limits>,
    shared_buckets: Arc<dyn SharedBuckets>,
    revocations: Arc<dyn Revocations>,
    seat_versions: Arc<dyn SeatVersions>,
    strains: Arc<dyn Strains>,
}

/// Where Redis is, if `live_url` names it.
pub(crate) fn redis_address(config: &Config) -> Result<Option<redis::Address>> {
    let scheme = config.live_url.split_once(':').map_or("", |(scheme, _)| scheme);
    if !["redis", "rediss", "redis-cluster", "rediss-cluster"].contains(&scheme) {
        return Ok(None);
    }
    let ca = &config.live_ca;
    let trusted = match ca.as_os_str().is_empty() {
        true => None,
        false => Some(
            std::fs::read(ca).with_context(|| format!("live_ca: cannot read {}", ca.display()))?,
        ),
    };
    let url = config.live_url.clone();
    Ok(Some(redis::Address { url, trusted, prefix: KEY_PREFIX.to_owned() }))
}

/// In front of every key on Redis, so that other programs can share the server.
const KEY_PREFIX: &str = "podo:";

impl Live {
    async fn open(config: &Config, blocks: Arc<dyn QueueBlocks>) -> Result<Live> {
        let url = &config.live_url;
        match url.split_once(':') {
            Some(("memory", "")) => Ok(Live {
                queue: Arc::new(memory::Queue::new(blocks)),
                holds: Arc::new(memory::Holds::default()),
                limits: Arc::new(memory::Limits::default()),
                shared_buckets: Arc::new(memory::SharedBuckets::default()),
                revocations: Arc::new(memory::Revocations::default()),
                seat_versions: Arc::new(memory::SeatVersions::default()),
                strains: Arc::new(memory::Strains::default()),
            }),
            Some(_) | None => match redis_address(config)? {
                Some(address) => Live::on_redis(address, blocks).await,
                None => {
                    bail!("live_url: unknown; use memory:, redis[s]://… or redis[s]-cluster://…")
                }
            },
        }
    }

    async fn on_redis(address: redis::Address, blocks: Arc<dyn QueueBlocks>) -> Result<Live> {
        let connection = redis::Connection::open(address).await;
        let connection = connection.map_err(|error| anyhow!(error)).context("live_url")?;
        Ok(Live {
            queue: Arc::new(redis::Queue::new(connection.clone(), blocks)),
            holds: Arc::new(redis::Holds::new(connection.clone())),
            limits: Arc::new(redis::Limits::new(connection.clone())),
            shared_buckets: Arc::new(redis::SharedBuckets::new(connection.clone())),
            revocations: Arc::new(redis::Revocations::new(connection.clone())),
            seat_versions: Arc::new(redis::SeatVersions::new(connection.clone())),
            strains: Arc::new(redis::Strains::new(connection)),
        })
    }
}

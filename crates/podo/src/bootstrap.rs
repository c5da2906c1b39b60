//! Wires adapters to ports. No other file knows which adapter implements which port.

use crate::config::{Config, MediaPlace, Switch, TicketCodes};
use crate::config::{data_folder, secret};
use anyhow::{Context, Result, anyhow, bail};
use podo_adapters::clock::{SteadyClock, SystemClock, SystemRng};
use podo_adapters::gateways::PortOneIdentity;
use podo_adapters::gateways::sandbox::Sandbox;
use podo_adapters::identity::passwords::Argon2Pool;
use podo_adapters::identity::social::Oidc;
use podo_adapters::images::{Bucket, Folder, JpegEncoder};
use podo_adapters::live::{memory, redis};
use podo_adapters::notify::HttpWebhookClient;
use podo_adapters::otlp;
use podo_adapters::otlp::Exporter;
use podo_adapters::passes::{ApplePasses, GooglePasses};
use podo_adapters::pdf::PdfPrinter;
use podo_adapters::sql::SqlStore;
use podo_app::AppContext;
use podo_app::catalog::images::ImageStudio;
use podo_app::catalog::images::port::ImageFiles;
use podo_app::context::{Foundation, LiveEngines, Rules, Services};
use podo_app::identity::keyring::{FieldKeys, Keyring, token_secret};
use podo_app::identity::port::certifier::Certifier;
use podo_app::identity::port::social::SocialService;
use podo_app::messaging::port::bus::Bus;
use podo_app::operations::clock::SyncedClock;
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::operations::traces::Spans;
use podo_app::payments::port::gateway::Gateway;
use podo_app::payments::settlement::read_rates;
use podo_app::tickets::documents::TicketPress;
use podo_app::tickets::passes::{ApplePassMaker, GooglePassMaker, Passes};
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_app::waiting_room::tokens::TokenKeys;
use podo_domain::NodeId;
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The context, and those of its parts that the process also needs by their concrete type.
pub struct Bootstrapped {
    pub context: AppContext,
    /// The context's clock, which a task compares with the store's clock every few seconds.
    pub clock: Arc<SyncedClock>,
    pub store: Arc<SqlStore>,
    /// `None` if the node takes real money.
    pub sandbox: Option<Arc<Sandbox>>,
    /// Sends spans to the collector, if one is configured.
    pub exporter: Option<Exporter>,
}

/// Opens the engines that the settings name.
pub async fn context(config: &Config) -> Result<Bootstrapped> {
    data_folder::make(&config.data)?;
    let rng: Arc<dyn Rng> = Arc::new(SystemRng::new());
    let store = open_store(config, rng.clone()).await?;
    context_on(config, Arc::new(store), rng).await
}

/// The store alone, for commands that only read from it.
pub(crate) async fn open_store(config: &Config, rng: Arc<dyn Rng>) -> Result<SqlStore> {
    let store = match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(path) => SqlStore::sqlite(&path, rng),
        Store::Postgres(url) => SqlStore::postgres(&config.postgres(&url)?, rng).await,
    };
    store.map_err(|error| anyhow!(error))
}

/// The durable store.
#[derive(Debug, PartialEq, Eq)]
pub enum Store {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Store {
    /// Parses `store_url`. A relative SQLite path is relative to the data folder.
    pub fn named_by(url: &str, data: &Path) -> Result<Store> {
        match url.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Store::Sqlite(data.join(path))),
            Some(("postgres" | "postgresql", _)) => Ok(Store::Postgres(url.to_owned())),
            Some((scheme, _)) => {
                bail!("store_url: unknown scheme `{scheme}` (sqlite, postgres)")
            }
            None => bail!("store_url: `{url}` is not a URL; use sqlite:PATH or postgres://…"),
        }
    }
}

/// Like [`context`], on a store that is already open: tests open theirs with a guard disabled.
pub async fn context_on(
    config: &Config,
    store: Arc<SqlStore>,
    rng: Arc<dyn Rng>,
) -> Result<Bootstrapped> {
    let live = open_live(config, store.clone()).await?;
    let keyring = keyring(config, &secret::load_or_make(&config.data, &*rng)?)?;
    let synced_clock = Arc::new(SyncedClock::new(local_clock(config)?));
    synced_clock.sync(&*store).await.context("cannot read the store's clock")?;
    let clock: Arc<dyn Clock> = synced_clock.clone();
    let n_password_threads = std::thread::available_parallelism().map_or(1, |n| n.get() - 1);
    let passwords = Argon2Pool::start(n_password_threads).map_err(|error| anyhow!(error))?;
    let (gateways, sandbox) = gateways(config, &store, &rng)?;
    let node = NodeId::new(rng.id(clock.now()));
    let (spans, exporter) = open_traces(config, node)?;
    let foundation = Foundation {
        node,
        store: store.clone(),
        clock: clock.clone(),
        rng: rng.clone(),
        keyring,
        rules: rules(config)?,
    };
    let webhook_client =
        HttpWebhookClient::new(config.webhook_networks()?).map_err(|error| anyhow!(error))?;
    let services = Services {
        bus: open_bus(config)?,
        webhook_client: Arc::new(webhook_client),
        passwords: Arc::new(passwords),
    };
    let context = AppContext::builder(foundation, live, services)
        .channels(config.channels()?.open().map_err(|error| anyhow!(error))?)
        .gateways(gateways)
        .certifier(certifier(config, &rng, &clock)?)
        .social(social(config, &rng, &clock)?)
        .spans(spans)
        .press(TicketPress::new(Arc::new(PdfPrinter)))
        .passes(passes(config)?)
        .studio(studio(config, &clock)?)
        .build();
    Ok(Bootstrapped { context, clock: synced_clock, store, sandbox, exporter })
}

/// The rules that the settings choose.
fn rules(config: &Config) -> Result<Rules> {
    Ok(Rules {
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
        home: config.public_url.trim_end_matches('/').to_owned(),
        gateway_rates: read_rates(&config.gateways.gateway_fees).unwrap_or_default(),
        currency: config.brand.currency,
        time_zone: config.brand.time_zone.clone(),
        sign_ups_per_minute: config.people.sign_ups_per_minute_per_ip,
        brand: Box::new(config.look()),
    })
}

/// The synced clock is corrected to the store's time, so nothing else may set it.
fn local_clock(config: &Config) -> Result<Arc<dyn Clock>> {
    Ok(match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(_) => Arc::new(SystemClock),
        Store::Postgres(_) => Arc::new(SteadyClock::start()),
    })
}

type Traces = (Option<Arc<dyn Spans>>, Option<Exporter>);

/// The span recorder and its exporter, if tracing is on.
fn open_traces(config: &Config, node: NodeId) -> Result<Traces> {
    if config.otlp_endpoint.is_empty() {
        return Ok((None, None));
    }
    let opened = otlp::open(&config.otlp_endpoint, node.to_string());
    let (spans, exporter) = opened.map_err(|error| anyhow!(error))?;
    Ok((Some(Arc::new(spans)), Some(exporter)))
}

/// The bus that carries messages to the workers.
fn open_bus(config: &Config) -> Result<Arc<dyn Bus>> {
    match config.bus.bus_url.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(memory::Bus::default())),
        #[cfg(feature = "kafka")]
        Some(("kafka", _)) => {
            let bus = podo_adapters::kafka::Bus::open(config.kafka()?);
            Ok(Arc::new(bus.map_err(|error| anyhow!(error)).context("bus_url")?))
        }
        #[cfg(not(feature = "kafka"))]
        Some(("kafka", _)) => bail!("bus_url: this program was built without Kafka"),
        Some(_) | None => bail!("bus_url: unknown; use memory: or kafka://HOST:PORT,HOST:PORT…"),
    }
}

/// All keys, including the token secrets that the operator set.
fn keyring(config: &Config, master: &[u8; 32]) -> Result<Keyring> {
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
        bail!(
            "token_secret: its key has the same id as that of token_secret_previous; choose another"
        );
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
        bail!(
            "field_secret: its key has the same number as that of field_secret_previous; choose another"
        );
    }
    Ok(Keyring::new(master).with_token_keys(keys).with_field_keys(fields))
}

/// In place of a token secret: the one derived from `secret.key`.
const OWN_SECRET: &str = "secret.key";

type Gateways = (Vec<Arc<dyn Gateway>>, Option<Arc<Sandbox>>);

/// The configured payment gateways, or the sandbox.
fn gateways(config: &Config, store: &Arc<SqlStore>, rng: &Arc<dyn Rng>) -> Result<Gateways> {
    let mut gateways = config.gateways().open(rng).map_err(|error| anyhow!(error))?;
    let sandbox = config.has_sandbox().then(|| Arc::new(Sandbox::new(store.clone())));
    gateways.extend(sandbox.clone().map(|sandbox| sandbox as Arc<dyn Gateway>));
    Ok((gateways, sandbox))
}

/// The identity verification service, if one is configured.
fn certifier(
    config: &Config,
    rng: &Arc<dyn Rng>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<dyn Certifier>>> {
    let Some(settings) = config.people.identity() else { return Ok(None) };
    let certifier = PortOneIdentity::new(settings, rng.clone(), clock.clone());
    Ok(Some(Arc::new(certifier.map_err(|error| anyhow!(error))?)))
}

/// Passes for the wallets of phones, as far as there are keys.
fn passes(config: &Config) -> Result<Passes> {
    let apple = config.apple_passes().map(ApplePasses::open).transpose();
    let apple = apple.map_err(|error| anyhow!(error))?;
    if let Some(apple) = &apple {
        tracing::info!(until = %apple.expires_at(), "Apple Wallet passes can be signed");
    }
    let google = config.google_passes()?.map(GooglePasses::open).transpose();
    let google = google.map_err(|error| anyhow!(error))?;
    let apple = apple.map(|it| Arc::new(it) as Arc<dyn ApplePassMaker>);
    let google = google.map(|it| Arc::new(it) as Arc<dyn GooglePassMaker>);
    Ok(Passes::new(apple, google))
}

/// Makes pictures and stores them where the settings say.
fn studio(config: &Config, clock: &Arc<dyn Clock>) -> Result<ImageStudio> {
    let files: Arc<dyn ImageFiles> = match config.media_place()? {
        MediaPlace::Folder(folder) => Arc::new(Folder::open(folder)),
        MediaPlace::Bucket(settings) => {
            let bucket = Bucket::open(settings, clock.clone());
            Arc::new(bucket.map_err(|error| anyhow!(error))?)
        }
    };
    Ok(ImageStudio::new(Arc::new(JpegEncoder), files))
}

/// The configured social login providers.
fn social(
    config: &Config,
    rng: &Arc<dyn Rng>,
    clock: &Arc<dyn Clock>,
) -> Result<Vec<Arc<dyn SocialService>>> {
    let open = |settings| -> Result<Arc<dyn SocialService>> {
        let service = Oidc::new(settings, rng.clone(), clock.clone());
        Ok(Arc::new(service.map_err(|error| anyhow!(error))?))
    };
    config.people.social(&config.public_url).into_iter().map(open).collect()
}

/// The Redis address, if `live_url` names one.
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

/// Prefix of every Redis key, so that other programs can share the server.
const KEY_PREFIX: &str = "podo:";

/// Opens the live engines, which may lose all their data.
async fn open_live(config: &Config, blocks: Arc<dyn QueueBlocks>) -> Result<LiveEngines> {
    let url = &config.live_url;
    match url.split_once(':') {
        Some(("memory", "")) => Ok(LiveEngines {
            queue: Arc::new(memory::Queue::new(blocks)),
            seat_filter: Arc::new(memory::SeatFilter::default()),
            limits: Arc::new(memory::Limits::default()),
            shared_buckets: Arc::new(memory::SharedBuckets::default()),
            revocations: Arc::new(memory::Revocations::default()),
            seat_versions: Arc::new(memory::SeatVersions::default()),
            invalidation: Arc::new(memory::Invalidation::default()),
            node_load: Arc::new(memory::NodeLoad::default()),
        }),
        Some(_) | None => match redis_address(config)? {
            Some(address) => on_redis(address, blocks).await,
            None => {
                bail!("live_url: unknown; use memory:, redis[s]://… or redis[s]-cluster://…")
            }
        },
    }
}

async fn on_redis(address: redis::Address, blocks: Arc<dyn QueueBlocks>) -> Result<LiveEngines> {
    let connection = redis::Connection::open(address).await;
    let connection = connection.map_err(|error| anyhow!(error)).context("live_url")?;
    Ok(LiveEngines {
        queue: Arc::new(redis::Queue::new(connection.clone(), blocks)),
        seat_filter: Arc::new(redis::SeatFilter::new(connection.clone())),
        limits: Arc::new(redis::Limits::new(connection.clone())),
        shared_buckets: Arc::new(redis::SharedBuckets::new(connection.clone())),
        revocations: Arc::new(redis::Revocations::new(connection.clone())),
        seat_versions: Arc::new(redis::SeatVersions::new(connection.clone())),
        invalidation: Arc::new(redis::Invalidation::new(connection.clone())),
        node_load: Arc::new(redis::NodeLoad::new(connection)),
    })
}

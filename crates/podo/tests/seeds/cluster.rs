//! Nodes on one PostgreSQL and one Redis, each with its own connections, and the jobs of all of
//! them running concurrently.

use crate::clock::FastClock;
use crate::coverage::{Coverage, Moment};
use crate::open_door::OpenDoor;
use crate::rng::Rng;
use futures::FutureExt;
use futures::future::BoxFuture;
use podo::bootstrap;
use podo::bootstrap::Bootstrapped;
use podo::config::{Config, Overrides};
use podo_adapters::clock::SystemRng;
use podo_adapters::gateways::sandbox::Sandbox;
use podo_adapters::sql::{Connections, Guard, PostgresSettings, SqlStore};
use podo_app::messaging::workers;
use podo_app::messaging::workers::Worker;
use podo_app::operations::jobs;
use podo_app::operations::port::clock::{self, Clock};
use podo_app::{AppContext, Error, Result};
use podo_domain::{Timestamp, UserId};
use podo_testbed::{Postgres, Redis};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

pub(crate) const N_NODES: usize = 3;

/// The nodes' rules differ in this, so that a seed covers all of them.
const HOLD_LENGTHS: [Duration; N_NODES] =
    [Duration::from_secs(30), Duration::from_secs(60), Duration::from_secs(120)];

/// The store's search path.
const SEARCH_PATH: &str = "set search_path to common, user_service, event_service,
                                              reservation_service, payment_service";

pub(crate) struct Node {
    pub(crate) context: Arc<AppContext>,
    pub(crate) sandbox: Arc<Sandbox>,
    store: Arc<SqlStore>,
}

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    pub(crate) clock: Arc<FastClock>,
    pub(crate) coverage: Coverage,
    pub(crate) organiser: UserId,
    /// Reads the tables beside the store.
    pub(crate) reader: Client,
    problems: Mutex<Vec<String>>,
    playing: Mutex<BTreeSet<u64>>,
    is_without_guards: bool,
    _folder: TempDir,
    _redis: Redis,
    _postgres: Postgres,
}

impl Cluster {
    /// Without some guards of the store, the filter in front of it is open too, so that nothing
    /// else hides their effect.
    pub(crate) async fn start(off: &[Guard], background: &mut JoinSet<()>) -> Arc<Cluster> {
        let (postgres, redis) = (Postgres::shared().unwrap(), Redis::start().unwrap());
        let database = postgres.create_database_like("migrated", "seeds", migrate).unwrap();
        let url = postgres.url(&database);
        let folder = TempDir::with_prefix("podo-").unwrap();
        let config = config(folder.path(), &url, &redis.url());
        let clock = Arc::new(FastClock::start());
        let mut nodes = Vec::new();
        for hold_length in HOLD_LENGTHS {
            let mut bootstrapped = bootstrapped(&config, off).await;
            bootstrapped.context.clock = clock.clone();
            bootstrapped.context.rules.hold_length = hold_length;
            bootstrapped.context.rules.offer_length = hold_length;
            bootstrapped.context.rules.health_limits = None;
            let (context, sandbox) =
                (Arc::new(bootstrapped.context), bootstrapped.sandbox.unwrap());
            nodes.push(Node { context, sandbox, store: bootstrapped.store });
        }
        let (reader, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        background.spawn(async move { connection.await.unwrap() });
        reader.batch_execute(SEARCH_PATH).await.unwrap();
        let organiser = UserId::new(nodes[0].context.rng.id(clock.now()));
        let cluster = Arc::new(Cluster {
            nodes,
            clock: clock.clone(),
            coverage: Coverage::default(),
            organiser,
            reader,
            problems: Mutex::default(),
            playing: Mutex::default(),
            is_without_guards: !off.is_empty(),
            _folder: folder,
            _redis: redis,
            _postgres: postgres,
        });
        background.spawn(async move { clock.run().await });
        for node in 0..N_NODES {
            cluster.run_node(node, background);
        }
        cluster
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn saw(&self, moment: Moment) {
        self.coverage.saw(moment);
    }

    pub(crate) fn note_problem(&self, problem: String) {
        eprintln!("{problem}");
        self.problems.lock().unwrap().push(problem);
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        self.problems.lock().unwrap().clone()
    }

    /// A seed starts or ends.
    pub(crate) fn note_seed(&self, seed: u64, is_playing: bool) {
        let mut playing = self.playing.lock().unwrap();
        match is_playing {
            true => playing.insert(seed),
            false => playing.remove(&seed),
        };
    }

    pub(crate) fn playing(&self) -> BTreeSet<u64> {
        self.playing.lock().unwrap().clone()
    }

    pub(crate) fn is_without_guards(&self) -> bool {
        self.is_without_guards
    }

    /// How often commands of all nodes were retried.
    pub(crate) fn n_run_again(&self) -> u64 {
        self.nodes.iter().map(|node| node.store.n_run_again()).sum()
    }

    /// The result of a query, as text.
    pub(crate) async fn look(
        &self,
        sql: &str,
        params: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Vec<String> {
        let rows = self.reader.query(sql, params).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    fn run_node(self: &Arc<Cluster>, node: usize, background: &mut JoinSet<()>) {
        for worker in workers::ALL {
            background.spawn(do_work(self.clone(), node, worker));
        }
        for duty in &DUTIES {
            background.spawn(do_duty(self.clone(), node, duty));
        }
    }

    /// Unavailable engines and lost races are retried; a bug is a finding.
    fn look_at(&self, who: &str, error: &Error) {
        match error {
            Error::Broken(_) | Error::Refused(_) => self.note_problem(format!("{who}: {error}")),
            Error::Unavailable(_) | Error::Conflict(_) => {}
        }
    }
}

async fn bootstrapped(config: &Config, off: &[Guard]) -> Bootstrapped {
    if off.is_empty() {
        return bootstrap::context(config).await.unwrap();
    }
    let rng: Arc<dyn clock::Rng> = Arc::new(SystemRng::new());
    let settings = config.postgres(&config.store_url).unwrap();
    let store = SqlStore::postgres_without(&settings, rng.clone(), off).await.unwrap();
    let mut bootstrapped = bootstrap::context_on(config, Arc::new(store), rng).await.unwrap();
    bootstrapped.context.booking.seat_filter = Arc::new(OpenDoor);
    bootstrapped
}

/// Migrates an empty database as a server would. In a thread, because a test's runtime may be
/// running.
fn migrate(url: &str) {
    let settings = PostgresSettings::new(url, Connections::per_role(8));
    let migrated = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(SqlStore::migrate_postgres(&settings, true)).unwrap();
    });
    migrated.join().unwrap();
}

fn config(data: &Path, store_url: &str, live_url: &str) -> Config {
    let settings = [
        ("PODO_STORE_URL", store_url),
        ("PODO_STORE_ROLES", "on"),
        ("PODO_STORE_CONNECTIONS", "24"),
        ("PODO_LIVE_URL", live_url),
        ("PODO_LIMITS", "off"),
    ];
    let overrides = Overrides { data: Some(data.to_owned()), ..Overrides::default() };
    Config::load(&overrides, |name| {
        let found = settings.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
    .unwrap()
}

/// A job, and the least and most milliseconds between its rounds.
struct Duty {
    name: &'static str,
    pause_ms: (u64, u64),
    round: for<'p> fn(&'p AppContext, Timestamp) -> BoxFuture<'p, Result<jobs::Round>>,
}

const DUTIES: [Duty; 13] = [
    Duty {
        name: "admit",
        pause_ms: (20, 60),
        round: |context, now| podo_app::waiting_room::jobs::admit_fans(context, now).boxed(),
    },
    Duty {
        name: "expire",
        pause_ms: (100, 500),
        round: |context, now| podo_app::booking::jobs::expire::expire_holds(context, now).boxed(),
    },
    Duty {
        name: "settle",
        pause_ms: (40, 150),
        round: |context, now| {
            podo_app::payments::jobs::settle::settle_unknown_payments(context, now).boxed()
        },
    },
    Duty {
        name: "deposits",
        pause_ms: (100, 500),
        round: |context, now| {
            podo_app::payments::jobs::deposits::follow_deposits(context, now).boxed()
        },
    },
    Duty {
        name: "refund",
        pause_ms: (30, 150),
        round: |context, now| podo_app::payments::jobs::refund::make_refunds(context, now).boxed(),
    },
    Duty {
        name: "refund-canceled",
        pause_ms: (30, 150),
        round: |context, now| {
            podo_app::payments::jobs::refund_canceled::refund_canceled_shows(context, now).boxed()
        },
    },
    Duty {
        name: "release-kept",
        pause_ms: (30, 150),
        round: |context, now| podo_app::booking::jobs::release::release_kept(context, now).boxed(),
    },
    Duty {
        name: "draw",
        pause_ms: (20, 80),
        round: |context, now| podo_app::booking::jobs::draw::draw(context, now).boxed(),
    },
    Duty {
        name: "offer-drawn",
        pause_ms: (30, 150),
        round: |context, now| podo_app::booking::jobs::draw::offer_drawn(context, now).boxed(),
    },
    Duty {
        name: "offer",
        pause_ms: (30, 100),
        round: |context, now| podo_app::booking::jobs::offer::offer_seats(context, now).boxed(),
    },
    Duty {
        name: "relay",
        pause_ms: (30, 100),
        round: |context, now| {
            podo_app::messaging::jobs::relay::relay_messages(context, now).boxed()
        },
    },
    Duty {
        name: "webhooks",
        pause_ms: (50, 200),
        round: |context, now| {
            podo_app::payments::jobs::gateway_webhooks::follow_webhooks(context, now).boxed()
        },
    },
    Duty {
        name: "reconcile",
        pause_ms: (200, 500),
        round: |context, now| {
            podo_app::booking::jobs::reconcile::reconcile_seats(context, None, now).boxed()
        },
    },
];

async fn do_duty(cluster: Arc<Cluster>, node: usize, duty: &'static Duty) {
    let mut rng = Rng::new(node as u64 + 7 * duty.name.len() as u64);
    let context = &cluster.nodes[node].context;
    loop {
        tokio::time::sleep(rng.ms(duty.pause_ms.0, duty.pause_ms.1)).await;
        if let Err(error) = (duty.round)(context, context.now()).await {
            cluster.look_at(duty.name, &error);
        }
    }
}

async fn do_work(cluster: Arc<Cluster>, node: usize, worker: &'static dyn Worker) {
    let context = &cluster.nodes[node].context;
    let subscription = context.messaging.bus.subscribe(worker.name(), worker.topics()).await;
    let mut subscription = subscription.unwrap();
    loop {
        if let Err(error) = workers::work(context, worker, &mut *subscription).await {
            cluster.look_at(worker.name(), &error);
        }
    }
}

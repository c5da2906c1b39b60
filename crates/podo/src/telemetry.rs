//! Logs and metrics.

#[path = "telemetry_pools.rs"]
mod pools;

use crate::config::LogStyle;
use podo_adapters::sql::SqlStore;
use podo_app::waiting_room::WAIT_BUCKETS_S;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tracing_subscriber::EnvFilter;

/// Starts the log on standard error, because standard output carries the address. `usual` is the
/// filter if RUST_LOG is not set.
pub fn start_log(style: LogStyle, usual: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let is_pretty = match style {
        LogStyle::Pretty => true,
        LogStyle::Json => false,
        LogStyle::Auto => std::io::stderr().is_terminal(),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A log line that cannot be written is dropped: reporting it on standard error would panic if
    // the disk behind it is full, and the request would fail.
    let log = log.log_internal_errors(false);
    // If a process starts the log twice (tests), the first one stays.
    let _ = if is_pretty { log.with_target(false).try_init() } else { log.json().try_init() };
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabels {
    pub method: &'static str,
    /// The route's template, never the path: ids would make the label's cardinality unbounded.
    pub route: &'static str,
    pub status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ScheduleLabel {
    pub schedule: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct JobLabel {
    pub job: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct InvariantLabel {
    pub invariant: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KindLabel {
    pub kind: &'static str,
}

/// Histogram buckets of HTTP latencies, in seconds.
const BUCKETS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// Owns its registry, so that two servers in one process don't share counters.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Histogram>,
    pub queue_waiting: Family<ScheduleLabel, Gauge>,
    pub queue_active: Family<ScheduleLabel, Gauge>,
    pub queue: QueueMetrics,
    pub leads: Family<JobLabel, Gauge>,
    pub reconcile_rounds: Counter,
    pub reconcile_suspected: Gauge,
    pub reconcile_healed: Family<KindLabel, Counter>,
    pub invariants_broken: Family<InvariantLabel, Gauge>,
    pub sales_stopped: Gauge,
    pub outbox_pending: Gauge,
    pub outbox_dead: Gauge,
    pub messages: MessageMetrics,
    pub overdue: OverdueMetrics,
    pub rate_limits: RateLimitMetrics,
    pub purchases: Counter,
    pub clock_offset: Gauge<f64, AtomicU64>,
}

impl Metrics {
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("podo");
        let requests: Family<RequestLabels, Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        let queue_waiting = Family::default();
        let queue_active = Family::default();
        let queue = QueueMetrics::register(&mut registry);
        let leads = Family::default();
        let (reconcile_rounds, reconcile_suspected) = (Counter::default(), Gauge::default());
        let reconcile_healed = Family::default();
        let (invariants_broken, sales_stopped) = (Family::default(), Gauge::default());
        let (outbox_pending, outbox_dead) = (Gauge::default(), Gauge::default());
        let messages = MessageMetrics::register(&mut registry);
        let overdue = OverdueMetrics::register(&mut registry);
        let rate_limits = RateLimitMetrics::register(&mut registry);
        let (purchases, clock_offset) = (Counter::default(), Gauge::default());
        registry.register("build", "This build", Info::new([("version", VERSION)]));
        registry.register_with_unit(
            "http_server_request_duration",
            "Time to respond",
            Unit::Seconds,
            requests.clone(),
        );
        registry.register("queue_waiting", "Fans waiting in the queue", queue_waiting.clone());
        registry.register("queue_active", "Fans with an active entry", queue_active.clone());
        registry.register("leads", "1 for a job that this node leads", leads.clone());
        registry.register(
            "reconcile_rounds",
            "Comparisons of the seat filter with the store",
            reconcile_rounds.clone(),
        );
        registry.register(
            "reconcile_suspected",
            "Differences at the last comparison, including holds in progress",
            reconcile_suspected.clone(),
        );
        registry.register("reconcile_healed", "Seats corrected", reconcile_healed.clone());
        let what = "Violations that the last check of the invariants found";
        registry.register("invariants_broken", what, invariants_broken.clone());
        let what = "Dates whose sale is stopped by a violated invariant";
        registry.register("sales_stopped", what, sales_stopped.clone());
        registry.register("outbox_pending", "Messages to publish", outbox_pending.clone());
        registry.register("outbox_dead", "Dead letters in the outbox", outbox_dead.clone());
        registry.register("purchases", "Reservations paid", purchases.clone());
        registry.register_with_unit(
            "clock_offset",
            "How far this machine's clock is ahead of the store's, before correction",
            Unit::Seconds,
            clock_offset.clone(),
        );
        Metrics {
            registry,
            requests,
            queue_waiting,
            queue_active,
            queue,
            leads,
            reconcile_rounds,
            reconcile_suspected,
            reconcile_healed,
            invariants_broken,
            sales_stopped,
            outbox_pending,
            outbox_dead,
            messages,
            overdue,
            rate_limits,
            purchases,
            clock_offset,
        }
    }

    /// Includes the store's connection pools.
    pub fn with_pools_of(mut self, store: Arc<SqlStore>) -> Metrics {
        self.registry.register_collector(Box::new(pools::Pools(store)));
        self
    }

    /// The histogram of such requests. Callers keep it, because the lookup takes longer than the
    /// observation.
    pub fn request_times(&self, labels: &RequestLabels) -> Histogram {
        self.requests.get_or_create_owned(labels)
    }

    /// The metrics in Prometheus text format.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string never fails");
        text
    }
}

/// More metrics of the waiting rooms. The live engine counts, so all its nodes show the same.
pub struct QueueMetrics {
    pub admitted: Family<ScheduleLabel, Counter>,
    pub abandoned: Family<ScheduleLabel, Counter>,
    pub expired: Family<ScheduleLabel, Counter>,
    pub gathered: Family<ScheduleLabel, Gauge>,
    pub wait: Histogram,
    pub streams: Gauge,
    pub admit_ratio: Gauge<f64, AtomicU64>,
}

impl QueueMetrics {
    fn register(registry: &mut Registry) -> QueueMetrics {
        let wait = Histogram::new(WAIT_BUCKETS_S.map(|seconds| seconds as f64));
        let it = QueueMetrics {
            admitted: Family::default(),
            abandoned: Family::default(),
            expired: Family::default(),
            gathered: Family::default(),
            wait: wait.clone(),
            streams: Gauge::default(),
            admit_ratio: Gauge::default(),
        };
        registry.register("queue_admitted", "Fans admitted", it.admitted.clone());
        let what = "Fans who left the queue or gave up their entry";
        registry.register("queue_abandoned", what, it.abandoned.clone());
        registry.register("queue_expired", "Entries that expired", it.expired.clone());
        registry.register("queue_gathered", "Fans in the lobby", it.gathered.clone());
        let what = "Waiting time of fans admitted by this node, in whole seconds";
        registry.register_with_unit("queue_wait", what, Unit::Seconds, wait);
        registry.register("queue_streams", "Open streams of waiting fans", it.streams.clone());
        let what = "Share of the admission rate that remains while this node is overloaded";
        registry.register("queue_admit_ratio", what, it.admit_ratio.clone());
        it
    }
}

/// Metrics of the relay, the workers and the jobs, counted on this node.
pub struct MessageMetrics {
    pub lag: Gauge<f64, AtomicU64>,
    pub bus_lag: Gauge,
    pub dead_letters: Family<WorkerLabel, Gauge>,
    pub consumed: Family<WorkerLabel, Counter>,
    pub dead_lettered: Family<WorkerLabel, Counter>,
    pub job_rounds: Family<JobLabel, Counter>,
    pub job_done: Family<JobLabel, Counter>,
    pub job_failed: Family<JobLabel, Counter>,
    pub job_last: Family<JobLabel, Gauge>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct WorkerLabel {
    pub worker: String,
}

impl MessageMetrics {
    fn register(registry: &mut Registry) -> MessageMetrics {
        let it = MessageMetrics {
            lag: Gauge::default(),
            bus_lag: Gauge::default(),
            dead_letters: Family::default(),
            consumed: Family::default(),
            dead_lettered: Family::default(),
            job_rounds: Family::default(),
            job_done: Family::default(),
            job_failed: Family::default(),
            job_last: Family::default(),
        };
        let what = "Age of the oldest message not yet published";
        registry.register_with_unit("outbox_lag", what, Unit::Seconds, it.lag.clone());
        let what = "Messages on the bus waiting for this node's workers";
        registry.register("bus_lag", what, it.bus_lag.clone());
        let what = "Dead letters neither replayed nor discarded";
        registry.register("dead_letters", what, it.dead_letters.clone());
        registry.register("messages_consumed", "Messages processed", it.consumed.clone());
        let what = "Messages moved to the dead letters";
        registry.register("messages_dead_lettered", what, it.dead_lettered.clone());
        let what = "Deprecated name of podo_messages_dead_lettered";
        registry.register("messages_set_aside", what, it.dead_lettered.clone());
        registry.register("job_rounds", "Rounds of a job", it.job_rounds.clone());
        registry.register("job_done", "Items that the rounds processed", it.job_done.clone());
        registry.register(
            "job_failed",
            "Items that the rounds failed to process",
            it.job_failed.clone(),
        );
        let what = "Start of the last recorded round of a job, on any node";
        registry.register_with_unit("job_last_run", what, Unit::Seconds, it.job_last.clone());
        it
    }
}

/// Overdue items and the age of the oldest. The store counts, so all nodes show the same.
pub struct OverdueMetrics {
    pub count: Family<KindLabel, Gauge>,
    pub age: Family<KindLabel, Gauge<f64, AtomicU64>>,
    pub put_off: Family<JobLabel, Gauge>,
}

impl OverdueMetrics {
    fn register(registry: &mut Registry) -> OverdueMetrics {
        let it = OverdueMetrics {
            count: Family::default(),
            age: Family::default(),
            put_off: Family::default(),
        };
        let what = "Refunds due, payments unknown, notifications and webhooks undelivered";
        registry.register("open_items", what, it.count.clone());
        let what = "Age of the oldest overdue item";
        registry.register_with_unit("open_items_oldest_age", what, Unit::Seconds, it.age.clone());
        let what = "Failed items of a job that wait for a retry";
        registry.register("job_items_put_off", what, it.put_off.clone());
        it
    }
}

/// Metrics of the rate limits shared between nodes.
pub struct RateLimitMetrics {
    pub nodes: Gauge,
    pub syncs: Counter,
    pub sync_failures: Counter,
    pub synced_keys: Counter,
}

impl RateLimitMetrics {
    fn register(registry: &mut Registry) -> RateLimitMetrics {
        let it = RateLimitMetrics {
            nodes: Gauge::default(),
            syncs: Counter::default(),
            sync_failures: Counter::default(),
            synced_keys: Counter::default(),
        };
        registry.register("rate_limit_nodes", "Nodes that share rate limits", it.nodes.clone());
        let what = "Calls that report rate limit use to the live engine";
        registry.register("rate_limit_syncs", what, it.syncs.clone());
        let what = "Failed report calls; their keys fall back to this node's own limit";
        registry.register("rate_limit_sync_failures", what, it.sync_failures.clone());
        let what = "Keys in successful report calls";
        registry.register("rate_limit_synced_keys", what, it.synced_keys.clone());
        it
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics::new()
    }
}

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

//! Metrics of the PostgreSQL connection pools, read at every scrape. SQLite has none.

use podo_adapters::sql::{PoolUsage, SqlStore};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;
use std::fmt;
use std::sync::Arc;

pub(super) struct Pools(pub(super) Arc<SqlStore>);

impl fmt::Debug for Pools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pools")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    pool: &'static str,
    server: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    pool: &'static str,
    server: String,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    pool: &'static str,
    server: String,
    reason: &'static str,
}

impl Collector for Pools {
    /// Describes families even without a pool, so that dashboards find their names.
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let pools = self.0.pools();
        let what = "Open connections to PostgreSQL";
        let gauge = MetricType::Gauge;
        let family = encoder.encode_descriptor("store_connections", what, None, gauge)?;
        encode_states(family, &pools)?;
        let what = "Most connections that the pool may open";
        let mut family = encoder.encode_descriptor("store_connections_max", what, None, gauge)?;
        for it in &pools {
            family.encode_family(&labels(it))?.encode_gauge(&number(it.max))?;
        }
        let what = "Commands that wait for a connection";
        let mut family =
            encoder.encode_descriptor("store_connections_waiting", what, None, gauge)?;
        for it in &pools {
            family.encode_family(&labels(it))?.encode_gauge(&number(it.waiting))?;
        }
        let what = "Time that commands waited for a connection";
        let (unit, histogram) = (Unit::Seconds, MetricType::Histogram);
        let mut family =
            encoder.encode_descriptor("store_connection_wait", what, Some(&unit), histogram)?;
        for it in &pools {
            let waits = &it.waits;
            family.encode_family(&labels(it))?.encode_histogram::<NoLabelSet>(
                waits.sum_seconds,
                waits.count,
                &waits.buckets,
                None,
            )?;
        }
        let what = "Commands that got no connection";
        let counter = MetricType::Counter;
        let family = encoder.encode_descriptor("store_connection_failures", what, None, counter)?;
        encode_failures(family, &pools)
    }
}

fn encode_states(mut family: MetricEncoder<'_>, pools: &[PoolUsage]) -> fmt::Result {
    for it in pools {
        for (state, count) in [("in_use", it.in_use), ("idle", it.idle)] {
            let labels = StateLabels { pool: it.pool, server: it.server.clone(), state };
            family.encode_family(&labels)?.encode_gauge(&number(count))?;
        }
    }
    Ok(())
}

fn encode_failures(mut family: MetricEncoder<'_>, pools: &[PoolUsage]) -> fmt::Result {
    for it in pools {
        for (reason, count) in [("timeout", it.timed_out), ("refused", it.failed)] {
            let labels = ReasonLabels { pool: it.pool, server: it.server.clone(), reason };
            let mut metric = family.encode_family(&labels)?;
            metric.encode_counter::<NoLabelSet, u64, u64>(&count, None)?;
        }
    }
    Ok(())
}

fn labels(it: &PoolUsage) -> PoolLabels {
    PoolLabels { pool: it.pool, server: it.server.clone() }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

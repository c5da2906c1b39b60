//! librdkafka's background reports: why brokers don't answer, and a member's lag.

use podo_app::Error;
use rdkafka::client::ClientContext;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::statistics::{Partition, Statistics};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The last error of a client. Calls only report a timeout; this has the reason.
#[derive(Clone, Default)]
pub(super) struct Watch {
    last: Arc<Mutex<Option<String>>>,
    /// The lag of a group member.
    lag: Option<Arc<AtomicU64>>,
}

impl ClientContext for Watch {
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "Kafka client error");
        let mut last = self.last.lock().expect("the lock is never poisoned");
        // "All brokers down" follows right after the reason; keep the reason.
        let is_news = error.rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown);
        if is_news || last.is_none() {
            *last = Some(reason.to_owned());
        }
    }

    fn stats(&self, statistics: Statistics) {
        let Some(lag) = &self.lag else { return };
        let partitions = statistics.topics.values().flat_map(|topic| topic.partitions.values());
        lag.store(partitions.map(lag_of).sum(), Ordering::Relaxed);
    }
}

/// The lag of a partition; none if another member owns it. If the group has committed nothing yet,
/// librdkafka doesn't know the lag, and every record counts.
fn lag_of(partition: &Partition) -> u64 {
    let start = match partition.committed_offset {
        committed if committed >= 0 => committed,
        _ => partition.lo_offset.max(0),
    };
    let is_ours = partition.fetch_state == "active";
    let lag = partition.hi_offset.checked_sub(start).filter(|_| is_ours);
    lag.and_then(|lag| u64::try_from(lag).ok()).unwrap_or(0)
}

impl ConsumerContext for Watch {}

/// The lag of this process's members. A value is dropped with its member.
#[derive(Clone, Default)]
pub(super) struct Lags(Arc<Mutex<Vec<Weak<AtomicU64>>>>);

impl Lags {
    pub(super) fn watch_member(&self) -> Watch {
        let lag = Arc::new(AtomicU64::new(0));
        let mut lags = self.0.lock().expect("the lock is never poisoned");
        lags.retain(|lag| lag.strong_count() > 0);
        lags.push(Arc::downgrade(&lag));
        Watch { lag: Some(lag), ..Watch::default() }
    }

    pub(super) fn sum(&self) -> u64 {
        let lags = self.0.lock().expect("the lock is never poisoned");
        lags.iter().filter_map(Weak::upgrade).map(|lag| lag.load(Ordering::Relaxed)).sum()
    }
}

impl Watch {
    /// The result of a call, with the reason of an error if known.
    pub(super) fn check<T>(&self, answer: KafkaResult<T>) -> podo_app::Result<T> {
        let answer = answer.map_err(|error| self.unavailable(&error));
        if answer.is_ok() {
            *self.last.lock().expect("the lock is never poisoned") = None;
        }
        answer
    }

    pub(super) fn unavailable(&self, error: &KafkaError) -> Error {
        let last = self.last.lock().expect("the lock is never poisoned").clone();
        match last.filter(|_| says_little(error)) {
            Some(reason) => Error::unavailable(format!("Kafka: {error}: {reason}")),
            None => Error::unavailable(format!("Kafka: {error}")),
        }
    }
}

/// Whether the error only reports a timeout.
fn says_little(error: &KafkaError) -> bool {
    let code = error.rdkafka_error_code();
    matches!(
        code,
        Some(
            RDKafkaErrorCode::MessageTimedOut
                | RDKafkaErrorCode::OperationTimedOut
                | RDKafkaErrorCode::BrokerTransportFailure
                | RDKafkaErrorCode::AllBrokersDown
        )
    )
}

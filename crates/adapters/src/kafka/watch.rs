//! What librdkafka says in the background: why nobody answers, and how far behind a member is.

use app::Error;
use rdkafka::client::ClientContext;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::statistics::{Partition, Statistics};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The last complaint of a client. Calls only say that they took too long; this says why.
#[derive(Clone, Default)]
pub(super) struct Watch {
    last: Arc<Mutex<Option<String>>>,
    /// What waits for a member of a group.
    lag: Option<Arc<AtomicU64>>,
}

impl ClientContext for Watch {
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "Kafka stumbled");
        let mut last = self.last.lock().expect("nothing panics under this lock");
        // That all are away comes right behind the reason why.
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

/// How many records of a partition wait; none of one that is another member's. Where the group has
/// committed nothing yet, librdkafka does not know, and everything waits.
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

/// How far the members in this process are behind. A number goes with its member.
#[derive(Clone, Default)]
pub(super) struct Lags(Arc<Mutex<Vec<Weak<AtomicU64>>>>);

impl Lags {
    pub(super) fn watch_member(&self) -> Watch {
        let lag = Arc::new(AtomicU64::new(0));
        let mut lags = self.0.lock().expect("nothing panics under this lock");
        lags.retain(|lag| lag.strong_count() > 0);
        lags.push(Arc::downgrade(&lag));
        Watch { lag: Some(lag), ..Watch::default() }
    }

    pub(super) fn sum(&self) -> u64 {
        let lags = self.0.lock().expect("nothing panics under this lock");
        lags.iter().filter_map(Weak::upgrade).map(|lag| lag.load(Ordering::Relaxed)).sum()
    }
}

impl Watch {
    /// What a call says, with the reason if there is one.
    pub(super) fn check<T>(&self, answer: KafkaResult<T>) -> app::Result<T> {
        let answer = answer.map_err(|error| self.unavailable(&error));
        if answer.is_ok() {
            *self.last.lock().expect("nothing panics under this lock") = None;
        }
        answer
    }

    pub(super) fn unavailable(&self, error: &KafkaError) -> Error {
        let last = self.last.lock().expect("nothing panics under this lock").clone();
        match last.filter(|_| says_little(error)) {
            Some(reason) => Error::unavailable(format!("Kafka: {error}: {reason}")),
            None => Error::unavailable(format!("Kafka: {error}")),
        }
    }
}

/// It only says that nobody answered.
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

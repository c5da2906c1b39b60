//! What librdkafka complains about in the background: why nobody answers.

use app::Error;
use rdkafka::client::ClientContext;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use std::sync::{Arc, Mutex};

/// The last complaint of a client. Calls only say that they took too long; this says why.
#[derive(Clone, Default)]
pub(super) struct Watch {
    last: Arc<Mutex<Option<String>>>,
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
}

impl ConsumerContext for Watch {}

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

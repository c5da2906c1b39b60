//! The bus on Kafka: one topic per kind of message, ordered by key, with offsets committed after
//! the effect.

mod member;
mod settings;
mod topics;
mod watch;

pub use settings::KafkaSettings;

use async_trait::async_trait;
use member::Member;
use podo_app::messaging::port::bus::{Bus as BusPort, Envelope, Subscription};
use podo_app::{Error, Result};
use podo_domain::messaging::messages::Topic;
use rdkafka::error::KafkaError;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use rdkafka::util::Timeout;
use std::time::Duration;
use watch::{Lags, Watch};

/// The timeout of a request to the brokers.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

pub struct Bus {
    settings: KafkaSettings,
    producer: FutureProducer<Watch>,
    watch: Watch,
    lags: Lags,
}

impl Bus {
    /// Connects lazily, so that unreachable brokers can't keep a node from starting.
    pub fn open(settings: KafkaSettings) -> std::result::Result<Bus, String> {
        let watch = Watch::default();
        let producer = settings.producer().create_with_context(watch.clone());
        let producer = producer.map_err(|error| explain(&error))?;
        Ok(Bus { settings, producer, watch, lags: Lags::default() })
    }
}

#[async_trait]
impl BusPort for Bus {
    async fn publish(&self, envelope: &Envelope) -> Result<()> {
        let name = self.settings.name_of(envelope.topic);
        let headers = envelope.headers.iter().fold(OwnedHeaders::new(), |headers, (key, value)| {
            headers.insert(Header { key, value: Some(value) })
        });
        let record = FutureRecord::to(&name)
            .key(envelope.key.as_str())
            .payload(envelope.body.as_slice())
            .headers(headers);
        let sent = self.producer.send(record, Timeout::After(ANSWER_WITHIN)).await;
        self.watch.check(sent.map(drop).map_err(|(error, _)| error))
    }

    async fn subscribe(&self, group: &str, topics: &[Topic]) -> Result<Box<dyn Subscription>> {
        let watch = self.lags.watch_member();
        Ok(Box::new(Member::join(&self.settings, group, topics, watch)?))
    }

    async fn listen(&self, topics: &[Topic]) -> Result<Box<dyn Subscription>> {
        let (settings, topics) = (self.settings.clone(), topics.to_vec());
        let listener = blocking(move || Member::listen(&settings, &topics)).await?;
        Ok(Box::new(listener))
    }

    fn lag(&self) -> u64 {
        self.lags.sum()
    }

    async fn prepare(&self) -> Result<()> {
        if self.settings.makes_topics {
            topics::make(&self.settings, &self.watch).await?;
        }
        let (settings, producer) = (self.settings.clone(), self.producer.clone());
        let watch = self.watch.clone();
        blocking(move || topics::check(&settings, producer.client(), &watch)).await
    }
}

/// Runs blocking code.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::broken)?
}

fn explain(error: &KafkaError) -> String {
    // The value may be a secret.
    if let KafkaError::ClientConfig(_, what, key, _) = error {
        return format!("invalid setting `{key}`: {what}");
    }
    error.to_string()
}

fn unavailable(error: &KafkaError) -> Error {
    Error::unavailable(format!("Kafka: {error}"))
}

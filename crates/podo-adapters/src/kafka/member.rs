//! A member of a consumer group, or a listener without a group.

use crate::kafka::{ANSWER_WITHIN, KafkaSettings, Watch, blocking, explain, topics, unavailable};
use async_trait::async_trait;
use futures::FutureExt;
use podo_app::messaging::envelope::{ID_HEADER, TRACE_HEADER, TYPE_HEADER};
use podo_app::messaging::port::bus::{Envelope, Subscription};
use podo_app::{Error, Result};
use podo_domain::messaging::messages::Topic;
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::message::{BorrowedMessage, Headers};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Message, Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The name of a group without stored offsets.
const NO_GROUP: &str = "podo-listener";

pub(super) struct Member {
    settings: KafkaSettings,
    consumer: Arc<StreamConsumer<Watch>>,
    watch: Watch,
    /// None for a listener.
    group: Option<Group>,
    /// The consumer can't continue, or not from the right offset: it must rejoin the group, which
    /// redelivers uncommitted records.
    is_broken: bool,
    /// Received and uncommitted offsets, by topic and partition: from where to where.
    taken: BTreeMap<(String, i32), (i64, i64)>,
}

/// The subscription of a group member.
#[derive(Clone)]
struct Group {
    name: String,
    topics: Vec<String>,
}

impl Group {
    fn join(&self, settings: &KafkaSettings, watch: &Watch) -> Result<StreamConsumer<Watch>> {
        let consumer = open(settings, &self.name, watch)?;
        let names: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        consumer.subscribe(&names).map_err(|error| unavailable(&error))?;
        Ok(consumer)
    }
}

fn open(settings: &KafkaSettings, group: &str, watch: &Watch) -> Result<StreamConsumer<Watch>> {
    let consumer = settings.consumer(group).create_with_context(watch.clone());
    consumer.map_err(|error| Error::Broken(explain(&error)))
}

impl Member {
    pub(super) fn join(
        settings: &KafkaSettings,
        group: &str,
        topics: &[Topic],
        watch: Watch,
    ) -> Result<Member> {
        let topics = topics.iter().map(|topic| settings.name_of(*topic)).collect();
        let group = Group { name: group.to_owned(), topics };
        let consumer = group.join(settings, &watch)?;
        Ok(Member::new(settings, consumer, watch, Some(group)))
    }

    /// Starts after the last record of every partition, without a group: no rebalancing, and no
    /// stored offsets.
    pub(super) fn listen(settings: &KafkaSettings, topics: &[Topic]) -> Result<Member> {
        let watch = Watch::default();
        let consumer = open(settings, NO_GROUP, &watch)?;
        let member = Member::new(settings, consumer, watch, None);
        let mut places = TopicPartitionList::new();
        for topic in topics {
            let name = settings.name_of(*topic);
            for partition in 0..member.partitions_of(&name)? {
                let ends = member.consumer.fetch_watermarks(&name, partition, ANSWER_WITHIN);
                let (_, end) = member.watch.check(ends)?;
                places
                    .add_partition_offset(&name, partition, Offset::Offset(end))
                    .map_err(Error::broken)?;
            }
        }
        member.consumer.assign(&places).map_err(|error| unavailable(&error))?;
        Ok(member)
    }

    fn new(
        settings: &KafkaSettings,
        consumer: StreamConsumer<Watch>,
        watch: Watch,
        group: Option<Group>,
    ) -> Member {
        let (settings, consumer) = (settings.clone(), Arc::new(consumer));
        let taken = BTreeMap::new();
        Member { settings, consumer, watch, group, is_broken: false, taken }
    }

    /// Leaves and rejoins the group, if the consumer is broken.
    async fn heal(&mut self) -> Result<()> {
        let Some(group) = self.group.as_ref().filter(|_| self.is_broken) else { return Ok(()) };
        tracing::warn!(group = group.name, "Kafka consumer broken; rejoining its group");
        // Before the new member joins, so that the group rebalances once.
        self.consumer.unsubscribe();
        let consumer = Arc::new(group.join(&self.settings, &self.watch)?);
        self.spare_fatal();
        let old = std::mem::replace(&mut self.consumer, consumer);
        self.taken.clear();
        self.is_broken = false;
        // Leaving takes as long as the brokers need.
        let leaving = blocking(move || {
            drop(old);
            Ok(())
        });
        tokio::time::timeout(ANSWER_WITHIN, leaving).await.ok();
        Ok(())
    }

    /// A consumer with a fatal error must not be destroyed: librdkafka refuses to close it, and
    /// then waits for ever until it is closed (2.12, `rd_kafka_destroy_app`). It is leaked, outside
    /// its group.
    fn spare_fatal(&self) {
        if self.consumer.client().fatal_error().is_some() {
            self.consumer.unsubscribe();
            std::mem::forget(self.consumer.clone());
        }
    }

    /// Discards what was received: the group redelivers it.
    fn fail(&mut self, error: &KafkaError) -> Error {
        self.is_broken = true;
        self.taken.clear();
        self.watch.unavailable(error)
    }

    /// Whether librdkafka recovers by itself while we keep polling.
    fn is_passing(&self, error: &KafkaError) -> bool {
        let is_usual =
            matches!(error, KafkaError::MessageConsumption(_) | KafkaError::PartitionEOF(_));
        is_usual
            && !error.rdkafka_error_code().is_some_and(is_of_group)
            && self.consumer.client().fatal_error().is_none()
    }

    fn partitions_of(&self, name: &str) -> Result<i32> {
        topics::partitions_of(self.consumer.client(), name, &self.watch)
    }

    fn places(&self, place: impl Fn(&(i64, i64)) -> i64) -> Result<TopicPartitionList> {
        let mut places = TopicPartitionList::new();
        for ((topic, partition), offsets) in &self.taken {
            let offset = Offset::Offset(place(offsets));
            places.add_partition_offset(topic, *partition, offset).map_err(Error::broken)?;
        }
        Ok(places)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.spare_fatal();
    }
}

#[async_trait]
impl Subscription for Member {
    async fn receive(&mut self, limit: usize, patience: Duration) -> Result<Vec<Envelope>> {
        self.heal().await?;
        let deadline = tokio::time::Instant::now() + patience;
        let mut envelopes = Vec::new();
        let consumer = self.consumer.clone();
        // Errors may come in an endless stream.
        while envelopes.len() < limit && tokio::time::Instant::now() < deadline {
            let next = match envelopes.is_empty() {
                true => tokio::time::timeout_at(deadline, consumer.recv()).await.ok(),
                // Further records only if they have already arrived.
                false => consumer.recv().now_or_never(),
            };
            match next {
                Some(Ok(message)) => {
                    note(&mut self.taken, &message);
                    envelopes.extend(envelope(&self.settings, &message));
                }
                Some(Err(error)) if self.is_passing(&error) => {
                    tracing::debug!(%error, "Kafka consumer error; librdkafka retries");
                }
                Some(Err(error)) => return Err(self.fail(&error)),
                None => break,
            }
        }
        Ok(envelopes)
    }

    /// After a rebalance another member may own a partition and process its messages again, which
    /// is harmless.
    async fn commit(&mut self) -> Result<()> {
        let places = self.places(|(_, end)| *end)?;
        self.taken.clear();
        if self.group.is_none() || places.count() == 0 {
            return Ok(());
        }
        let consumer = self.consumer.clone();
        blocking(move || {
            if let Err(error) = consumer.commit(&places, CommitMode::Sync) {
                tracing::debug!(%error, "Offset commit failed; messages may be redelivered");
            }
            Ok(())
        })
        .await
    }

    /// A partition that has moved to another member can't be rewound, and needn't be: that member
    /// starts at our committed offset. In a partition that is still ours, a failed rewind would let
    /// the next commit skip unfinished records.
    async fn rewind(&mut self) -> Result<()> {
        let places = self.places(|(start, _)| *start)?;
        self.taken.clear();
        if self.is_broken || places.count() == 0 {
            return Ok(());
        }
        let consumer = self.consumer.clone();
        let sought = blocking(move || Ok(go_back(&consumer, places))).await?;
        sought.map_err(|error| self.fail(&error))
    }
}

/// Whether the group coordinator reports an error that librdkafka doesn't retry. Partitions whose
/// committed offset it couldn't fetch stay assigned, but aren't read until the next rebalance
/// (2.12, `rd_kafka_assignment_apply_offsets`).
fn is_of_group(code: RDKafkaErrorCode) -> bool {
    matches!(
        code,
        RDKafkaErrorCode::NotCoordinator
            | RDKafkaErrorCode::CoordinatorNotAvailable
            | RDKafkaErrorCode::CoordinatorLoadInProgress
            | RDKafkaErrorCode::UnknownMemberId
            | RDKafkaErrorCode::IllegalGeneration
            | RDKafkaErrorCode::GroupAuthorizationFailed
            | RDKafkaErrorCode::RequestTimedOut
    )
}

fn go_back(consumer: &StreamConsumer<Watch>, places: TopicPartitionList) -> KafkaResult<()> {
    let sought = consumer.seek_partitions(places, ANSWER_WITHIN)?;
    let ours = consumer.assignment()?;
    for place in sought.elements() {
        let is_ours = ours.find_partition(place.topic(), place.partition()).is_some();
        if is_ours && let Err(error) = place.error() {
            return Err(error);
        }
    }
    Ok(())
}

fn note(taken: &mut BTreeMap<(String, i32), (i64, i64)>, message: &BorrowedMessage<'_>) {
    let key = (message.topic().to_owned(), message.partition());
    let offset = message.offset();
    let (_, end) = taken.entry(key).or_insert((offset, offset + 1));
    *end = offset + 1;
}

fn envelope(settings: &KafkaSettings, message: &BorrowedMessage<'_>) -> Option<Envelope> {
    let key = String::from_utf8_lossy(message.key().unwrap_or_default()).into_owned();
    let body = message.payload().unwrap_or_default().to_vec();
    let topic = settings.topic_of(message.topic())?;
    Some(Envelope { topic, key, headers: headers(message), body })
}

/// The known headers; brokers before 0.11 have none.
fn headers(message: &BorrowedMessage<'_>) -> Vec<(&'static str, String)> {
    let Some(headers) = message.headers() else { return Vec::new() };
    let known = headers.iter().filter_map(|header| {
        let name =
            [ID_HEADER, TYPE_HEADER, TRACE_HEADER].into_iter().find(|name| *name == header.key)?;
        Some((name, String::from_utf8_lossy(header.value?).into_owned()))
    });
    known.collect()
}

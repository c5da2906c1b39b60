//! A member of a group, or a listener that is in none.

use super::{ANSWER_WITHIN, KafkaSettings, Watch, blocking, explain, topics, unavailable};
use app::messages::{ID_HEADER, TRACE_HEADER, TYPE_HEADER};
use app::ports::bus::{Parcel, Subscription};
use app::{Error, Result};
use async_trait::async_trait;
use domain::messages::Topic;
use futures::FutureExt;
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Headers};
use rdkafka::{Message, Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The name of a group that nothing is ever stored for.
const NO_GROUP: &str = "podo-listener";

pub(super) struct Member {
    settings: KafkaSettings,
    consumer: Arc<StreamConsumer<Watch>>,
    watch: Watch,
    is_in_group: bool,
    /// What was received and is not committed, by topic and partition: from where to where.
    taken: BTreeMap<(String, i32), (i64, i64)>,
}

impl Member {
    pub(super) fn join(settings: &KafkaSettings, group: &str, topics: &[Topic]) -> Result<Member> {
        let member = Member::open(settings, group, true)?;
        let names: Vec<String> = topics.iter().map(|topic| settings.name_of(*topic)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        member.consumer.subscribe(&names).map_err(|error| unavailable(&error))?;
        Ok(member)
    }

    /// Begins behind the last record of every partition, in no group: nobody has to agree on
    /// anything, and nothing is left behind.
    pub(super) fn listen(settings: &KafkaSettings, topics: &[Topic]) -> Result<Member> {
        let member = Member::open(settings, NO_GROUP, false)?;
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

    fn open(settings: &KafkaSettings, group: &str, is_in_group: bool) -> Result<Member> {
        let watch = Watch::default();
        let consumer = settings.consumer(group).create_with_context(watch.clone());
        let consumer: StreamConsumer<Watch> =
            consumer.map_err(|error| Error::Broken(explain(&error)))?;
        let (settings, consumer) = (settings.clone(), Arc::new(consumer));
        Ok(Member { settings, consumer, watch, is_in_group, taken: BTreeMap::new() })
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

#[async_trait]
impl Subscription for Member {
    async fn receive(&mut self, limit: usize, patience: Duration) -> Result<Vec<Parcel>> {
        let deadline = tokio::time::Instant::now() + patience;
        let mut parcels = Vec::new();
        let consumer = self.consumer.clone();
        while parcels.len() < limit {
            let next = match parcels.is_empty() {
                true => tokio::time::timeout_at(deadline, consumer.recv()).await.ok(),
                // More only if it is here already.
                false => consumer.recv().now_or_never(),
            };
            match next {
                Some(Ok(message)) => {
                    note(&mut self.taken, &message);
                    parcels.extend(parcel(&self.settings, &message));
                }
                Some(Err(error)) if is_passing(&error) => {
                    tracing::debug!(%error, "Kafka stumbled");
                }
                Some(Err(error)) => return Err(unavailable(&error)),
                None => break,
            }
        }
        Ok(parcels)
    }

    /// After a change of members somebody else may own a partition; then they do its messages
    /// again, which is harmless.
    async fn commit(&mut self) -> Result<()> {
        let places = self.places(|(_, end)| *end)?;
        self.taken.clear();
        if !self.is_in_group || places.count() == 0 {
            return Ok(());
        }
        let consumer = self.consumer.clone();
        blocking(move || {
            if let Err(error) = consumer.commit(&places, CommitMode::Sync) {
                tracing::debug!(%error, "Offsets were not committed: messages may come again");
            }
            Ok(())
        })
        .await
    }

    async fn rewind(&mut self) -> Result<()> {
        let places = self.places(|(start, _)| *start)?;
        self.taken.clear();
        let consumer = self.consumer.clone();
        blocking(move || {
            let sought = consumer.seek_partitions(places, ANSWER_WITHIN);
            sought.map(drop).map_err(|error| unavailable(&error))
        })
        .await
    }
}

fn note(taken: &mut BTreeMap<(String, i32), (i64, i64)>, message: &BorrowedMessage<'_>) {
    let key = (message.topic().to_owned(), message.partition());
    let offset = message.offset();
    let (_, end) = taken.entry(key).or_insert((offset, offset + 1));
    *end = offset + 1;
}

fn parcel(settings: &KafkaSettings, message: &BorrowedMessage<'_>) -> Option<Parcel> {
    let key = String::from_utf8_lossy(message.key().unwrap_or_default()).into_owned();
    let body = message.payload().unwrap_or_default().to_vec();
    let topic = settings.topic_of(message.topic())?;
    Some(Parcel { topic, key, headers: headers(message), body })
}

/// Those that we know; brokers before 0.11 carry none.
fn headers(message: &BorrowedMessage<'_>) -> Vec<(&'static str, String)> {
    let Some(headers) = message.headers() else { return Vec::new() };
    let known = headers.iter().filter_map(|header| {
        let name =
            [ID_HEADER, TYPE_HEADER, TRACE_HEADER].into_iter().find(|name| *name == header.key)?;
        Some((name, String::from_utf8_lossy(header.value?).into_owned()))
    });
    known.collect()
}

/// What librdkafka mends by itself while we go on asking.
fn is_passing(error: &KafkaError) -> bool {
    matches!(error, KafkaError::MessageConsumption(_) | KafkaError::PartitionEOF(_))
}

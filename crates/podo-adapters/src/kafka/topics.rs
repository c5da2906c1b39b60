//! Topics: created if missing, checked when the node starts.

use crate::kafka::{ANSWER_WITHIN, KafkaSettings, Watch};
use podo_app::{Error, Result};
use podo_domain::messaging::messages::Topic;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::{Client, ClientContext};
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::types::RDKafkaErrorCode;
use std::time::{Duration, Instant};

/// Poll interval for a topic that is being created.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Creates missing topics.
pub(super) async fn make(settings: &KafkaSettings, watch: &Watch) -> Result<()> {
    let admin = AdminClient::from_config_and_context(&settings.admin(), watch.clone());
    let admin = admin.map_err(|error| watch.unavailable(&error))?;
    let retention = settings.retention.as_millis().to_string();
    let names: Vec<String> = Topic::ALL.iter().map(|topic| settings.name_of(*topic)).collect();
    let (partitions, replication) = (number(settings.partitions), number(settings.replication));
    let topics: Vec<NewTopic<'_>> = names
        .iter()
        .map(|name| {
            NewTopic::new(name, partitions, TopicReplication::Fixed(replication))
                .set("retention.ms", &retention)
        })
        .collect();
    let options = AdminOptions::new().operation_timeout(Some(ANSWER_WITHIN));
    let options = options.request_timeout(Some(ANSWER_WITHIN));
    let made = admin.create_topics(&topics, &options).await;
    let made = made.map_err(|error| watch.unavailable(&error))?;
    for outcome in made {
        match outcome {
            Ok(name) => tracing::info!(topic = name, "Topic created"),
            Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((name, RDKafkaErrorCode::UnsupportedFeature)) => tracing::warn!(
                topic = name,
                "Brokers can't create topics on request; create it manually, or let brokers create \
                 topics by themselves, and set bus_create_topics to \"off\""
            ),
            Err((name, code)) => tracing::warn!(
                topic = name, %code,
                "Topic creation failed; create it manually, or check bus_partitions and bus_replication"
            ),
        }
    }
    Ok(())
}

/// Warns about topics with too few partitions and groups with too many members: a member without a
/// partition is idle.
pub(super) fn check<C: ClientContext>(
    settings: &KafkaSettings,
    client: &Client<C>,
    watch: &Watch,
) -> Result<()> {
    for topic in Topic::ALL {
        let name = settings.name_of(topic);
        let n_partitions = partitions_of(client, &name, watch)?;
        let n_wanted = number(settings.partitions);
        if n_partitions < n_wanted {
            tracing::warn!(
                topic = name,
                n_partitions,
                n_wanted,
                "A topic has fewer partitions than bus_partitions: more than {n_partitions} nodes \
                 with the role `worker` are idle"
            );
        }
    }
    let Ok(groups) = client.fetch_group_list(None, ANSWER_WITHIN) else { return Ok(()) };
    let is_ours =
        |name: &str| name.strip_prefix(&settings.prefix).is_some_and(|it| it.starts_with("podo-"));
    for group in groups.groups().iter().filter(|group| is_ours(group.name())) {
        let n_members = group.members().len();
        if n_members > settings.partitions as usize {
            tracing::warn!(
                group = group.name(),
                n_members,
                n_partitions = settings.partitions,
                "More workers than partitions: some of them are idle"
            );
        }
    }
    Ok(())
}

/// The number of partitions of a topic. The request may make brokers create it, in which case the
/// answer takes a moment.
pub(super) fn partitions_of<C: ClientContext>(
    client: &Client<C>,
    name: &str,
    watch: &Watch,
) -> Result<i32> {
    let start = Instant::now();
    loop {
        let metadata = client.fetch_metadata(Some(name), ANSWER_WITHIN);
        let metadata = watch.check(metadata)?;
        let found = metadata.topics().iter().find(|topic| topic.name() == name);
        let n_partitions = found.map_or(0, |topic| topic.partitions().len());
        if let Ok(n_partitions @ 1..) = i32::try_from(n_partitions) {
            return Ok(n_partitions);
        }
        if ANSWER_WITHIN <= start.elapsed() {
            return Err(Error::unavailable(format!("Kafka has no topic `{name}` yet")));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn number(setting: u32) -> i32 {
    i32::try_from(setting).unwrap_or(i32::MAX)
}

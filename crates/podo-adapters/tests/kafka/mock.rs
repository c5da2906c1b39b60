//! What the old broker of these tests lacks, on librdkafka's mock of a modern cluster: headers,
//! brokers that answer with errors, leaders that move. The mock doesn't deduplicate records by
//! sequence number, so a record may come twice here.

use crate::{PATIENCE, ReceivedKeys, envelope, read};
use podo_adapters::kafka::{Bus, KafkaSettings};
use podo_app::messaging::envelope::{ID_HEADER, TYPE_HEADER};
use podo_app::messaging::port::bus::{Bus as _, Envelope, Subscription};
use podo_domain::messaging::messages::Topic;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use std::time::{Duration, Instant};

const PARTITIONS: i32 = 10;

type Cluster = MockCluster<'static, DefaultProducerContext>;

fn cluster(prefix: &str) -> Cluster {
    let cluster = MockCluster::new(3).unwrap();
    for topic in Topic::ALL {
        cluster.create_topic(&format!("{prefix}{}", topic.as_str()), PARTITIONS, 3).unwrap();
    }
    cluster
}

fn bus(cluster: &Cluster, prefix: &str) -> Bus {
    bus_with(cluster, prefix, true)
}

fn bus_with(cluster: &Cluster, prefix: &str, idempotence: bool) -> Bus {
    let settings = KafkaSettings {
        brokers: cluster.bootstrap_servers(),
        prefix: prefix.to_owned(),
        partitions: PARTITIONS.unsigned_abs(),
        replication: 3,
        retention: Duration::from_secs(3_600),
        idempotence,
        security: "plaintext".to_owned(),
        ..KafkaSettings::default()
    };
    Bus::open(settings).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_arrive_as_they_were_sent() {
    let cluster = cluster("headers-");
    let bus = bus(&cluster, "headers-");
    let mut member = bus.subscribe("readers", &[Topic::Notification]).await.unwrap();
    let headers = vec![(ID_HEADER, "an id".to_owned()), (TYPE_HEADER, "a kind".to_owned())];
    let sent = Envelope { topic: Topic::Notification, headers, ..envelope(1, 1) };
    bus.publish(&sent).await.unwrap();
    assert_eq!(member.receive(1, PATIENCE).await.unwrap(), [sent]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_tells_how_many_records_wait_for_it_until_it_is_done_or_gone() {
    let cluster = cluster("lag-");
    let bus = bus(&cluster, "lag-");
    assert_eq!(bus.lag(), 0);
    let mut member = bus.subscribe("workers", &[Topic::Notification]).await.unwrap();
    for number in 0..40 {
        let sent = Envelope { topic: Topic::Notification, ..envelope(number % 4, number) };
        bus.publish(&sent).await.unwrap();
    }
    // The lag is reported during polls, as in a worker.
    let mut n_read = wait_for_lag(&bus, &mut member, "some wait", |lag| lag > 0).await;
    while n_read < 40 {
        n_read += member.receive(10, PATIENCE).await.unwrap().len();
    }
    member.commit().await.unwrap();
    wait_for_lag(&bus, &mut member, "all are done", |lag| lag == 0).await;
    drop(member);
    assert_eq!(bus.lag(), 0);
}

/// Returns how many records were read meanwhile.
async fn wait_for_lag(
    bus: &Bus,
    member: &mut Box<dyn Subscription>,
    what: &str,
    is_right: impl Fn(u64) -> bool,
) -> usize {
    let (start, mut n_read) = (Instant::now(), 0);
    while !is_right(bus.lag()) {
        assert!(start.elapsed() < PATIENCE, "{what}: {}", bus.lag());
        n_read += member.receive(1, Duration::from_millis(100)).await.unwrap().len();
    }
    n_read
}

/// The brokers refuse, lose track of leaders and lose answers; one of them goes down and comes
/// back.
#[tokio::test(flavor = "multi_thread")]
async fn every_record_arrives_and_in_order_from_brokers_that_stumble() {
    let cluster = cluster("stumble-");
    let bus = bus(&cluster, "stumble-");
    let topic = format!("stumble-{}", Topic::BookingCompleted.as_str());
    let mut member = bus.subscribe("workers", &[Topic::BookingCompleted]).await.unwrap();
    let keys = 20;
    for number in 1..=12 {
        let errors = [
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RDKafkaRespErr::RD_KAFKA_RESP_ERR__TRANSPORT,
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        ];
        cluster.request_errors(RDKafkaApiKey::Produce, &errors);
        cluster.request_errors(RDKafkaApiKey::Fetch, &errors[..1]);
        cluster.partition_leader(&topic, number % PARTITIONS, Some(number % 3 + 1)).unwrap();
        let is_one_away = number == 4;
        if is_one_away {
            cluster.broker_down(2).unwrap();
        }
        let comes_back = async {
            if is_one_away {
                tokio::time::sleep(Duration::from_secs(1)).await;
                cluster.broker_up(2).unwrap();
            }
        };
        let number = usize::try_from(number).unwrap();
        let sent = (0..keys).map(|key| {
            let bus = &bus;
            async move {
                // The relay publishes a refused message again; so does this loop.
                while bus.publish(&envelope(key, number)).await.is_err() {}
            }
        });
        tokio::join!(futures::future::join_all(sent), comes_back);
    }
    let mut seen = read(&mut *member, keys * 12).await;
    // Repeats may have filled the limit.
    while seen.len() < keys || seen.values().any(|numbers| !numbers.contains(&12)) {
        let more = read(&mut *member, 1).await;
        assert!(!more.is_empty(), "nothing more comes: {seen:?}");
        for (key, numbers) in more {
            seen.entry(key).or_default().extend(numbers);
        }
    }
    assert_eq!(seen.len(), keys);
    for (key, mut numbers) in seen {
        numbers.dedup();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>(), "key {key}: all of them, in order");
    }
}

/// An idempotent producer requests an id first. Without permission for one nothing is sent; the
/// control requests none.
#[tokio::test(flavor = "multi_thread")]
async fn an_idempotent_producer_asks_for_its_id() {
    let cluster = cluster("numbered-");
    let refusals = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED; 20];
    cluster.request_errors(RDKafkaApiKey::InitProducerId, &refusals);
    let unnumbered = bus_with(&cluster, "numbered-", false);
    unnumbered.publish(&envelope(1, 1)).await.unwrap();
    let numbered = bus_with(&cluster, "numbered-", true);
    assert!(numbered.publish(&envelope(1, 2)).await.is_err());
    cluster.clear_request_errors(RDKafkaApiKey::InitProducerId);
    let numbered = bus_with(&cluster, "numbered-", true);
    numbered.publish(&envelope(1, 3)).await.unwrap();
}

/// Receives for this long, or until all numbers have come, through the errors of a recovering
/// member. Returns what came, by key.
async fn read_through_errors(member: &mut dyn Subscription, keys: usize) -> (usize, ReceivedKeys) {
    let (start, mut n_errors, mut seen) = (Instant::now(), 0, ReceivedKeys::new());
    while seen.len() < keys && start.elapsed() < PATIENCE {
        match member.receive(1_000, Duration::from_millis(500)).await {
            Ok(envelopes) => {
                for envelope in envelopes {
                    let number = String::from_utf8_lossy(&envelope.body).parse().unwrap();
                    seen.entry(envelope.key).or_default().push(number);
                }
            }
            Err(_) => n_errors += 1,
        }
    }
    (n_errors, seen)
}

/// The broker fences the member's id, which is fatal for librdkafka. The member rejoins and gets
/// its uncommitted records again.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_with_a_fatal_error_joins_anew_and_loses_nothing() {
    let cluster = cluster("fatal-");
    let bus = bus(&cluster, "fatal-");
    let mut member = bus.subscribe("workers", &[Topic::BookingCompleted]).await.unwrap();
    let keys = 20;
    for key in 0..keys {
        bus.publish(&envelope(key, 1)).await.unwrap();
    }
    let (_, taken) = read_through_errors(&mut *member, keys).await;
    assert_eq!(taken.len(), keys);
    let fenced = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID];
    cluster.request_errors(RDKafkaApiKey::Heartbeat, &fenced);
    let start = Instant::now();
    while member.receive(1, Duration::from_millis(100)).await.is_ok() {
        assert!(start.elapsed() < PATIENCE, "no heartbeat was refused");
    }
    // Processing failed because of it.
    member.rewind().await.ok();
    let (_, again) = read_through_errors(&mut *member, keys).await;
    assert_eq!(again, taken, "all of it comes again");
    member.commit().await.unwrap();
    bus.publish(&envelope(0, 2)).await.unwrap();
    assert_eq!(member.receive(1, PATIENCE).await.unwrap(), [envelope(0, 2)], "and nothing else");
}

/// The member recovers from every error of the group coordinator, and uncommitted records are
/// redelivered.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_coordinator_refuses_to_commit_comes_again() {
    let cluster = cluster("refuse-");
    let bus = bus(&cluster, "refuse-");
    let moved = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_COORDINATOR];
    for call in [RDKafkaApiKey::JoinGroup, RDKafkaApiKey::OffsetFetch] {
        cluster.request_errors(call, &moved);
    }
    let mut member = bus.subscribe("workers", &[Topic::BookingCompleted]).await.unwrap();
    let keys = 20;
    for key in 0..keys {
        bus.publish(&envelope(key, 1)).await.unwrap();
    }
    let (_, taken) = read_through_errors(&mut *member, keys).await;
    assert_eq!(taken.len(), keys);
    let gone = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID; 4];
    cluster.request_errors(RDKafkaApiKey::OffsetCommit, &gone);
    cluster.request_errors(RDKafkaApiKey::Heartbeat, &gone[..1]);
    member.commit().await.unwrap();
    let (_, again) = read_through_errors(&mut *member, keys).await;
    assert_eq!(again, taken, "the broker does not know that it is done");
}

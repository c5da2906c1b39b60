//! TLS to the real broker; SASL and topic creation on a stand-in that reads the frames, because the
//! real one knows neither PLAIN nor CreateTopics.

use crate::stand_in::{CreateTopic, Received, StandIn};
use crate::{envelope, settings};
use podo_adapters::kafka::{Bus, KafkaSettings};
use podo_app::messaging::port::bus::Bus as _;
use podo_domain::messaging::messages::Topic;
use podo_testbed::Kafka;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::block_in_place;

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_is_believed_when_the_right_authority_vouches_for_it() {
    let kafka = block_in_place(|| Kafka::start_with_tls().unwrap());
    let folder = TempDir::with_prefix("podo-").unwrap();
    let trusting = |certificate: &str, name: &str| {
        let ca = folder.path().join(name);
        std::fs::write(&ca, certificate).unwrap();
        Bus::open(KafkaSettings {
            brokers: kafka.tls_address(),
            security: "ssl".to_owned(),
            ca: Some(ca),
            ..settings(&kafka, "tls-")
        })
        .unwrap()
    };
    let bus = trusting(kafka.certificate(), "right.pem");
    bus.prepare().await.unwrap();
    bus.publish(&envelope(1, 1)).await.unwrap();
    let mut member = bus.subscribe("readers", &[Topic::BookingCompleted]).await.unwrap();
    let seen = crate::read(&mut *member, 1).await;
    assert_eq!(seen["1"], [1]);

    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let bus = trusting(&other.cert.pem(), "wrong.pem");
    for refused in [bus.publish(&envelope(1, 2)).await, bus.prepare().await] {
        let why = refused.unwrap_err().to_string();
        assert!(why.contains("certificate") && why.contains("verif"), "{why}");
    }
}

fn with_a_name(stand_in: &StandIn, security: &str) -> KafkaSettings {
    KafkaSettings {
        brokers: format!("127.0.0.1:{}", stand_in.port),
        security: security.to_owned(),
        mechanism: "PLAIN".to_owned(),
        username: "podo".to_owned(),
        password: "green grapes".to_owned(),
        partitions: 10,
        replication: 3,
        retention: Duration::from_secs(7 * 24 * 3_600),
        makes_topics: true,
        prefix: "house-".to_owned(),
        ..KafkaSettings::default()
    }
}

fn wait(stand_in: &StandIn, what: &str, is_there: impl Fn(&Received) -> bool) -> Received {
    let start = Instant::now();
    loop {
        let received = stand_in.received();
        if is_there(&received) {
            return received;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The start of a node: it authenticates and creates the topics.
#[tokio::test(flavor = "multi_thread")]
async fn name_and_password_arrive_and_topics_are_made_as_they_are_set() {
    let stand_in = StandIn::start();
    let bus = Bus::open(with_a_name(&stand_in, "sasl_plaintext")).unwrap();
    bus.prepare().await.unwrap();
    let received = stand_in.received();
    assert!(received.mechanisms.iter().all(|it| it == "PLAIN"), "{:?}", received.mechanisms);
    assert_eq!(received.credentials[0], "\0podo\0green grapes");
    let asked = |topic: Topic| CreateTopic {
        name: format!("house-{}", topic.as_str()),
        partitions: 10,
        replication: 3,
        settings: vec![("retention.ms".to_owned(), "604800000".to_owned())],
    };
    assert_eq!(received.topics, Topic::ALL.map(asked));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_not_sent_to_an_unverified_broker() {
    let stand_in = StandIn::start();
    let bus = Bus::open(with_a_name(&stand_in, "sasl_ssl")).unwrap();
    let published = bus.publish(&envelope(1, 1)).await;
    assert!(published.is_err());
    let received =
        block_in_place(|| wait(&stand_in, "a client connected", |it| !it.bytes.is_empty()));
    // A TLS client sends its hello, and nothing else.
    assert_eq!(received.bytes[0], 0x16);
    let secret = b"grapes";
    assert!(!received.bytes.windows(secret.len()).any(|it| it == secret));
    assert!(received.credentials.is_empty());
}

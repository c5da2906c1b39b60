//! The contract of the bus on a real broker, and behaviour that only several group members show.
#![cfg(test)]

mod mock;
mod security;
mod stand_in;

use podo_adapters::kafka::{Bus, KafkaSettings};
use podo_app::messaging::port::bus;
use podo_app::messaging::port::bus::{Bus as _, Envelope, Subscription};
use podo_domain::messaging::messages::Topic;
use podo_testbed::Kafka;
use podo_testbed::kafka::{OPTIONS, PARTITIONS};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a real broker takes to rebalance a group.
const PATIENCE: Duration = Duration::from_secs(30);

fn settings(kafka: &Kafka, prefix: &str) -> KafkaSettings {
    let options = OPTIONS.map(|(key, value)| (key.to_owned(), value.to_owned()));
    KafkaSettings {
        brokers: kafka.address(),
        prefix: prefix.to_owned(),
        partitions: PARTITIONS,
        replication: 1,
        retention: Duration::from_secs(3_600),
        security: "plaintext".to_owned(),
        options: options.to_vec(),
        ..KafkaSettings::default()
    }
}

fn envelope(key: usize, number: usize) -> Envelope {
    Envelope {
        topic: Topic::BookingCompleted,
        key: key.to_string(),
        headers: Vec::new(),
        body: number.to_string().into_bytes(),
    }
}

/// One broker for all of it, because starting one takes longer than the tests do.
#[tokio::test(flavor = "multi_thread")]
async fn the_bus_keeps_the_contract_and_members_share_the_work() {
    let mut kafka = tokio::task::block_in_place(|| Kafka::start().unwrap());
    let bus = Bus::open(settings(&kafka, "contract-")).unwrap();
    bus.prepare().await.unwrap();
    bus::contract::check(&bus, 1).await;
    members_share_keys_and_take_over(&Bus::open(settings(&kafka, "members-")).unwrap()).await;
    let rewound = Bus::open(settings(&kafka, "rewound-")).unwrap();
    what_is_rewound_while_members_come_is_not_lost(&rewound).await;
    let (mut worker, n_taken) = take_some(&rewound).await;
    tokio::task::block_in_place(|| kafka.kill_9().unwrap());
    assert!(bus.publish(&envelope(0, 0)).await.is_err(), "the broker is down");
    worker.rewind().await.ok();
    tokio::task::block_in_place(|| kafka.restart().unwrap());
    assert_eq!(read(&mut *worker, n_taken).await.len(), n_taken, "all of it comes again");
    let mut n_tries = 0;
    while bus.publish(&envelope(0, 1)).await.is_err() {
        n_tries += 1;
        assert!(n_tries < 12, "the broker is back");
    }
}

type ReceivedKeys = BTreeMap<String, Vec<usize>>;

/// Receives until nothing comes for a while, or until enough has come.
async fn read(member: &mut dyn Subscription, enough: usize) -> ReceivedKeys {
    let mut seen = ReceivedKeys::new();
    let mut patience = PATIENCE;
    while seen.values().map(Vec::len).sum::<usize>() < enough {
        let envelopes = member.receive(50, patience).await.unwrap();
        if envelopes.is_empty() {
            break;
        }
        for envelope in envelopes {
            let number = String::from_utf8(envelope.body).unwrap().parse().unwrap();
            seen.entry(envelope.key).or_default().push(number);
        }
        member.commit().await.unwrap();
        patience = Duration::from_secs(3);
    }
    seen
}

/// Two members, one of which leaves in the middle. Nothing is lost, and each key keeps its order.
async fn members_share_keys_and_take_over(bus: &Bus) {
    let topics = [Topic::BookingCompleted];
    let mut one = bus.subscribe("workers", &topics).await.unwrap();
    bus.publish(&envelope(0, 0)).await.unwrap();
    assert_eq!(read(&mut *one, 1).await.len(), 1, "the first has all of it");
    let mut two = bus.subscribe("workers", &topics).await.unwrap();
    // Both poll while the group rebalances.
    let (none, also_none) = tokio::join!(
        one.receive(1, Duration::from_secs(8)),
        two.receive(1, Duration::from_secs(8))
    );
    assert!(none.unwrap().is_empty() && also_none.unwrap().is_empty());
    let keys = 30;
    for number in 1..=10 {
        let sent = (0..keys).map(|key| async move { bus.publish(&envelope(key, number)).await });
        for sent in futures::future::join_all(sent).await {
            sent.unwrap();
        }
    }
    let (at_one, at_two) = tokio::join!(read(&mut *one, 300), read(&mut *two, 300));
    assert!(!at_one.is_empty() && !at_two.is_empty(), "both have a share");
    assert!(at_one.keys().all(|key| !at_two.contains_key(key)), "a key is with one of them");
    assert_eq!(at_one.len() + at_two.len(), keys);
    for numbers in at_one.values().chain(at_two.values()) {
        assert_eq!(*numbers, (1..=10).collect::<Vec<_>>(), "in order, once");
    }
    // The second takes some and leaves without committing: the first gets them again.
    for key in 0..keys {
        bus.publish(&envelope(key, 11)).await.unwrap();
    }
    let taken = two.receive(50, PATIENCE).await.unwrap();
    assert!(!taken.is_empty());
    drop(two);
    let rest = read(&mut *one, keys).await;
    assert_eq!(rest.len(), keys, "nothing is lost with a member");
}

/// A member of its own group that has received these keys.
async fn take_some(bus: &Bus) -> (Box<dyn Subscription>, usize) {
    let (mut member, keys) = (bus.subscribe("takers", &[Topic::SeatSync]).await.unwrap(), 20);
    for key in 0..keys {
        bus.publish(&Envelope { topic: Topic::SeatSync, ..envelope(key, 1) }).await.unwrap();
    }
    let mut n_taken = 0;
    while n_taken < keys {
        n_taken += member.receive(keys, PATIENCE).await.unwrap().len();
    }
    (member, keys)
}

/// A member whose processing failed rewinds while another takes over half of its partitions. Those
/// can't be rewound, and go to the other.
async fn what_is_rewound_while_members_come_is_not_lost(bus: &Bus) {
    let (mut one, keys) = take_some(bus).await;
    let mut two = bus.subscribe("takers", &[Topic::SeatSync]).await.unwrap();
    let mut first = Vec::new();
    while first.is_empty() {
        // The group rebalances only while its members poll.
        let (_, at_two) = tokio::join!(
            one.receive(1, Duration::from_millis(100)),
            two.receive(1, Duration::from_millis(100))
        );
        first = at_two.unwrap();
    }
    one.rewind().await.unwrap();
    let (at_one, at_two) = tokio::join!(read(&mut *one, keys / 2), read(&mut *two, keys / 2));
    let mut seen: BTreeSet<String> = at_one.into_keys().chain(at_two.into_keys()).collect();
    seen.extend(first.into_iter().map(|envelope| envelope.key));
    assert_eq!(seen.len(), keys, "{seen:?}");
}

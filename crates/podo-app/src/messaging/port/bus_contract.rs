//! The contract of every bus.

use crate::messaging::port::bus::{Bus, Envelope, Subscription};
use podo_domain::messaging::messages::Topic;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a member of a new group waits for its share; a real broker needs a while to rebalance.
const PATIENCE: Duration = Duration::from_secs(30);

/// If nothing arrives for this long, nothing is coming.
const QUIET: Duration = Duration::from_millis(500);

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(bus: &dyn Bus, seed: u64) {
    what_is_published_arrives_in_order_at_every_group(bus, seed).await;
    what_was_not_committed_comes_again(bus, seed).await;
    a_listener_hears_only_what_follows(bus, seed).await;
    a_bus_without_readers_accepts_envelopes_too(bus, seed).await;
}

fn envelope(seed: u64, key: usize, number: usize) -> Envelope {
    Envelope {
        topic: Topic::SeatSync,
        key: format!("{seed}-{key}"),
        headers: vec![("message-type", "Test".to_owned())],
        body: number.to_string().into_bytes(),
    }
}

async fn join(bus: &dyn Bus, seed: u64, name: &str) -> Box<dyn Subscription> {
    let group = format!("{name}-{seed}");
    bus.subscribe(&group, &[Topic::SeatSync]).await.expect("the bus answers")
}

/// Publishes as the relay does: the next of a key after the last was accepted, keys concurrently.
/// Receiving runs meanwhile, because some buses accept only processed envelopes.
async fn publish(bus: &dyn Bus, seed: u64, keys: usize, numbers: std::ops::Range<usize>) {
    let of_key = |key: usize| {
        let numbers = numbers.clone();
        async move {
            for number in numbers {
                bus.publish(&envelope(seed, key, number)).await.expect("the bus accepts it");
            }
        }
    };
    futures::future::join_all((0..keys).map(of_key)).await;
}

/// Receives until `n_envelopes` of this run have arrived; returns the numbers by key.
async fn read(
    member: &mut dyn Subscription,
    seed: u64,
    n_envelopes: usize,
) -> BTreeMap<String, Vec<usize>> {
    let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let start = format!("{seed}-");
    let mut n_seen = 0;
    while n_seen < n_envelopes {
        let envelopes = member.receive(7, PATIENCE).await.expect("the bus answers");
        assert!(!envelopes.is_empty(), "{n_seen} of {n_envelopes} arrived");
        for envelope in envelopes.into_iter().filter(|it| it.key.starts_with(&start)) {
            let number = String::from_utf8_lossy(&envelope.body).parse().expect("a number");
            assert_eq!(envelope.topic, Topic::SeatSync);
            seen.entry(envelope.key).or_default().push(number);
            n_seen += 1;
        }
        member.commit().await.expect("the bus answers");
    }
    seen
}

async fn what_is_published_arrives_in_order_at_every_group(bus: &dyn Bus, seed: u64) {
    let seed = seed * 10 + 1;
    let (mut one, mut two) = (join(bus, seed, "one").await, join(bus, seed, "two").await);
    let (keys, numbers) = (5, 40);
    let publish = publish(bus, seed, keys, 0..numbers);
    let (at_one, at_two) = (read(&mut *one, seed, 200), read(&mut *two, seed, 200));
    let (_, seen, also) = futures::future::join3(publish, at_one, at_two).await;
    assert_eq!(seen.len(), keys);
    assert!(seen.values().all(|numbers| *numbers == (0..40).collect::<Vec<_>>()), "{seen:?}");
    assert_eq!(seen, also, "each group gets all of it");
}

async fn what_was_not_committed_comes_again(bus: &dyn Bus, seed: u64) {
    let seed = seed * 10 + 2;
    let mut member = join(bus, seed, "again").await;
    let sent = publish(bus, seed, 1, 0..3);
    let receive = async {
        let mut first = Vec::new();
        while first.is_empty() {
            first = member.receive(1, PATIENCE).await.expect("the bus answers");
            first.retain(|envelope| envelope.key.starts_with(&format!("{seed}-")));
        }
        assert_eq!(first[0].body, b"0");
        member.rewind().await.expect("the bus answers");
        let again = read(&mut *member, seed, 3).await;
        assert_eq!(again.into_values().collect::<Vec<_>>(), [vec![0, 1, 2]]);
        member
    };
    let ((), mut member) = futures::future::join(sent, receive).await;
    let rest = member.receive(10, QUIET).await.expect("the bus answers");
    assert_eq!(rest, [], "committed envelopes are not delivered again");
}

async fn a_listener_hears_only_what_follows(bus: &dyn Bus, seed: u64) {
    let seed = seed * 10 + 3;
    publish(bus, seed, 1, 0..3).await;
    let mut late = bus.listen(&[Topic::SeatSync]).await.expect("the bus answers");
    let sent = publish(bus, seed, 1, 3..5);
    let ((), seen) = futures::future::join(sent, read(&mut *late, seed, 2)).await;
    let numbers: BTreeSet<usize> = seen.into_values().flatten().collect();
    assert_eq!(numbers, BTreeSet::from([3, 4]));
}

async fn a_bus_without_readers_accepts_envelopes_too(bus: &dyn Bus, seed: u64) {
    let alone = Envelope { topic: Topic::DeadLetter, ..envelope(seed * 10 + 4, 0, 0) };
    bus.publish(&alone).await.expect("publishing needs no reader");
}

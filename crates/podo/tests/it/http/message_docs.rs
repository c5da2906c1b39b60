//! docs/messages.md is correct: every type with its topic, and every field of a reservation.

use crate::support::world::{Plan, World};
use podo_domain::messaging::messages::MessageKind;
use serde_json::Value;
use std::collections::BTreeSet;

const DOCS: &str = include_str!("../../../../../docs/messages.md");

#[test]
fn every_type_is_described_with_its_topic() {
    for kind in MessageKind::ALL {
        let row = format!("| `{}` | `{}` |", kind.as_str(), kind.topic().as_str());
        assert!(DOCS.contains(&row), "{row}");
    }
    let n_rows = DOCS.lines().filter(|line| line.starts_with("| `") && line.contains("` | `"));
    let n_rows = n_rows.filter(|line| line.matches(" | ").count() == 4).count();
    assert_eq!(n_rows, MessageKind::ALL.len());
}

#[test]
fn every_worker_is_described_with_its_topics() {
    for worker in podo_app::messaging::workers::ALL {
        let topics: Vec<String> =
            worker.topics().iter().map(|topic| format!("`{}`", topic.as_str())).collect();
        let row = format!("| `{}` | {} |", worker.name(), topics.join(", "));
        assert!(DOCS.contains(&row), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_has_the_fields_that_are_described() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let mut subscription = world
        .context()
        .messaging
        .bus
        .listen(&podo_domain::messaging::messages::Topic::ALL)
        .await
        .unwrap();
    let fan = world.fan_inside(&show).await;
    let buy = fan.buy(&show, 0);
    let hear = async {
        loop {
            let envelopes =
                subscription.receive(100, std::time::Duration::from_secs(20)).await.unwrap();
            subscription.commit().await.unwrap();
            let messages =
                envelopes.iter().map(|it| podo_app::messaging::envelope::decode(it).unwrap());
            let mut held = messages.filter(|it| it.kind == MessageKind::ReservationHeld);
            if let Some(message) = held.next() {
                return message;
            }
        }
    };
    let (_, message) = tokio::join!(buy, hear);
    let data: Value = serde_json::from_str(&message.payload).unwrap();
    let fields: BTreeSet<String> = data.as_object().unwrap().keys().cloned().collect();
    let line = DOCS.lines().find(|line| line.starts_with("A reservation: ")).unwrap();
    let described: BTreeSet<String> = line
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .filter(|word| !["grade", "seats", "amount"].contains(&word.as_str()))
        .collect();
    assert_eq!(fields, described);
}

//! Messages over a real broker: exactly one effect, whatever happens to the broker and the workers.

use crate::booking_completed;
use crate::faults::redelivered::buy_at;
use crate::messaging::messages::{confirmed, n_notifications, one_seat, wait_for_sold};
use crate::nodes::invalidation::who_missed_the_signal_hears_the_message;
use crate::nodes::sale::{N_SEATS, Sale, prepare};
use crate::support::world::{Plan, Show, World, config, until};
use crate::system::{System, kafka_settings};
use podo_adapters::kafka::Bus;
use podo_app::messaging::envelope::{decode, encode};
use podo_app::messaging::port::bus::{Bus as _, Envelope};
use podo_domain::messaging::messages::{MessageKind, Topic};
use podo_testbed::Kafka;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::block_in_place;

const BOOKED: &str = "예매가 완료되었어요";

/// How long the broker is down, and how many fans buy in the meantime.
const AWAY: Duration = Duration::from_secs(60);
const N_LATE: u32 = 20;

/// Every buyer has one notification, every seat was counted once, and nothing is pending.
pub(crate) async fn all_messages_acted_once(system: &System, sale: &Sale, n_notifications: usize) {
    let notifications = format!(
        "select count(*), count(distinct message_id) from common.mailbox where subject = '{BOOKED}'"
    );
    let sold = format!(
        "select sum(sold), count(*) from reservation_service.sales_by_grade
          where schedule_id = '{}'",
        sale.show.schedule
    );
    let pending = "select count(*) from common.outbox where status <> 'PUBLISHED'";
    let expected =
        (format!("{n_notifications}|{n_notifications}"), format!("{N_SEATS}|1"), "0".to_owned());
    let start = Instant::now();
    loop {
        let seen = (system.ask(&notifications), system.ask(&sold), system.ask(pending));
        if seen == expected {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(180), "{seen:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The broker is down for a minute in the middle of a sale. In the meantime, others buy for another
/// date, one after the other; then all pending messages arrive, in order.
#[tokio::test(flavor = "multi_thread")]
async fn selling_goes_on_without_the_broker_and_every_message_arrives_later() {
    let mut system = block_in_place(System::with_kafka);
    let made = async |world: &World, _: &Show| world.fans(N_LATE as usize).await;
    let (late_show, late) = system.prepare(Plan::default(), made).await;
    let (show, buyers) = prepare(&system).await;
    let nodes = [system.node("api,admitter,worker"), system.node("api,admitter,worker")];
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    sale.run(buyers, async || {
        block_in_place(|| system.broker().kill_9()).unwrap();
        let gone_at = tokio::time::Instant::now();
        for (seat, fan) in (0..N_LATE).zip(&late) {
            buy_at(&nodes[seat as usize % 2], fan, &late_show, seat).await;
            tokio::time::sleep_until(gone_at + AWAY * (seat + 1) / N_LATE).await;
        }
    })
    .await;
    sale.check(&system).await;
    let n_waiting = "select count(*) from common.outbox where status = 'PENDING'";
    let n_waiting: usize = system.ask(n_waiting).parse().unwrap();
    assert!(n_waiting >= N_LATE as usize * 3, "only {n_waiting} wait for the broker");
    block_in_place(|| system.broker().restart()).unwrap();
    all_messages_acted_once(&system, &sale, N_SEATS + N_LATE as usize).await;
    let bus = Bus::open(system.config().kafka().unwrap()).unwrap();
    let told = read_all(&bus, &[Topic::SeatSync], usize::MAX).await;
    let orders = orders(&told);
    assert!(orders.len() >= N_SEATS + N_LATE as usize, "{} reservations", orders.len());
    assert!(orders.values().all(|seqs| seqs.is_sorted()), "{orders:?}");
}

/// A worker is killed twice while it processes messages; the other takes over, and it comes back.
#[tokio::test(flavor = "multi_thread")]
async fn workers_are_killed_and_come_back_and_nothing_acts_twice() {
    let system = block_in_place(System::with_kafka);
    let (show, buyers) = prepare(&system).await;
    let shop = system.node("api,admitter");
    let mut workers = [system.node("worker"), system.node("worker")];
    let sale = Sale::new(show, &[shop.url()]);
    sale.run(buyers, async || {
        for worker in &mut workers {
            block_in_place(|| {
                worker.kill_9().unwrap();
                worker.restart().unwrap();
            });
        }
    })
    .await;
    sale.check(&system).await;
    all_messages_acted_once(&system, &sale, N_SEATS).await;
    let n_dead = system.ask("select count(*) from common.dead_letters");
    assert_eq!(n_dead, "0");
    let (is_fine, listed) = system.podo(&["admin", "dlq", "list"]);
    assert!(is_fine && listed.contains("There are no dead letters."), "{listed}");
    let (is_fine, jobs) = system.podo(&["jobs", "list"]);
    assert!(is_fine && jobs.contains("clean-messages  daily 02:00 UTC"), "{jobs}");
    let (is_fine, ran) = system.podo(&["jobs", "run", "expire"]);
    assert!(is_fine && ran.contains("0 failed"), "{ran}");
}

/// Everything on a topic, read from the beginning.
pub(crate) async fn read_all(bus: &Bus, topics: &[Topic], enough: usize) -> Vec<Envelope> {
    let mut reader = bus.subscribe("a-reader", topics).await.unwrap();
    let mut envelopes = Vec::new();
    let mut patience = Duration::from_secs(20);
    while envelopes.len() < enough {
        let some = reader.receive(1_000, patience).await.unwrap();
        if some.is_empty() {
            break;
        }
        envelopes.extend(some);
        patience = Duration::from_secs(2);
    }
    envelopes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_is_published_on_its_topic_and_redelivery_has_no_further_effect() {
    let kafka = block_in_place(|| Kafka::start().unwrap());
    let settings = kafka_settings(&kafka);
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &settings);
    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    wait_for_sold(&world.organiser, show.schedule, 1).await;

    // Another program reads it and republishes it several times, together with garbage.
    let bus = Bus::open(config.kafka().unwrap()).unwrap();
    let told = read_all(&bus, &[Topic::BookingCompleted], 1).await;
    let message = decode(&told[0]).unwrap();
    assert_eq!((told.len(), message.kind), (1, MessageKind::ReservationConfirmed));
    assert_eq!(told[0].key, show.schedule.to_string());
    booking_completed::assert_documented(&told[0].body);
    let booking = booking_completed::consume(&told[0].body);
    assert_eq!(booking.booking_id, bought.booking_number);
    assert_eq!(booking.reservation_id, bought.reservation);
    assert_eq!(booking.event_schedule_id, show.schedule.to_string());
    let event = world.organiser.get(&format!("/api/events/{}", booking.event_id)).await.expect(200);
    assert_eq!(event["schedules"][0]["id"], booking.event_schedule_id);
    let paid = fan.api.get(&format!("/api/payment/{}", booking.payment_id)).await.expect(200);
    assert_eq!(paid["amount"], booking.amount);
    let seat = &booking.seats[0];
    assert_eq!((seat.id.clone(), seat.price), (show.seat(0).to_string(), booking.amount));
    assert!(!seat.number.is_empty() && !seat.grade.is_empty(), "{seat:?}");
    let again = (0..1_000).map(|_| bus.publish(&told[0]));
    for sent in futures::future::join_all(again).await {
        sent.unwrap();
    }
    let nonsense = Envelope { body: b"nonsense".to_vec(), ..told[0].clone() };
    bus.publish(&nonsense).await.unwrap();
    let behind = confirmed(&world, &show, &one_seat());
    bus.publish(&encode(&behind).unwrap()).await.unwrap();
    wait_for_sold(&world.organiser, show.schedule, 2).await;
    until("two workers set the nonsense aside", async || {
        let listed = world.organiser.get("/api/admin/dlq?status=OPEN").await.expect(200);
        (listed["items"].as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    assert_eq!(n_notifications(&fan, BOOKED).await, 1);
    who_missed_the_signal_hears_the_message(&world, folder.path(), &settings).await;
    two_relays_keep_the_order(&world, &config, &bus).await;
    world.finish().await;
}

/// A second relay that believes it leads runs beside the leader: a consumer that deduplicates by id
/// sees every reservation's messages in order.
async fn two_relays_keep_the_order(world: &World, config: &podo::config::Config, bus: &Bus) {
    let show = world.show(Plan::default()).await;
    let fans = world.fans(10).await;
    let other = podo::bootstrap::context(config).await.unwrap().context;
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let relay = async {
        while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
            podo_app::messaging::jobs::relay::relay_messages(&other, other.now()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let churn = async {
        let each = fans.into_iter().enumerate().map(|(index, mut fan)| {
            let show = show.clone();
            async move {
                fan.go_inside(&show).await;
                for _ in 0..3 {
                    let hold = fan.hold(&show, &[u32::try_from(index).unwrap()]).await;
                    fan.release(&hold).await.expect(204);
                }
            }
        });
        futures::future::join_all(each).await;
        until("all of it is published", async || {
            let backlog = other.store.backlog().await.unwrap();
            (backlog.pending == 0).then_some(())
        })
        .await;
        is_over.store(true, std::sync::atomic::Ordering::SeqCst);
    };
    tokio::join!(relay, churn);
    let told = read_all(bus, &[Topic::SeatSync], usize::MAX).await;
    let key = show.schedule.to_string();
    let told: Vec<Envelope> = told.into_iter().filter(|it| it.key == key).collect();
    let orders = orders(&told);
    assert_eq!(orders.len(), 30);
    assert!(orders.values().all(|seqs| *seqs == [1, 2]), "{orders:?}");
}

/// The sequence numbers of each reservation's messages in order of arrival, without duplicates.
fn orders(told: &[Envelope]) -> BTreeMap<uuid::Uuid, Vec<i64>> {
    let mut seen = BTreeSet::new();
    let mut orders: BTreeMap<uuid::Uuid, Vec<i64>> = BTreeMap::new();
    for message in told.iter().map(|it| decode(it).unwrap()) {
        let is_of_reservation = message.kind != MessageKind::CatalogChanged;
        if is_of_reservation && seen.insert(message.id) {
            orders.entry(message.aggregate).or_default().push(message.seq);
        }
    }
    orders
}

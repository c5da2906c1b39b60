//! What workers write: sales that add up in any order, notifications that are sent once, dead
//! letters that wait for an organiser, deliveries to webhook endpoints.

use crate::world::{World, at, refusal, won};
use futures::future::join_all;
use podo_app::messaging::port::dead_letters::{
    DeadLetterStatus, DeadLetterVerb, DeadLetters, NewDeadLetter,
};
use podo_app::messaging::port::messages::{Consume, Messages};
use podo_app::messaging::port::notifications::{
    ChannelKind, Device, Notice, NoticeContent, NoticeOutcome, NotificationSettings, Notifications,
};
use podo_app::messaging::port::webhook_endpoints::{
    DeliveryStatus, Endpoint, EndpointStatus, ToTell, Tried, WebhookEndpoints,
};
use podo_app::operations::port::job_runs::{JobRun, JobRuns};
use podo_app::payments::port::sales::{Booked, GradeShare, Sales};
use podo_app::store::PageRequest;
use podo_domain::messaging::messages::{ATTEMPTS_MAX, Language, MessageKind};
use podo_domain::{
    DeliveryId, DeviceId, EndpointId, MessageId, NodeId, Refusal, ReservationId, Timestamp,
};

const PAGE: PageRequest = PageRequest { limit: 20, after: None };

fn share(grade: &str, seats: u32, amount: i64) -> GradeShare {
    GradeShare { grade: grade.to_owned(), seats, amount: won(amount) }
}

fn booked(world: &World, reservation: ReservationId, seq: i64, shares: &[GradeShare]) -> Booked {
    let message = MessageId::new(world.id());
    Booked { message, reservation, schedule: world.schedule, seq, shares: shares.to_vec() }
}

async fn sold(world: &World) -> Vec<(String, u32, u32, i64)> {
    let grades = world.store.statistics(world.schedule).await.unwrap();
    let view = grades.into_iter();
    view.map(|it| (it.grade, it.sold, it.available, it.revenue.get())).collect()
}

#[tokio::test]
async fn sales_add_up_in_whatever_order_and_however_often_messages_come() {
    let world = World::new().await;
    let (one, two) = (ReservationId::new(world.id()), ReservationId::new(world.id()));
    let confirmed = booked(&world, one, 2, &[share("VIP", 2, 300_000)]);
    let reduced = booked(&world, one, 3, &[share("VIP", 1, 150_000)]);
    let other = booked(&world, two, 2, &[share("R", 1, 100_000), share("VIP", 1, 150_000)]);
    let canceled = booked(&world, two, 3, &[]);
    let all = [canceled, reduced, confirmed, other];
    for message in all.iter().chain(&all).cloned() {
        world.store.count_booked("booking", vec![message], at(1)).await.unwrap();
    }
    let expected = [("R".to_owned(), 0, 30, 0), ("VIP".to_owned(), 1, 9, 150_000)];
    assert_eq!(sold(&world).await, expected);
    let n_new = world.store.count_booked("booking", all.to_vec(), at(2)).await.unwrap();
    assert_eq!((n_new, sold(&world).await), (0, expected.to_vec()), "all of it was known");
    world.finish().await;
}

#[tokio::test]
async fn two_workers_that_count_at_once_lose_nothing() {
    let world = World::new().await;
    let bookings: Vec<Booked> = (0..40)
        .map(|_| booked(&world, ReservationId::new(world.id()), 2, &[share("R", 1, 100_000)]))
        .collect();
    let commands = bookings.chunks(4).chain(bookings.chunks(5));
    let count = |some: &[Booked]| world.store.count_booked("booking", some.to_vec(), at(1));
    let counted = join_all(commands.map(count)).await.into_iter().map(Result::unwrap);
    assert_eq!(counted.sum::<u64>(), 40, "each message is new once");
    assert_eq!(sold(&world).await[0], ("R".to_owned(), 40, 0, 4_000_000));
    world.finish().await;
}

fn dead_letter(message: MessageId, consumer: &str, now: Timestamp) -> NewDeadLetter {
    NewDeadLetter {
        message_id: message,
        consumer: consumer.to_owned(),
        topic: "seat-sync".to_owned(),
        kind: "unreadable".to_owned(),
        key: "k".to_owned(),
        body: "no\0JSON".to_owned(),
        error: "broken".to_owned(),
        attempts: 3,
        now,
    }
}

#[tokio::test]
async fn a_dead_letter_stays_open_until_it_is_replayed_or_dropped() {
    let world = World::new().await;
    let message = MessageId::new(world.id());
    for now in [at(1), at(2)] {
        world.store.add_dead_letter(dead_letter(message, "booking", now)).await.unwrap();
    }
    world.store.add_dead_letter(dead_letter(message, "notification", at(3))).await.unwrap();
    let open = DeadLetterStatus::Open;
    let listed = world.store.dead_letters(Some(open), PAGE).await.unwrap();
    let names: Vec<(&str, u32)> =
        listed.iter().map(|it| (it.consumer.as_str(), it.attempts)).collect();
    assert_eq!(names, [("notification", 3), ("booking", 6)]);
    let [dropped, replayed] = [listed[0].id, listed[1].id];
    let close = |id, verb| world.store.close_dead_letter(id, verb, world.admin, at(4));
    close(dropped, DeadLetterVerb::Drop).await.unwrap();
    close(replayed, DeadLetterVerb::Replay).await.unwrap();
    let again = refusal(close(replayed, DeadLetterVerb::Replay).await);
    assert_eq!(again, Refusal::DeadLetterClosed);
    let due = world.store.replays(10).await.unwrap();
    assert_eq!(due.iter().map(|it| it.id).collect::<Vec<_>>(), [replayed]);
    let error = Some("still broken".to_owned());
    world.store.finish_replay(replayed, error, at(5)).await.unwrap();
    assert_eq!(world.store.open_dead_letters().await.unwrap(), [("booking".to_owned(), 1)]);
    close(replayed, DeadLetterVerb::Replay).await.unwrap();
    world.store.finish_replay(replayed, None, at(6)).await.unwrap();
    assert_eq!(world.store.open_dead_letters().await.unwrap(), []);
    // One `DeadLettered` message per message and consumer.
    let told = world.store.due_messages(at(9), 1_000).await.unwrap();
    let told = told.iter().filter(|it| it.kind == MessageKind::DeadLettered).count();
    assert_eq!(told, 2);
    // Settled dead letters are deleted in time, open ones never.
    world
        .store
        .add_dead_letter(dead_letter(MessageId::new(world.id()), "booking", at(1)))
        .await
        .unwrap();
    assert_eq!(world.store.forget_messages(at(0), at(100), 10).await.unwrap(), 2);
    assert_eq!(world.store.dead_letters(None, PAGE).await.unwrap().len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn what_the_relay_gave_up_goes_back_into_the_outbox() {
    let world = World::new().await;
    let due = world.store.due_messages(at(0), 1).await.unwrap().remove(0);
    let mut now = at(1);
    for _ in 0..ATTEMPTS_MAX {
        world.store.message_failed(&due, "too large".into(), now).await.unwrap();
        now = now.plus(std::time::Duration::from_secs(61));
    }
    let open = world.store.dead_letters(None, PAGE).await.unwrap();
    assert_eq!((open.len(), open[0].consumer.as_str()), (1, "relay"));
    assert_eq!(world.store.backlog().await.unwrap().dead, 1);
    let (verb, actor) = (DeadLetterVerb::Replay, world.admin);
    world.store.close_dead_letter(open[0].id, verb, actor, now).await.unwrap();
    let again = world.store.due_messages(now, 1_000).await.unwrap();
    let again = again.iter().find(|it| it.id == due.id).unwrap();
    assert_eq!((again.attempts, world.store.backlog().await.unwrap().dead), (0, 0));
    world.finish().await;
}

#[tokio::test]
async fn a_notification_is_sent_at_most_once_per_channel_and_recipient() {
    let world = World::new().await;
    let fan = world.fan().await;
    let message = MessageId::new(world.id());
    let notice = |channel| Notice {
        message,
        channel,
        recipient: fan.id.uuid(),
        user: fan.id,
        reservation: None,
        subject: "Booked".into(),
        body: "See you".into(),
        attempts: 0,
        content: Some(NoticeContent {
            template: "welcome".into(),
            language: Language::En,
            facts: "{}".into(),
        }),
    };
    let notices: Vec<Notice> = ChannelKind::ALL.map(notice).to_vec();
    let (consumer, notifications) = ("notification", Vec::new());
    let consume = Consume { message, consumer, notifications, notices, now: at(1) };
    for _ in 0..3 {
        world.store.consume(vec![consume.clone()]).await.unwrap();
    }
    let take = |now| world.store.take_notices(now, now.plus(MINUTE), 2);
    let hands = join_all((0..5).map(|_| take(at(2)))).await;
    let taken: Vec<Notice> = hands.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(taken.len(), 3, "each is in one hand");
    let finish = |notice, outcome| world.store.finish_notice(notice, outcome, at(3));
    finish(&taken[0], NoticeOutcome::Sent).await.unwrap();
    let later = NoticeOutcome::Later { at: at(10), error: "busy".into() };
    finish(&taken[1], later).await.unwrap();
    assert_eq!(take(at(9)).await.unwrap(), []);
    let again = take(at(10)).await.unwrap();
    assert_eq!((again.len(), again[0].channel, again[0].attempts), (1, taken[1].channel, 2));
    // The third was never reported as finished, so it isn't sent again.
    assert_eq!(take(at(1_000)).await.unwrap(), []);
    let sent = world.store.notices_of(fan.id, 10).await.unwrap();
    let mut statuses: Vec<&str> = sent.iter().map(|it| it.status.as_str()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["SENT", "UNKNOWN", "UNKNOWN"]);
    // The worker's mark and three notifications, once they are old.
    assert_eq!(world.store.forget_messages(at(0), at(1), 10).await.unwrap(), 0);
    assert_eq!(world.store.forget_messages(at(0), at(2_000), 10).await.unwrap(), 4);
    world.finish().await;
}

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);

#[tokio::test]
async fn a_device_belongs_to_the_last_who_brought_it() {
    let world = World::new().await;
    let (one, two) = (world.fan().await, world.fan().await);
    let device = |user| Device {
        device: DeviceId::new(world.id()),
        user,
        token: b"sealed".to_vec(),
        token_hash: [7; 32],
    };
    let (first, second) = (device(one.id), device(two.id));
    world.store.add_device(first.clone(), at(1)).await.unwrap();
    world.store.add_device(second.clone(), at(2)).await.unwrap();
    assert_eq!(world.store.devices_of(one.id).await.unwrap(), []);
    assert_eq!(world.store.devices_of(two.id).await.unwrap(), std::slice::from_ref(&second));
    assert!(!world.store.remove_device(one.id, second.device).await.unwrap());
    assert!(world.store.remove_device(two.id, second.device).await.unwrap());
    let wish = NotificationSettings { language: Language::En, sms: true, ..Default::default() };
    world.store.set_notification_settings(one.id, wish, at(3)).await.unwrap();
    let wished = world.store.notification_settings(&[two.id, one.id, two.id]).await.unwrap();
    assert_eq!(wished, [NotificationSettings::default(), wish, NotificationSettings::default()]);
    // A log-in in another language changes nothing that is known; a choice does, and only that.
    world.store.remember_language(one.id, Language::Ko, false, at(4)).await.unwrap();
    world.store.remember_language(two.id, Language::En, false, at(4)).await.unwrap();
    let first = NotificationSettings { language: Language::En, ..Default::default() };
    let known = world.store.notification_settings(&[one.id, two.id]).await.unwrap();
    assert_eq!(known, [wish, first]);
    world.store.remember_language(one.id, Language::Ko, true, at(5)).await.unwrap();
    let chosen = NotificationSettings { language: Language::Ko, ..wish };
    assert_eq!(world.store.notification_settings(&[one.id]).await.unwrap(), [chosen]);
    world.finish().await;
}

#[tokio::test]
async fn a_webhook_endpoint_gets_each_subscribed_message_once() {
    let world = World::new().await;
    let endpoint = |kinds: &[MessageKind]| Endpoint {
        endpoint: EndpointId::new(world.id()),
        url: "https://podo.example/hook".into(),
        secret: b"sealed".to_vec(),
        previous_secret: None,
        kinds: kinds.to_vec(),
        status: EndpointStatus::Active,
        created_at: at(0),
    };
    let (wants, not) =
        (endpoint(&[MessageKind::ReservationConfirmed]), endpoint(&[MessageKind::RefundDue]));
    for endpoint in [&wants, &not] {
        world.store.add_endpoint(endpoint.clone(), world.admin).await.unwrap();
    }
    let (message, kind) = (MessageId::new(world.id()), MessageKind::ReservationConfirmed);
    let told = vec![ToTell { message, kind, body: "{}".into() }];
    let plan = || world.store.plan_deliveries("organisers", told.clone(), at(1));
    assert_eq!((plan().await.unwrap(), plan().await.unwrap()), (1, 0));
    let due = world.store.take_deliveries(at(2), at(60), 10).await.unwrap();
    assert_eq!((due.len(), due[0].endpoint_id, due[0].attempts), (1, wants.endpoint, 1));
    assert_eq!(world.store.take_deliveries(at(3), at(60), 10).await.unwrap(), []);
    let tried = Tried {
        delivery: due[0].id,
        status: DeliveryStatus::Failed,
        next_at: at(5),
        answered: Some(410),
        error: Some("gone".into()),
        disables: Some(wants.endpoint),
    };
    world.store.note_delivery(tried, at(4)).await.unwrap();
    let known = world.store.endpoint(wants.endpoint).await.unwrap().unwrap();
    assert_eq!(known.status, EndpointStatus::Disabled);
    let replay = |id| world.store.replay_delivery(wants.endpoint, id, world.admin, at(6));
    assert_eq!(refusal(replay(DeliveryId::new(world.id())).await), Refusal::NotFound);
    replay(due[0].id).await.unwrap();
    let n_forgotten = world.store.forget_messages(at(0), at(1_000), 10).await.unwrap();
    assert_eq!(n_forgotten, 1, "the worker's mark; the delivery is pending again");
    assert_eq!(world.store.take_deliveries(at(7), at(60), 10).await.unwrap().len(), 1);
    let log = world.store.deliveries(wants.endpoint, PAGE).await.unwrap();
    assert_eq!(log[0].last_status, Some(410));
    world.store.remove_endpoint(wants.endpoint, world.admin, at(8)).await.unwrap();
    assert_eq!(world.store.endpoints().await.unwrap().len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_daily_turn_is_taken_by_one_node() {
    let world = World::new().await;
    let turns = join_all((0..8).map(|_| world.store.claim_run("clean", at(0)))).await;
    assert_eq!(turns.into_iter().filter(|turn| *turn.as_ref().unwrap()).count(), 1);
    assert!(!world.store.claim_run("clean", at(-86_400)).await.unwrap(), "an old one is over");
    assert!(world.store.claim_run("clean", at(86_400)).await.unwrap());
    let run = |started_at: Timestamp, done| JobRun {
        job: "clean".into(),
        node: NodeId::new(world.id()),
        started_at,
        finished_at: started_at,
        done,
        failed: 0,
        error: None,
    };
    assert_eq!(world.store.job_runs().await.unwrap(), [], "a turn is no run");
    for (at, done) in [(at(2), 7), (at(1), 5)] {
        world.store.note_run(run(at, done)).await.unwrap();
    }
    let runs = world.store.job_runs().await.unwrap();
    assert_eq!((runs.len(), runs[0].done), (1, 7), "a late note changes nothing");
    world.finish().await;
}

//! PostgreSQL's plans for the frequent statements of fans and jobs, on a full database: none of
//! them scans a whole table. The server logs every statement that the store runs, so a new one is
//! checked without being listed here.

#[path = "plans/draws.rs"]
mod draws;
#[path = "plans/organisers.rs"]
mod organisers;
#[path = "plans/presale.rs"]
mod presale;

use crate::engine::alone;
use crate::world::{Fan, World, at};
use podo_app::booking::port::allocations::Allocations;
use podo_app::booking::port::issued::IssuedOrders;
use podo_app::booking::port::reconciliation::Reconciliation;
use podo_app::booking::port::reservations::{ReleaseSeats, Reservations};
use podo_app::booking::port::standby::Standbys;
use podo_app::catalog::images::port::Images;
use podo_app::catalog::port::{Catalog, EventFilter};
use podo_app::identity::port::accounts::{Accounts, LoginAttempt, RotateRefresh, StartSession};
use podo_app::identity::support::port::{Support, SupportSubject, TimelineQuery};
use podo_app::messaging::port::announcements::{Announcements, Subject};
use podo_app::messaging::port::dead_letters::DeadLetters;
use podo_app::messaging::port::messages::{Consume, Messages, Notification};
use podo_app::messaging::port::notifications::Notifications;
use podo_app::messaging::port::webhook_endpoints::WebhookEndpoints;
use podo_app::operations::port::admin_search::{AdminSearch, Look, PersonSearch};
use podo_app::operations::port::idempotency::IdempotencyKeys;
use podo_app::operations::port::job_runs::JobRuns;
use podo_app::operations::port::records::Records;
use podo_app::payments::port::deposits::{Deposits, TakeClosing, TakeWatched};
use podo_app::payments::port::gateway_webhooks::Webhooks;
use podo_app::payments::port::payments::{
    CancelPayment, NeverMade, Payments, PutOffRefund, SettlePayment,
};
use podo_app::payments::port::refunds::Refunds;
use podo_app::payments::port::reports::Reports;
use podo_app::payments::port::resolutions::Resolutions;
use podo_app::payments::port::sales::Sales;
use podo_app::payments::port::wallets::Wallets;
use podo_app::store::{Order, PageRequest};
use podo_app::tickets::port::Tickets;
use podo_app::tickets::resale_port::Resales;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_app::waiting_room::port::history::{HistoryCursor, Places, QueueHistory};
use podo_app::waiting_room::port::queue::{Admission, Survivors};
use podo_domain::catalog::EventStatus;
use podo_domain::payments::Outcome;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::waiting_room::Need;
use podo_domain::{LoginId, PaymentId, RefundId, ReservationId, ScheduleId, SessionId, UserId};
use podo_testbed::Postgres;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

const FILL: &str = include_str!("plans_fill.sql");

/// Why the invariants do not hold in a full database.
const FILLED: &str = "the rows of plans_fill.sql were not written by commands";

/// Tables that never have many rows.
const SMALL: [&str; 3] = ["venues", "halls", "refinery_schema_history"];

/// Rows that a plan node may read and discard.
const WASTE_MAX: f64 = 200.0;

/// After five runs PostgreSQL considers a generic plan.
const RUNS: u32 = 8;

const PAGE: PageRequest = PageRequest { limit: 20, after: None };

/// A full database whose server logs the plan of every statement.
async fn full_world(plan_mode: &str) -> World {
    let world = alone().await;
    world.engine.server.psql("postgres", FILL).unwrap();
    world.engine.let_records_go();
    presale::prepare(&world).await;
    draws::prepare(&world).await;
    watched(world, plan_mode).await
}

/// Makes the server log the plan of every statement from now on.
async fn watched(mut world: World, plan_mode: &str) -> World {
    let server = &world.engine.server;
    let settings = [
        "auto_explain.log_min_duration = 0",
        "auto_explain.log_analyze = on",
        "auto_explain.log_timing = off",
        "auto_explain.log_format = 'json'",
        "session_preload_libraries = 'auto_explain'",
        plan_mode,
    ];
    let settings = settings.map(|it| format!("alter database postgres set {it};"));
    let sql = format!("load 'auto_explain'; {}", settings.concat());
    server.psql("postgres", &sql).unwrap();
    world.store = world.restart().await;
    world
}

/// The executed statements and their plans, once the last transaction has ended.
async fn plans(server: &Postgres) -> Vec<(String, Value)> {
    let busy = "select count(*) from pg_stat_activity
                 where datname = 'postgres' and state <> 'idle'";
    while server.psql("template1", busy).unwrap() != "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let log = std::fs::read_to_string(server.log_path()).unwrap();
    let parts = log.split(" plan:\n").skip(1);
    let read = |part: &str| {
        let mut values = serde_json::Deserializer::from_str(part).into_iter::<Value>();
        let plan = values.next().unwrap().unwrap();
        (plan["Query Text"].as_str().unwrap().to_owned(), plan["Plan"].clone())
    };
    parts.map(read).collect()
}

/// The problems of a plan node and its children.
fn complaints(step: &Value) -> Vec<String> {
    let table = step["Relation Name"].as_str().unwrap_or_default();
    let kind = step["Node Type"].as_str().unwrap();
    let waste = step["Rows Removed by Filter"].as_f64().unwrap_or(0.0);
    let mut found = Vec::new();
    if kind == "Seq Scan" && !SMALL.contains(&table) {
        found.push(format!("reads all of {table}"));
    }
    if waste > WASTE_MAX {
        found.push(format!("throws {waste} rows of {table} away"));
    }
    let below = step["Plans"].as_array().into_iter().flatten();
    found.extend(below.flat_map(complaints));
    found
}

/// The indexes that a plan node and its children scan without a key.
fn indexes_read_whole(step: &Value) -> Vec<String> {
    let index = step["Index Name"].as_str();
    let is_whole = step["Index Cond"].is_null();
    let mut found: Vec<String> =
        index.filter(|_| is_whole).map(str::to_owned).into_iter().collect();
    let below = step["Plans"].as_array().into_iter().flatten();
    found.extend(below.flat_map(indexes_read_whole));
    found
}

#[tokio::test]
async fn no_statement_that_runs_all_the_time_reads_a_whole_table() {
    let world = full_world("plan_cache_mode = auto").await;
    for _ in 0..RUNS {
        filter_and_clean(&world).await;
    }
    everything_has_a_good_plan(&world).await;
    world.abandon(FILLED);
}

/// A connection may switch to a generic plan for a statement that it runs often. For filters and
/// clean-up that would be wrong, and PostgreSQL sees it: the test above runs them often enough.
#[tokio::test]
async fn nor_does_one_whose_plan_is_made_without_its_parameters() {
    let world = full_world("plan_cache_mode = force_generic_plan").await;
    everything_has_a_good_plan(&world).await;
    world.abandon(FILLED);
}

async fn everything_has_a_good_plan(world: &World) {
    let fan = world.fan().await;
    log_in(world, &fan).await;
    purchase(world, &fan).await;
    purchases_of_a_crowd(world).await;
    refund(world).await;
    hold_again(world).await;
    presale::play(world, &fan).await;
    draws::play(world, &world.fan().await).await;
    lists(world, fan.id).await;
    jobs(world).await;
    let plans = plans(&world.engine.server).await;
    let n_statements = plans.iter().map(|(sql, _)| sql).collect::<BTreeSet<_>>().len();
    assert!(n_statements > 80, "{n_statements} statements");
    let n_shared = plans.iter().filter(|(sql, _)| sql.contains("as asked")).count();
    assert!(n_shared > 10, "{n_shared} statements for many");
    let wrong: BTreeSet<String> = plans
        .iter()
        .filter_map(|(sql, plan)| {
            let found = complaints(plan);
            (!found.is_empty()).then(|| format!("{}: {sql}", found.join(", ")))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A sale begins on tables that the planner believes to be empty, and fills them before the next
/// statistics. A full scan of a short index then looks cheap for a whole batch.
#[tokio::test]
async fn what_a_crowd_asks_is_found_by_key_even_in_tables_that_seem_empty() {
    let world = watched(alone().await, "plan_cache_mode = auto").await;
    purchases_of_a_crowd(&world).await;
    let plans = plans(&world.engine.server).await;
    let shared: Vec<_> = plans.iter().filter(|(sql, _)| sql.contains("as asked")).collect();
    assert!(shared.len() > 20, "{} statements for many", shared.len());
    let wrong: BTreeSet<String> = shared
        .iter()
        .filter_map(|(sql, plan)| {
            let found = indexes_read_whole(plan);
            (!found.is_empty()).then(|| format!("reads all of {}: {sql}", found.join(", ")))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    world.finish().await;
}

/// The control: without its index the same statement is caught.
#[tokio::test]
async fn a_missing_index_is_caught() {
    let world = full_world("plan_cache_mode = auto").await;
    let server = &world.engine.server;
    server.psql("postgres", "drop index reservation_service.reservations_user").unwrap();
    let fan = world.fan().await;
    world.store.reservations_of(fan.id, PAGE).await.unwrap();
    let found: Vec<String> =
        plans(server).await.iter().flat_map(|(_, plan)| complaints(plan)).collect();
    assert!(found.iter().any(|it| it.contains("reservations")), "{found:?}");
    world.abandon(FILLED);
}

async fn log_in(world: &World, fan: &Fan) {
    let (store, session) = (&world.store, SessionId::new(world.id()));
    store.user_by_email([9; 32]).await.unwrap();
    store.user(fan.id).await.unwrap();
    let attempt = LoginAttempt {
        login: LoginId::new(world.id()),
        user: Some(fan.id),
        email_hash: [1; 32],
        ip: None,
        network: None,
        agent: None,
        budget: None,
        method: "EMAIL",
        success: true,
        reason: None,
        now: at(0),
    };
    let start = StartSession {
        session,
        attempt,
        user: fan.id,
        refresh_hash: [1; 32],
        expires_at: at(1_000),
    };
    store.start_session(start).await.unwrap();
    let rotate = RotateRefresh {
        spent_hash: [1; 32],
        next_hash: [2; 32],
        expires_at: at(1_000),
        organisers_idle_max: None,
        now: at(1),
    };
    store.rotate_refresh(rotate.clone()).await.unwrap();
    store.rotate_refresh(rotate).await.unwrap();
    store.end_session(session, at(2)).await.unwrap();
}

async fn purchase(world: &World, fan: &Fan) {
    let store = &world.store;
    store.schedule(world.schedule).await.unwrap();
    let admission = Admission { fan: fan.id, entry: fan.entry };
    store.record_admissions(world.schedule, vec![admission], at(0)).await.unwrap();
    store.record_extension(world.schedule, fan.entry, at(0)).await.unwrap();
    let sold = world.buy(fan, &[0, 1], at(1)).await;
    let payment = sold.confirmed.payment_id;
    store.payment(payment, fan.id).await.unwrap();
    store.payment_of(sold.confirmed.reservation.id, fan.id).await.unwrap();
    store.reservation(sold.confirmed.reservation.id, fan.id).await.unwrap();
    store.ticket(sold.confirmed.tickets[0].id, fan.id).await.unwrap();
    store.stored_answer(&world.key(fan, "payment/confirm")).await.unwrap();
    store.seats_held_by(fan.id, world.schedule).await.unwrap();
    store.seats_of(world.schedule).await.unwrap();
    store.template_of(world.schedule).await.unwrap();
    store.end_entry(world.schedule, fan.entry.number, "LEFT", at(2)).await.unwrap();
}

/// Purchases that share their statements.
async fn purchases_of_a_crowd(world: &World) {
    let fans = world.fans(16).await;
    let buy = async |(seat, fan): (u32, &Fan)| world.buy(fan, &[seat], at(1)).await;
    futures::future::join_all((20..).zip(&fans).map(buy)).await;
}

/// A card payment that is settled, canceled and refunded.
async fn refund(world: &World) {
    let (store, fan) = (&world.store, world.fan().await);
    let (_, ready) = world.start_paying(&fan, &[5], at(1)).await;
    let payment = ready.payment_id;
    store.take_unsettled(at(2), at(2), 10).await.unwrap();
    let (asked_before, requested_after) = (at(-5_000_000), at(-6_000_000));
    let never_made = NeverMade { asked_before, requested_after, now: at(2), limit: 10 };
    store.take_never_made(never_made).await.unwrap();
    let outcome = Outcome::Captured { amount: ready.amount };
    let settle = SettlePayment {
        payment,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(2),
    };
    store.settle_payment(settle).await.unwrap();
    let (key, refund) = (world.key(&fan, "payment/cancel"), RefundId::new(world.id()));
    let (user, reason) = (fan.id, "ill".into());
    let cancel = CancelPayment {
        key,
        payment,
        user,
        refund,
        reason,
        seats: Vec::new(),
        to: RefundTo::Original,
        now: at(3),
    };
    store.cancel_payment(cancel).await.unwrap();
    store.take_due_refunds(at(3), at(9), 10).await.unwrap();
    let (error, next_at, now) = ("busy".into(), at(9), at(4));
    let put_off = PutOffRefund { refund, attempts: 1, error, next_at, now };
    store.put_off_refund(put_off).await.unwrap();
    store.finish_refund(refund, at(9)).await.unwrap();
    let (now, until, limit) = (at(5), at(9), 10);
    store.take_closing(TakeClosing { now, until, limit }).await.unwrap();
    let watched = TakeWatched { now, again_at: until, later_at: until, limit };
    store.take_watched(watched).await.unwrap();
    store.remind_depositors(now, until, limit).await.unwrap();
}

/// Holds that are released, taken over and swept.
async fn hold_again(world: &World) {
    let (store, fans) = (&world.store, world.fans(3).await);
    let held = world.hold(&fans[0], &[8], at(1)).await.unwrap();
    let (reservation, user) = (held.reservation_id, fans[0].id);
    store.release_seats(ReleaseSeats { reservation, user, now: at(2) }).await.unwrap();
    world.hold(&fans[0], &[8], at(3)).await.unwrap();
    world.hold(&fans[1], &[8], at(1_000)).await.unwrap();
    world.hold(&fans[2], &[9], at(1_000)).await.unwrap();
    assert_eq!(store.expire_holds(at(2_000), 100).await.unwrap().len(), 2);
}

async fn lists(world: &World, user: UserId) {
    let store = &world.store;
    let later = PageRequest { limit: 20, after: Some(Uuid::max()) };
    store.reservations_of(user, PAGE).await.unwrap();
    store.reservations_of(user, later).await.unwrap();
    store.tickets_of(user, PAGE).await.unwrap();
    store.balance(user).await.unwrap();
    store.movements(user, None, 20).await.unwrap();
    store.places_of(user, HistoryCursor::newest(at(0)), 20).await.unwrap();
    for fan in [None, Some(user)] {
        let order = Order::Newest;
        let asked = Places { schedule: world.schedule, fan, order, cursor: None, limit: 20 };
        store.places_in(asked).await.unwrap();
    }
    store.seats_by_grade(world.schedule, at(0)).await.unwrap();
    store.statistics(world.schedule).await.unwrap();
    store.day_rows(at(-3_600), at(3_600), None, 500).await.unwrap();
    store.payment_case(PaymentId::new(world.id()), at(0)).await.unwrap();
    store.standby_of(user, world.schedule).await.unwrap();
    store.mailbox(user, 20).await.unwrap();
    store.resales_of(user, 20).await.unwrap();
    store.resales_for(user, at(0)).await.unwrap();
    support(world, user).await;
    store.events(EventFilter::default(), PAGE).await.unwrap();
    store.event(world.event).await.unwrap();
    store.schedules_of(world.event).await.unwrap();
}

/// The pages of support.
async fn support(world: &World, user: UserId) {
    let store = &world.store;
    let booking = store.reservations_of(user, PAGE).await.unwrap()[0].id;
    for subject in [SupportSubject::Person(user), SupportSubject::Booking(booking)] {
        store.timeline(TimelineQuery { subject, until: at(0), limit: 20 }).await.unwrap();
        store.notes_about(subject, 20).await.unwrap();
    }
    store.booking_tickets(booking).await.unwrap();
    let hash = Some([7; 32]);
    for search in [
        PersonSearch { phone_hash: hash, ..PersonSearch::default() },
        PersonSearch { name_hash: hash, ..PersonSearch::default() },
    ] {
        store.find_people(search, Look::newest(20)).await.unwrap();
    }
    let both = PersonSearch { name_hash: hash, email_part_hash: hash, ..Default::default() };
    store.find_people(both, Look::newest(20)).await.unwrap();
    organisers::lists(world, user).await;
    store.unindexed_names(at(0), 200).await.unwrap();
    store.forget_notes(at(-3_600), 100).await.unwrap();
}

async fn jobs(world: &World) {
    let store = &world.store;
    store.schedules_alive(at(0)).await.unwrap();
    store.waiting_standbys(at(0), 100).await.unwrap();
    store.settle_standbys(at(0), 100).await.unwrap();
    store.schedules_ended(at(0), at(1)).await.unwrap();
    store.live_entries(world.schedule, at(0)).await.unwrap();
    let survivors = Some(Survivors { oldest_inside: 3, front: 9 });
    store.remembered(world.schedule, survivors, at(0)).await.unwrap();
    store.grant(world.schedule, Need::Numbers { above: 0 }, at(0)).await.unwrap();
    store.expire_entries(at(5_000), 100).await.unwrap();
    let due = store.due_messages(at(5_000), 100).await.unwrap();
    let first = due[0].id;
    store.messages_published(vec![first], at(5_000)).await.unwrap();
    store.message_failed(&due[1], "busy".into(), at(5_000)).await.unwrap();
    let notification = Notification {
        user: Some(world.admin),
        reservation: None,
        subject: "Hello".into(),
        body: "Fan".into(),
        created_at: at(0),
    };
    let notifications = vec![notification];
    let (consumer, notices) = ("notifications", Vec::new());
    let consume = Consume { message: first, consumer, notifications, notices, now: at(0) };
    store.consume(vec![consume]).await.unwrap();
    store.backlog().await.unwrap();
    rest_of_the_jobs(world).await;
    let sold = world.buy(&world.fan().await, &[12], at(1)).await;
    let reservation = sold.confirmed.reservation.id;
    assert!(store.erase_reservation(reservation, at(1_000_000)).await.unwrap());
}

/// What the other jobs ask every second or two.
async fn rest_of_the_jobs(world: &World) {
    let (store, schedule) = (&world.store, world.schedule);
    store.schedules_entered(at(0)).await.unwrap();
    store.schedules_touched(at(4_000), at(5_000)).await.unwrap();
    store.claims_of(schedule, at(0)).await.unwrap();
    store.claims_of(ScheduleId::new(full_schedule()), at(0)).await.unwrap();
    store.holds_over(at(0), 100).await.unwrap();
    store.releases_due(at(0), 50).await.unwrap();
    store.allocations_of(ScheduleId::new(full_schedule())).await.unwrap();
    store.issued_to([1; 32], 200).await.unwrap();
    store.issued_among(vec![ReservationId::new(world.id())]).await.unwrap();
    store.put_off_unreadable(at(5_000), 100).await.unwrap();
    store.replays(100).await.unwrap();
    store.take_notices(at(0), at(9), 100).await.unwrap();
    store.plan_reminders(at(0), 100).await.unwrap();
    store.open_announcements(at(0), 100).await.unwrap();
    store.open_changes(UserId::new(world.id()), at(0)).await.unwrap();
    store.sale_reminders_of(UserId::new(world.id())).await.unwrap();
    store.followed_artists(UserId::new(world.id())).await.unwrap();
    store.interest_in(world.event).await.unwrap();
    let subject = Subject::Reservation(ReservationId::new(world.id()));
    store.show_facts(vec![subject, Subject::Schedule(schedule)]).await.unwrap();
    store.take_deliveries(at(0), at(9), 100).await.unwrap();
    store.take_unsettled_charges(at(0), at(0), 100).await.unwrap();
    store.take_webhooks(at(0), at(9), 100).await.unwrap();
    store.open_resales(at(0), 100).await.unwrap();
    store.runs_to_do(at(0)).await.unwrap();
    store.to_refund(schedule, at(0), 100).await.unwrap();
    store.finish_run(schedule, at(0)).await.unwrap();
    store.claim_run("retention", at(0)).await.unwrap();
    store.sessions_ended_since(at(0)).await.unwrap();
    store.users((0..100).map(|_| UserId::new(world.id())).collect()).await.unwrap();
}

/// A date of the full database.
fn full_schedule() -> Uuid {
    "d5e6ea33-ea9f-f092-447c-2ad9b69e48ba".parse().unwrap()
}

async fn filter_and_clean(world: &World) {
    let store = &world.store;
    let open = EventFilter { only: Some(EventStatus::Open), ..EventFilter::default() };
    store.events(open, PAGE).await.unwrap();
    store.gallery(world.event).await.unwrap();
    store.claim_unused_images(at(-5_000_000), 10).await.unwrap();
    store.update_schedule_statuses(10, at(-5_000_000)).await.unwrap();
    // A small share of the tables, as in production: for a large one a scan would be right.
    store.forget_messages(at(-5_000_000), at(-5_000_000), 10).await.unwrap();
    store.forget_keys(at(-5_000_000), 10).await.unwrap();
    let before = at(-5_000_000);
    store.old_reservations(before, 10, at(0)).await.unwrap();
    store.erase_charges(before, 10).await.unwrap();
    store.erase_notifications(before, 10).await.unwrap();
    store.forget_money_keys(before, 10).await.unwrap();
    store.apply_login_retention(before, 10, at(0)).await.unwrap();
}

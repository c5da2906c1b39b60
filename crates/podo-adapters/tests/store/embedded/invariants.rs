//! Each invariant catches the damage that it is for.

use crate::booking::allocations::create;
use crate::booking::draws::drawn_date;
use crate::booking::orders::{add, choose, pay};
use crate::booking::resales::{on_offer, take_command};
use crate::payments::deposits::{issue, offer};
use crate::world::{FAR, Fan, World, at, broken};
use podo_adapters::gateways::sandbox::{Choice, Page, SandboxBook};
use podo_app::identity::port::accounts::{Accounts, LoginAttempt, RotateRefresh, StartSession};
use podo_app::messaging::port::messages::{Consume, Messages, Notification};
use podo_app::operations::port::invariants::Invariants;
use podo_app::payments::port::payments::{CancelPayment, Payments, SettlePayment};
use podo_app::tickets::resale_port::Resales;
use podo_domain::booking::order::options::Discount;
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{LoginId, MessageId, PaymentId, PromotionId, RefundId, SessionId, Won};
use rusqlite::Connection;
use std::path::Path;

/// Damage to the file, and the invariants that detect it. The constraints that would prevent it are
/// off: these are the cases in which a constraint had a bug.
const DAMAGES: &[(&str, &[&str])] = &[
    // A seat sold twice always disagrees with its claims, too.
    (
        "update reservation_seats set seat_index = 10
          where reservation_id = (select id from reservations where status = 'HELD')
            and seat_index = 20",
        &["I1", "I2"],
    ),
    ("update seats set fence = fence + 1 where state = 'SOLD'", &["I2"]),
    ("update seats set state = 'FREE', claim = null where state = 'PAYING'", &["I2"]),
    ("update seats set state = 'SOLD' where state = 'HELD'", &["I2"]),
    ("update reservations set amount = amount + 1 where status = 'HELD'", &["I3"]),
    ("update event_schedules set seats_per_person = 1", &["I4"]),
    ("update reservations set version = version + 1 where status = 'HELD'", &["I5"]),
    (
        "update reservation_history set status = 'EXPIRED'
          where version = 1
            and reservation_id = (select id from reservations where status = 'PAYING')",
        &["I5"],
    ),
    ("update event_schedules set sale_starts_at = sale_ends_at - 1", &["I6"]),
    ("update payments set amount = amount + 1 where status = 'CAPTURED'", &["I7"]),
    (
        "delete from tickets where id = (select max(id) from tickets where status = 'VALID')",
        &["I8"],
    ),
    ("delete from refunds where status = 'DUE'", &["I7", "I8"]),
    ("update payments set promised = 0 where status = 'REFUND_DUE'", &["I7"]),
    ("update refunds set fee = fee + 1", &["I8", "I26"]),
    ("update payments set status = 'READY' where status = 'CANCELED'", &["I9"]),
    ("update wallets set balance = balance + 1", &["I10"]),
    ("update wallet_ledger set amount = amount + 1 where account = 'SALES'", &["I10"]),
    ("update wallet_ledger set balance_after = 0 where version = 1", &["I10"]),
    ("delete from wallet_ledger where version = 2", &["I10"]),
    ("update sandbox_book set captured = captured - 1", &["I11"]),
    ("update payments set requested_at = null where status = 'REFUND_DUE'", &["I12"]),
    ("update idempotency_keys set status = null where endpoint = 'wallet/charge'", &["I13"]),
    ("delete from outbox where seq = 2 and topic = 'seat-sync'", &["I14"]),
    ("delete from processed_messages", &["I15"]),
    ("update reservations set place_number = 999 where status = 'HELD'", &["I19"]),
    ("update auth_tokens set spent_at = null", &["I21"]),
    ("update reservations set phase_id = x'0190' where status = 'CANCELED'", &["I19", "I25"]),
    ("update audit_log set details = '{}' where seq = 2", &["I24"]),
    ("update audit_log set actor_id = zeroblob(16) where seq = 5", &["I24"]),
    ("delete from audit_log where seq = 3", &["I24"]),
    ("update resales set price = price - 1", &["I26"]),
    ("update reservation_seats set list_price = list_price + 1", &["I27"]),
    ("update promotion_codes set n_used = n_used + 1", &["I28"]),
    ("update reservation_seats set fee = fee + 1000000 where not active", &["I31"]),
    ("update tickets set grade = 'other' where status <> 'VOID'", &["I32"]),
    ("update tickets set seat_number = 'other' where status <> 'VOID'", &["I32"]),
    ("update deposits set close_at = null", &["I33"]),
    ("update draw_grades set n_out = n_out + 1", &["I30"]),
    ("update draw_applications set place = place + 10 where state = 'TAKEN'", &["I30"]),
    ("update draw_applications set place = null where state = 'DRAWN'", &["I30"]),
    ("delete from draw_applications where state = 'TAKEN'", &["I19", "I30"]),
    ("update seats set state = 'FREE', claim = null where state = 'KEPT'", &["I29"]),
    ("delete from allocation_seats where seat_index = 3", &["I2"]),
    ("update allocations set released_at = 0", &["I29"]),
    ("update events set currency = 'EUR'", &["I34"]),
    ("update payments set currency = 'EUR' where status = 'CAPTURED'", &["I34"]),
    ("update wallets set currency = 'EUR'", &["I34"]),
];

const NO_BARRIERS: &str = "pragma foreign_keys = off;
    pragma ignore_check_constraints = on;
    drop index reservation_seats_one_claim;
    drop index payments_one_live;
    drop index auth_tokens_one_live;
    drop trigger wallet_ledger_is_final_update;
    drop trigger wallet_ledger_is_final_delete;";

/// Some of everything: sold, held, paying, canceled with a refund due, sessions.
async fn lived_in() -> World {
    let world = World::new().await;
    let (buyer, holder, payer, leaver) =
        (world.fan().await, world.fan().await, world.fan().await, world.fan().await);
    world.buy(&buyer, &[10, 11], at(1)).await;
    write_notification(&world, &buyer).await;
    world.hold(&holder, &[20, 21], at(2)).await.unwrap();
    with_code(&world).await;
    drawn_date(&world).await;
    let held = world.hold(&payer, &[30], at(3)).await.unwrap();
    let (reservation, card) = (held.reservation_id, PaymentMethod::Card);
    world.request(&payer, reservation, card, at(3)).await.unwrap();
    let ready = world.request(&payer, reservation, card, at(4)).await.unwrap();
    world.confirm(&payer, &ready, at(4)).await.unwrap();
    cancel_by_card(&world, &leaver).await;
    refresh_session(&world, &buyer).await;
    offer(&world).await;
    issue(&world, &world.fan().await, 33).await;
    create(&world, "Artist", &[3, 4]).await;
    let offered = on_offer(&world, 38).await;
    let take = take_command(&world, &offered.taker, &offered.listing);
    world.store.take_resale(take).await.unwrap();
    world
}

/// An order that a promotion code makes cheaper.
async fn with_code(world: &World) {
    let promotion = Promotion {
        id: PromotionId::new(world.id()),
        code: "GRAPES".into(),
        discount: Discount::Percent(10),
        per: PromotionPer::Order,
        grades: None,
        amount_min: Won::ZERO,
        starts_at: None,
        ends_at: None,
        uses_max: 5,
        uses_per_person: None,
    };
    add(world, promotion).await.unwrap();
    let fan = world.fan().await;
    let id = world.hold(&fan, &[6], at(2)).await.unwrap().reservation_id;
    world.charge(&fan, 1_000_000).await;
    let view = choose(world, (&fan, id), &[], Some("GRAPES"), at(3)).await.unwrap();
    pay(world, &fan, &view, at(4)).await.unwrap();
}

async fn cancel_by_card(world: &World, fan: &Fan) {
    let (_, ready) = world.start_paying(fan, &[35], at(5)).await;
    let payment = ready.payment_id;
    book(world, payment, ready.amount).await;
    let outcome = Outcome::Captured { amount: ready.amount };
    let settle = SettlePayment {
        payment,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(6),
    };
    world.store.settle_payment(settle).await.unwrap();
    let cancel = CancelPayment {
        seats: Vec::new(),
        to: podo_domain::payments::refunds::RefundTo::Original,
        key: world.key(fan, "payment/cancel"),
        payment,
        user: fan.id,
        refund: RefundId::new(world.id()),
        reason: "CHANGED_MIND".into(),
        now: at(7),
    };
    world.store.cancel_payment(cancel).await.unwrap();
}

/// The gateway's own record of a charge.
async fn book(world: &World, payment: PaymentId, amount: Won) {
    let page = Page {
        payment_key: "approval".into(),
        choice: Choice::Approve,
        amount,
        captured: amount,
        refunded: Won::ZERO,
        voided: false,
        asked: 1,
        awaits: false,
    };
    assert_eq!(amount.get(), FAR);
    world.store.write_page(payment, page, at(6)).await.unwrap();
}

async fn write_notification(world: &World, fan: &Fan) {
    let (subject, body) = ("Bought".to_owned(), "Two seats".to_owned());
    let user = Some(fan.id);
    let notification = Notification { user, reservation: None, subject, body, created_at: at(1) };
    let (message, notifications, notices) =
        (MessageId::new(world.id()), vec![notification], Vec::new());
    let command = Consume { message, consumer: "notification", notifications, notices, now: at(1) };
    world.store.consume(vec![command]).await.unwrap();
}

async fn refresh_session(world: &World, fan: &Fan) {
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
    let (session, expires_at) = (SessionId::new(world.id()), at(1_000));
    let start = StartSession { session, attempt, user: fan.id, refresh_hash: [1; 32], expires_at };
    world.store.start_session(start).await.unwrap();
    let (spent_hash, next_hash) = ([1; 32], [2; 32]);
    let organisers_idle_max = None;
    let rotate =
        RotateRefresh { spent_hash, next_hash, expires_at, organisers_idle_max, now: at(1) };
    world.store.rotate_refresh(rotate).await.unwrap();
}

fn damage(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(NO_BARRIERS).unwrap();
    assert_ne!(connection.execute(sql, []).unwrap(), 0, "nothing was damaged by: {sql}");
}

#[tokio::test]
async fn every_damage_is_reported_by_its_invariant_and_no_other() {
    let world = lived_in().await;
    let folder = tempfile::tempdir().unwrap();
    for (number, (sql, expected)) in DAMAGES.iter().enumerate() {
        let copy = folder.path().join(format!("{number}.db"));
        world.engine.copy_to(&copy);
        damage(&copy, sql);
        assert_eq!(broken(&world.engine.open_copy(&copy), at(10)).await, *expected, "after: {sql}");
    }
    world.finish().await;
}

#[tokio::test]
async fn every_invariant_has_looked_at_something_and_has_a_damage_that_shows_it() {
    let world = lived_in().await;
    let findings = world.store.check_all(at(10)).await.unwrap();
    for finding in &findings {
        assert_ne!(finding.n_checked, 0, "{} looked at nothing", finding.id);
        let is_shown = DAMAGES.iter().any(|(_, ids)| ids.contains(&finding.id));
        assert!(is_shown, "{} has no damage in the table", finding.id);
    }
    world.finish().await;
}

#[tokio::test]
async fn the_ledger_refuses_to_be_changed() {
    let world = lived_in().await;
    let connection = Connection::open(world.engine.path()).unwrap();
    for sql in ["update wallet_ledger set amount = 1", "delete from wallet_ledger"] {
        let told = connection.execute(sql, []).unwrap_err().to_string();
        assert!(told.contains("append-only"), "{told}");
    }
    world.finish().await;
}

#[tokio::test]
#[should_panic(expected = r#"broken invariants: ["I3"]"#)]
async fn a_test_that_leaves_a_damaged_store_fails_when_it_finishes() {
    let world = lived_in().await;
    damage(
        &world.engine.path(),
        "update reservations set amount = amount + 1 where status = 'HELD'",
    );
    world.finish().await;
}

#[tokio::test]
#[should_panic(expected = "a test ends with `world.finish().await`")]
async fn a_test_that_does_not_finish_its_world_fails() {
    World::new().await;
}

//! One failing item of a job: it is postponed with a back-off, and the rest continues.

use crate::booking::draws::{apply, mine, sale, wait_for as wait_for_state};
use crate::booking::standby::{sold_out, stand_by, wait_for};
use crate::support::client::text;
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use podo::jobs::{Job, run_by_hand};
use podo_testbed::{MailServer, PostBox};
use rusqlite::{Connection, types::FromSql};
use serde_json::json;
use std::time::Duration;

/// The store's file, opened directly.
fn open(world: &World) -> Connection {
    let path = world._folder.as_ref().unwrap().path().join("podo.db");
    let database = Connection::open(path).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    database
}

/// Corrupts one item.
fn spoil(world: &World, sql: &str) {
    assert_eq!(open(world).execute(sql, []).unwrap(), 1, "{sql}");
}

fn look<T: FromSql>(world: &World, sql: &str) -> T {
    open(world).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Waits until the bad item of a job was tried twice, with a longer back-off the second time.
async fn wait_until_put_off(world: &World, job: &str) {
    let sql = format!(
        "select count(*) from job_failures
          where job = '{job}' and attempts >= 2 and next_at - updated_at > 2000"
    );
    until(&format!("the bad item of {job} is put off"), async || {
        world.clock.advance(Duration::from_secs(2));
        (look::<i64>(world, &sql) == 1).then_some(())
    })
    .await;
    until("organisers see it", async || {
        let metrics = world.stranger.get("/metrics").await.text;
        metrics.contains(&format!("podo_job_items_put_off{{job=\"{job}\"}} 1")).then_some(())
    })
    .await;
}

/// Buys or tries to buy one seat by card; returns the payment and its reservation.
async fn pay(world: &World, show: &Show, seat: u32, choice: &str) -> (Fan, String, String) {
    let fan = world.fan_inside(show).await;
    let reservation = fan.hold(show, &[seat]).await;
    let ready = fan.request(&reservation, "CARD").await.expect(201);
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": choice })).await.expect(200);
    let body = json!({ "paymentId": ready["paymentId"], "amount": PRICE,
        "paymentKey": chosen["paymentKey"] });
    let answer = fan.api.post_new("/api/payment/confirm", &body).await;
    assert!([200, 202].contains(&answer.status), "{}", answer.text);
    (fan, text(&ready, "paymentId"), reservation)
}

async fn wait_for_payment(fan: &Fan, payment: &str, status: &str) {
    let what = format!("the payment becomes {status}");
    until(&what, async || (fan.payment(payment).await["status"] == status).then_some(())).await;
}

const FIRST_PAYMENT_LOSES_ITS_GATEWAY: &str =
    "update payments set gateway = 'gone' where id = (select min(id) from payments)";

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_for_a_gateway_that_is_gone_stops_no_other() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (bad, bad_payment, bad_reservation) = pay(&world, &show, 0, "APPROVE").await;
    let (good, payment, reservation) = pay(&world, &show, 1, "APPROVE").await;
    spoil(&world, FIRST_PAYMENT_LOSES_ITS_GATEWAY);
    bad.cancel(&bad_reservation).await.expect(200);
    good.cancel(&reservation).await.expect(200);
    wait_for_payment(&good, &payment, "REFUNDED").await;
    assert_eq!(bad.payment(&bad_payment).await["status"], "REFUND_DUE");
    let put_off = "select count(*) from refunds where attempts >= 3 and next_at > updated_at
                    and last_error like '%gone%'";
    until("the bad one is put off", async || {
        world.clock.advance(Duration::from_secs(2));
        (look::<i64>(&world, put_off) == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_at_a_gateway_that_is_gone_stops_no_other() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    pay(&world, &show, 0, "LATE").await;
    let (good, payment, _) = pay(&world, &show, 1, "LATE").await;
    spoil(&world, FIRST_PAYMENT_LOSES_ITS_GATEWAY);
    world.clock.advance(Duration::from_secs(70));
    wait_for_payment(&good, &payment, "CAPTURED").await;
    wait_until_put_off(&world, "settle").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_cannot_be_followed_stops_no_other() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    pay(&world, &show, 0, "LATE").await;
    pay(&world, &show, 1, "LATE").await;
    spoil(&world, FIRST_PAYMENT_LOSES_ITS_GATEWAY);
    for (gateway, which, at) in [("gone", "min", 1), ("sandbox", "max", 2)] {
        let sql = format!(
            "insert into webhook_events (gateway, id, kind, payment_id, status, next_at, created_at,
                                         updated_at)
             select '{gateway}', 'w', 'CHANGED', {which}(id), 'RECEIVED', {at}, {at}, {at}
               from payments"
        );
        spoil(&world, &sql);
    }
    let done = "select count(*) from webhook_events where gateway = 'sandbox' and status = 'DONE'";
    until("the good one is followed", async || (look::<i64>(&world, done) == 1).then_some(()))
        .await;
    until("the bad one is put off", async || {
        world.clock.advance(Duration::from_secs(20));
        let sql = "select count(*) from job_failures where job = 'webhooks' and attempts >= 2";
        (look::<i64>(&world, sql) == 1).then_some(())
    })
    .await;
}

/// The first reservation's next history entry already exists, so the change cannot be stored.
const FIRST_RESERVATION_IS_STUCK: &str =
    "insert into reservation_history (reservation_id, version, status, created_at)
     select id, version + 1, 'HELD', 0 from reservations order by id limit 1";

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_cannot_be_ended_keeps_no_other_from_ending() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let bad = world.fan_inside(&show).await;
    let stuck = bad.hold(&show, &[0]).await;
    let good = world.fan_inside(&show).await;
    let reservation = good.hold(&show, &[1]).await;
    spoil(&world, FIRST_RESERVATION_IS_STUCK);
    world.clock.advance(Duration::from_secs(600));
    until("the good one ends", async || {
        (good.reservation(&reservation).await["status"] == "EXPIRED").then_some(())
    })
    .await;
    assert_eq!(bad.reservation(&stuck).await["status"], "HELD");
    wait_until_put_off(&world, "expire").await;
    world.abandon();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_of_a_canceled_date_that_cannot_be_refunded_stops_no_other() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let bad = world.fan_inside(&show).await;
    bad.buy(&show, 0).await;
    let good = world.fan_inside(&show).await;
    good.buy(&show, 1).await;
    spoil(&world, FIRST_RESERVATION_IS_STUCK);
    let path = format!("/api/admin/schedules/{}/cancel", show.schedule);
    world.organiser.post(&path, &json!({})).await.expect(200);
    until("the good one is refunded", async || (good.balance().await == PRICE).then_some(())).await;
    assert_eq!(bad.balance().await, 0);
    wait_until_put_off(&world, "refund-canceled").await;
    world.abandon();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_cannot_be_made_stops_no_other() {
    let world = World::start().await;
    let (dear, dear_owner, dear_reservation) = sold_out(&world).await;
    let (show, owner, reservation) = sold_out(&world).await;
    let fans = world.fans(2).await;
    stand_by(&fans[0], &dear, 1).await;
    stand_by(&fans[1], &show, 1).await;
    let broken = "create trigger no_offer before update on standbys
                  when old.id = (select min(id) from standbys) and new.state = 'OFFERED'
                  begin select json('broken'); end";
    open(&world).execute_batch(broken).unwrap();
    dear_owner.cancel(&dear_reservation).await.expect(200);
    owner.cancel(&reservation).await.expect(200);
    wait_for(&fans[1], &show, "OFFERED").await;
    wait_until_put_off(&world, "offer").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_this_version_cannot_read_stops_no_other() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let id = format!("x'{}01'", "00".repeat(15));
    let sql = format!(
        "insert into outbox (id, aggregate_id, seq, topic, kind, key, payload, status, next_at,
                             created_at)
         values ({id}, {id}, 1, 'seat-sync', 'FromTheFuture', {id}, '{{}}', 'PENDING', 0, 0)"
    );
    spoil(&world, &sql);
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    until("everything else is published", async || {
        let published = "select count(*) from outbox where status = 'PUBLISHED'
                          and kind = 'ReservationConfirmed'";
        (look::<i64>(&world, published) == 1).then_some(())
    })
    .await;
    let put_off = "select count(*) from outbox where status = 'PENDING' and attempts >= 2
                    and next_at > 0 and last_error is not null and created_at = 0";
    until("it is put off", async || {
        world.clock.advance(Duration::from_secs(1));
        (look::<i64>(&world, put_off) == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisers_endpoint_whose_secret_is_lost_keeps_no_other_from_hearing() {
    let theirs = PostBox::start(|_: &_| (204, String::new())).unwrap();
    let world = World::with(&[("PODO_WEBHOOK_ALLOW", "127.0.0.0/8")]).await;
    for name in ["bad", "good"] {
        let url = format!("{}/{name}", theirs.url());
        let body = json!({ "url": url, "types": ["ReservationConfirmed"] });
        world.organiser.post("/api/admin/webhooks", &body).await.expect(201);
    }
    let lost = "update webhook_endpoints set secret = x'00' where url like '%/bad'";
    spoil(&world, lost);
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    until("the good one hears of it", async || {
        theirs.received().iter().any(|it| it.path == "/good").then_some(())
    })
    .await;
    let put_off = "select count(*) from webhook_deliveries
                    where status = 'PENDING' and attempts >= 2 and last_error is not null";
    until("the bad one is put off", async || {
        world.clock.advance(Duration::from_secs(5));
        (look::<i64>(&world, put_off) == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_whose_address_is_lost_keeps_no_other_from_getting_mail() {
    let mail = MailServer::start().unwrap();
    let settings = [("PODO_SMTP_URL", mail.url()), ("PODO_SMTP_FROM", "a@podo.example".to_owned())];
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(key, it)| (*key, it.as_str())).collect();
    let world = World::with(&settings).await;
    let show = world.show(Plan::default()).await;
    let bad = world.fan_inside(&show).await;
    let sql = format!(
        "update users set email = x'00' where hex(id) = '{}'",
        bad.id.uuid().simple().to_string().to_uppercase()
    );
    spoil(&world, &sql);
    let good = world.fan_inside(&show).await;
    let n_before = mail.emails().len();
    bad.buy(&show, 0).await;
    good.buy(&show, 1).await;
    until("the good one gets mail", async || {
        let emails = mail.emails();
        emails[n_before..].iter().any(|it| it.text.contains("Subject")).then_some(())
    })
    .await;
    let put_off = "select count(*) from notifications
                    where status = 'PENDING' and attempts >= 2 and last_error is not null";
    until("the bad one is put off", async || {
        world.clock.advance(Duration::from_secs(5));
        (look::<i64>(&world, put_off) >= 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_cannot_be_erased_keeps_no_other_from_being_erased() {
    let world = World::start().await;
    let fans = world.fans(2).await;
    for fan in &fans {
        let id = fan.id.uuid().simple().to_string().to_uppercase();
        spoil(
            &world,
            &format!("update users set status = 'DELETED', deleted_at = 1 where hex(id) = '{id}'"),
        );
    }
    let stuck = "create trigger stays before update on users
                 when old.id = (select min(id) from users where status = 'DELETED')
                  and new.erased_at is not null
                 begin select json('broken'); end";
    open(&world).execute_batch(stuck).unwrap();
    let run = async || {
        let path = "/api/admin/jobs/retention/run";
        world.organiser.post(path, &json!({})).await.expect(200)
    };
    // The daily round may interfere, so only what is left counts.
    run().await;
    let erased = "select count(*) from users where erased_at is not null";
    assert_eq!(look::<i64>(&world, erased), 1);
    let put_off = "select count(*) from job_failures where job = 'retention' and attempts = 1
                      and next_at > updated_at";
    assert_eq!(look::<i64>(&world, put_off), 1);
    assert_eq!(run().await["failed"], 0, "it is not tried again at once");
}

/// Makes changes of the first row fail.
fn break_first(world: &World, verb: &str, table: &str) {
    let broken = format!(
        "create trigger first_is_broken before {verb} on {table}
         when old.id = (select min(id) from {table}) begin select json('broken'); end"
    );
    open(world).execute_batch(&broken).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announcement_that_cannot_be_made_stops_no_other() {
    let world = World::start().await;
    for show in [world.show(Plan::tonight()).await, world.show(Plan::tonight()).await] {
        world.fan_inside(&show).await.buy(&show, 0).await;
    }
    break_first(&world, "update", "announcements");
    // Fans are reminded of both shows a day before.
    world.clock.advance(Duration::from_secs(7 * 3_600));
    let reminded = "select count(*) from outbox where kind = 'ShowReminder'";
    until("the other show is announced", async || {
        (look::<i64>(&world, reminded) == 1).then_some(())
    })
    .await;
    wait_until_put_off(&world, "announce").await;
    assert_eq!(look::<i64>(&world, reminded), 1);
    let waiting = "select count(*) from announcements where done_at is null";
    assert_eq!(look::<i64>(&world, waiting), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_cannot_be_decrypted_keeps_no_other_from_being_indexed() {
    let world = World::start().await;
    let fans = world.fans(2).await;
    let [bad, good] = [0, 1].map(|it: usize| fans[it].id.uuid().simple().to_string());
    let is = |id: &str| format!("where hex(id) = '{}'", id.to_uppercase());
    spoil(&world, &format!("update users set name = x'00', name_indexed = 0 {}", is(&bad)));
    spoil(&world, &format!("update users set name_indexed = 0 {}", is(&good)));
    let is_indexed =
        |id: &str| look::<bool>(&world, &format!("select name_indexed from users {}", is(id)));
    until("the good one is indexed", async || is_indexed(&good).then_some(())).await;
    wait_until_put_off(&world, "names").await;
    assert!(!is_indexed(&bad));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_that_cannot_be_offered_stops_no_other() {
    let world = World::start().await;
    let mut waiting = Vec::new();
    break_first(&world, "update", "resales");
    for _ in 0..2 {
        let show = world.show(Plan { n_seats: 1, ..Plan::default() }).await;
        let buyer = world.fan_inside(&show).await;
        let bought = buyer.buy(&show, 0).await;
        let fan = world.fan().await;
        stand_by(&fan, &show, 1).await;
        let path = format!("/api/tickets/{}/resale", bought.ticket);
        buyer.api.post(&path, &json!({})).await.expect(200);
        waiting.push(fan);
    }
    let offered = async |fan: &Fan| {
        let mine = fan.api.get("/api/users/me/resales").await.expect(200);
        !mine["offered"].as_array().unwrap().is_empty()
    };
    until("the good one is offered", async || offered(&waiting[1]).await.then_some(())).await;
    wait_until_put_off(&world, "resell").await;
    assert!(!offered(&waiting[0]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_that_cannot_be_erased_keeps_no_other_from_being_erased() {
    let world = World::with(&[("PODO_PAYMENT_RETENTION_YEARS", "6")]).await;
    let show = world.show(Plan::default()).await;
    for seat in 0..2 {
        world.fan_inside(&show).await.buy(&show, seat).await;
    }
    break_first(&world, "delete", "reservations");
    world.clock.advance(Duration::from_secs(7 * 366 * 24 * 3_600));
    let run = async || run_by_hand(world.context(), Job::EraseOldRecords).await.unwrap();
    run().await;
    // The daily round may interfere, so only what is left counts.
    assert_eq!(look::<i64>(&world, "select count(*) from reservations"), 1);
    let put_off = "select count(*) from job_failures where job = 'payment-retention'
                      and attempts = 1 and next_at > updated_at";
    assert_eq!(look::<i64>(&world, put_off), 1);
    assert_eq!(run().await.failed, 0, "it is not tried again at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allocation_that_cannot_be_released_stops_no_other() {
    let world = World::start().await;
    let shows = [world.show(Plan::default()).await, world.show(Plan::default()).await];
    let at = world.context().now().plus(Duration::from_secs(600));
    for show in &shows {
        let body = json!({ "name": "예비", "kind": "PRODUCTION", "releaseAt": at,
            "seatIds": [show.seat(0)] });
        let path = format!("/api/admin/schedules/{}/allocations", show.schedule);
        world.organiser.post(&path, &body).await.expect(201);
    }
    break_first(&world, "update", "allocations");
    world.clock.advance(Duration::from_secs(600));
    shows[1].wait_for_letter(&world.stranger, 0, 'A').await;
    assert_eq!(shows[0].letter(&world.stranger, 0).await, 'S');
    wait_until_put_off(&world, "release-kept").await;
}

/// Makes changes of the first phase's rows of this table fail.
fn break_first_phase(world: &World, table: &str, when: &str) {
    let broken = format!(
        "create trigger first_is_broken before update on {table}
         when old.phase_id = (select min(phase_id) from {table}) and {when}
         begin select json('broken'); end"
    );
    open(world).execute_batch(&broken).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draw_that_cannot_be_made_stops_no_other() {
    let world = World::start().await;
    let sales = [sale(&world).await, sale(&world).await];
    let fan = world.fan().await;
    for sale in &sales {
        apply(&fan, &sale.phase, 1).await.expect(200);
    }
    break_first_phase(&world, "draws", "true");
    world.clock.advance(Duration::from_secs(120));
    wait_for_state(&fan, &sales[1].phase, "DRAWN").await;
    wait_until_put_off(&world, "draw").await;
    assert_eq!(mine(&fan, &sales[0].phase).await["state"], "APPLIED");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_of_a_draw_that_cannot_be_made_stops_no_other() {
    let world = World::start().await;
    let sales = [sale(&world).await, sale(&world).await];
    let fan = world.fan().await;
    for sale in &sales {
        apply(&fan, &sale.phase, 1).await.expect(200);
    }
    world.clock.advance(Duration::from_secs(120));
    for sale in &sales {
        wait_for_state(&fan, &sale.phase, "DRAWN").await;
    }
    break_first_phase(&world, "draw_applications", "new.state = 'OFFERED'");
    world.clock.advance(Duration::from_secs(120));
    wait_for_state(&fan, &sales[1].phase, "OFFERED").await;
    wait_until_put_off(&world, "offer-drawn").await;
    assert_eq!(mine(&fan, &sales[0].phase).await["state"], "DRAWN");
}

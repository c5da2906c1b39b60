//! Tickets: check-in and transfers.

#[path = "tickets/claims.rs"]
mod claims;

#[path = "tickets/gate.rs"]
mod gate;

#[path = "tickets/gate_limits.rs"]
mod gate_limits;

#[path = "tickets/gate_list.rs"]
mod gate_list;

#[path = "tickets/offline.rs"]
mod offline;

#[path = "tickets/pdf.rs"]
mod pdf;

#[path = "tickets/passes.rs"]
mod passes;

#[path = "tickets/resales.rs"]
mod resales;

use crate::messaging::mails::pdf_text;
use crate::support::client::{Answer, Api, send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, accounts};
use futures::future::join_all;
use podo_app::operations::port::clock::Clock;
use podo_app::tickets::holders;
use podo_domain::identity::Role;
use podo_domain::tickets::{OFFER_LENGTH, STEP_LENGTH};
use reqwest::Method;
use serde_json::{Value, json};

/// The content of a ticket's QR code.
async fn code_of(world: &World, fan: &Fan, ticket: &str) -> String {
    let id = ticket.parse().unwrap();
    let view = holders::my_ticket(world.context(), fan.id, id).await.unwrap();
    holders::qr_text(world.context(), &view)
}

async fn check_in(gate: &Api, show: &Show, code: &str) -> Answer {
    gate.post("/api/admin/checkin", &scan(show, "1", code)).await
}

fn scan(show: &Show, gate: &str, code: &str) -> Value {
    json!({ "code": code, "scheduleId": show.schedule, "gate": gate })
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_gates_that_read_one_code_one_opens() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let code = code_of(&world, &fan, &bought.ticket).await;
    check_in(&fan.api, &show, &code).await.refused(403, "ADMIN_ONLY");
    let answers = join_all((0..50).map(|_| check_in(&world.organiser, &show, &code))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    let used = check_in(&world.organiser, &show, &code).await.refused(409, "TICKET_USED");
    assert!(used["usedAt"].is_string(), "{used}");
    assert_eq!(used["usedGate"], "1");
    // A used ticket cannot be refunded.
    fan.cancel(&bought.reservation).await.refused(409, "TICKET_USED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_void_and_foreign_tickets_open_no_gate() {
    let world = World::start().await;
    let (show, other) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let code = code_of(&world, &fan, &bought.ticket).await;
    let (head, last) = code.split_at(code.len() - 3);
    for odd in ["", "PODO1.", "PODO1.AAAA", &format!("{head}AAA{last}"), &format!("{head}AAA")] {
        check_in(&world.organiser, &show, odd).await.refused(422, "TICKET_INVALID");
    }
    check_in(&world.organiser, &other, &code).await.refused(409, "TICKET_ELSEWHERE");
    fan.cancel(&bought.reservation).await.expect(200);
    check_in(&world.organiser, &show, &code).await.refused(409, "TICKET_VOID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotating_code_is_over_after_a_minute() {
    let world = World::with(&[("PODO_TICKET_CODES", "rotating")]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    // The clock stands still, so that no half minute ends during the test.
    world.clock.stop_at(world.clock.now());
    let old = code_of(&world, &fan, &bought.ticket).await;
    assert_eq!(code_of(&world, &fan, &bought.ticket).await, old);
    world.clock.advance(2 * STEP_LENGTH);
    check_in(&world.organiser, &show, &old).await.refused(422, "TICKET_INVALID");
    let code = code_of(&world, &fan, &bought.ticket).await;
    assert_ne!(code, old);
    check_in(&world.organiser, &show, &code).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_was_given_away_has_a_new_code_and_a_new_owner() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let old = code_of(&world, &fan, &bought.ticket).await;
    let friend = world.fan_at("friend@podo.example").await;
    let body = json!({ "email": "friend@podo.example" });
    offer(&friend, &bought.ticket, &body).await.refused(404, "NOT_FOUND");
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    let first = fan.api.post_once(&path, "give", &body).await;
    first.expect(202);
    assert_eq!(fan.api.post_once(&path, "give", &body).await.text, first.text);
    let mine = fan.api.get(&format!("/api/tickets/{}", bought.ticket)).await.expect(200);
    assert_eq!(mine["offeredUntil"], first.expect(202)["expiresAt"]);
    let offers = friend.api.get("/api/users/me/offers").await.expect(200);
    assert_eq!(offers["items"][0]["ticketId"], bought.ticket);
    let accepted = accept(&friend, &bought.ticket, "take").await;
    accepted.expect(200);
    assert_eq!(accept(&friend, &bought.ticket, "take").await.text, accepted.text);
    accept(&friend, &bought.ticket, "again").await.refused(404, "NOT_FOUND");
    check_in(&world.organiser, &show, &old).await.refused(422, "TICKET_INVALID");
    fan.cancel(&bought.reservation).await.refused(409, "TICKET_TRANSFERRED");
    let code = code_of(&world, &friend, &bought.ticket).await;
    check_in(&world.organiser, &show, &code).await.expect(200);
    world.finish().await;
}

async fn offer(fan: &Fan, ticket: &str, body: &Value) -> Answer {
    fan.api.post_new(&format!("/api/tickets/{ticket}/transfer"), body).await
}

async fn accept(fan: &Fan, ticket: &str, key: &str) -> Answer {
    fan.api.post_once(&format!("/api/tickets/{ticket}/accept"), key, &json!({})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_ends_with_another_one_a_withdrawal_its_time_or_the_gate() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let (one, other) =
        (world.fan_at("one@podo.example").await, world.fan_at("other@podo.example").await);
    let ticket = fan.buy(&show, 0).await.ticket;
    let path = format!("/api/tickets/{ticket}/transfer");
    let (to_one, to_other) =
        (json!({ "email": "one@podo.example" }), json!({ "email": "other@podo.example" }));
    offer(&fan, &ticket, &to_one).await.expect(202);
    offer(&fan, &ticket, &to_other).await.expect(202);
    accept(&one, &ticket, "a").await.refused(404, "NOT_FOUND");
    other.api.delete(&path).await.refused(404, "NOT_FOUND");
    fan.api.delete(&path).await.expect(204);
    fan.api.delete(&path).await.refused(404, "NOT_FOUND");
    accept(&other, &ticket, "b").await.refused(404, "NOT_FOUND");
    offer(&fan, &ticket, &to_one).await.expect(202);
    world.clock.advance(OFFER_LENGTH);
    let (fan, one) = (world.again(&fan), world.again(&one));
    accept(&one, &ticket, "c").await.refused(404, "NOT_FOUND");
    assert_eq!(one.api.get("/api/users/me/offers").await.expect(200)["items"], json!([]));
    offer(&fan, &ticket, &to_one).await.expect(202);
    let code = code_of(&world, &fan, &ticket).await;
    check_in(&world.stranger.with_token(&organiser(&world).await), &show, &code).await.expect(200);
    accept(&one, &ticket, "d").await.refused(409, "TICKET_USED");
    world.finish().await;
}

/// An organiser with a recent login.
async fn organiser(world: &World) -> String {
    accounts(world.context(), 1, Role::Admin).await.remove(0).1
}

#[tokio::test(flavor = "multi_thread")]
async fn of_an_offer_and_a_withdrawal_at_once_the_ticket_has_one_owner() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 10, ..Plan::default() }).await;
    let friend = world.fan_at("friend@podo.example").await;
    for seat in 0..3 {
        let fan = world.fan_inside(&show).await;
        let ticket = fan.buy(&show, seat).await.ticket;
        offer(&fan, &ticket, &json!({ "email": "friend@podo.example" })).await.expect(202);
        let path = format!("/api/tickets/{ticket}/transfer");
        let key = format!("race-{seat}");
        let (taken, back) = futures::join!(accept(&friend, &ticket, &key), fan.api.delete(&path));
        assert_ne!(taken.status == 200, back.status == 204, "{} {}", taken.text, back.text);
        let view = format!("/api/tickets/{ticket}");
        let owners = [fan.api.get(&view).await.status, friend.api.get(&view).await.status];
        let is_taken = taken.status == 200;
        assert_eq!(owners, if is_taken { [404, 200] } else { [200, 404] });
    }
    world.finish().await;
}

async fn patch(api: &Api, path: &str, body: &Value) -> Answer {
    send(api.call(Method::PATCH, path).json(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tickets_are_given_away_only_where_the_organiser_allows_it() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let email = "friend@podo.example";
    let friend = world.fan_at(email).await;
    let ticket = format!("/api/tickets/{}", bought.ticket);
    assert_eq!(fan.api.get(&ticket).await.expect(200)["transferable"], true);

    let schedule = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await;
    let event = format!("/api/admin/events/{}", text(&schedule.expect(200), "eventId"));
    patch(&fan.api, &event, &json!({ "transferable": false })).await.refused(403, "ADMIN_ONLY");
    let changed = patch(&world.organiser, &event, &json!({ "transferable": false })).await;
    assert_eq!(changed.expect(200)["transferable"], false);
    assert_eq!(fan.api.get(&ticket).await.expect(200)["transferable"], false);
    let give = format!("{ticket}/transfer");
    let to = json!({ "email": email });
    fan.api.post_once(&give, "give", &to).await.refused(409, "TRANSFER_OFF");
    // Another change keeps it.
    let changed = patch(&world.organiser, &event, &json!({ "title": "포도의 밤" })).await;
    assert_eq!(changed.expect(200)["transferable"], false);

    // The refused call changed nothing: the same key works once it is allowed.
    patch(&world.organiser, &event, &json!({ "transferable": true })).await.expect(200);
    fan.api.post_once(&give, "give", &to).await.expect(202);
    // An existing offer cannot be accepted either while transfers are off.
    patch(&world.organiser, &event, &json!({ "transferable": false })).await.expect(200);
    accept(&friend, &bought.ticket, "take").await.refused(409, "TRANSFER_OFF");
    patch(&world.organiser, &event, &json!({ "transferable": true })).await.expect(200);
    accept(&friend, &bought.ticket, "take").await.expect(200);
    fan.api.get(&ticket).await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_corrects_a_wallet_with_an_entry_in_the_audit_log() {
    let world = World::start().await;
    let fan = world.fan().await;
    let path = format!("/api/admin/users/{}/wallet", fan.id);
    let body = json!({ "amount": PRICE, "reason": "사과" });
    fan.api.post_new(&path, &body).await.refused(403, "ADMIN_ONLY");
    let first = world.organiser.post_once(&path, "once", &body).await;
    assert_eq!(first.expect(201)["balance"], PRICE);
    assert_eq!(world.organiser.post_once(&path, "once", &body).await.text, first.text);
    let take = json!({ "amount": -PRICE, "reason": "오류" });
    world.organiser.post_new(&path, &take).await.expect(201);
    world.organiser.post_new(&path, &take).await.refused(422, "WALLET_LIMIT");
    let not_an_account = format!("/api/admin/users/{}/wallet", show_id(&world));
    world.organiser.post_new(&not_an_account, &body).await.refused(404, "NOT_FOUND");
    let ledger = fan.api.get("/api/wallet/ledger").await.expect(200);
    let amounts: Vec<_> =
        ledger["items"].as_array().unwrap().iter().map(|it| &it["amount"]).collect();
    assert_eq!(amounts, [&json!(-PRICE), &json!(PRICE)]);
    world.finish().await;
}

/// An unknown id.
fn show_id(world: &World) -> uuid::Uuid {
    world.context().rng.id(world.context().now())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_printed_for_its_owner_only() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 4).await;
    let path = format!("/api/tickets/{}/pdf", bought.ticket);
    for size in ["", "?size=a4", "?size=mobile"] {
        let request = fan.api.call(Method::GET, &format!("{path}{size}"));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/pdf");
        assert_eq!(response.headers()["cache-control"], "private, no-store");
        let pdf = response.bytes().await.unwrap();
        assert!(pdf.len() <= 200_000, "{} bytes", pdf.len());
        let words = pdf_text(&pdf);
        let parts = ["포도 콘서트", "포도 아레나", "올림픽로", "A-5", "VIP", "Fan", "오후", "오전"];
        let n_found = parts.iter().filter(|part| words.contains(**part)).count();
        assert_eq!(n_found, parts.len() - 1, "morning or afternoon: {words}");
        assert!(words.contains(&bought.booking_number), "{words}");
    }
    fan.api.get(&format!("{path}?size=a3")).await.refused(422, "INVALID");
    world.fan().await.api.get(&path).await.refused(404, "NOT_FOUND");
    fan.cancel(&bought.reservation).await.expect(200);
    fan.api.get(&path).await.refused(409, "TICKET_VOID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotating_ticket_is_printed_without_a_code() {
    let world = World::with(&[("PODO_TICKET_CODES", "rotating")]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let request = fan.api.call(Method::GET, &format!("/api/tickets/{}/pdf", bought.ticket));
    let pdf = request.send().await.unwrap().bytes().await.unwrap();
    assert!(pdf_text(&pdf).contains("30초마다"), "{}", pdf_text(&pdf));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calendar_file_has_the_end_and_the_venue() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let path = format!("/api/tickets/{}/calendar.ics", bought.ticket);
    let request = fan.api.call(Method::GET, &path).send().await.unwrap();
    assert_eq!(request.headers()["content-type"], "text/calendar; charset=utf-8");
    let file = request.text().await.unwrap();
    assert!(file.split("\r\n").all(|line| line.len() <= 75), "{file}");
    let unfolded = file.replace("\r\n ", "");
    let field = |name: &str| {
        let found = unfolded.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_else(|| panic!("{name}: {unfolded}")).to_owned()
    };
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    let utc = |it: &str| text(&view, it)[..19].replace(['-', ':'], "");
    assert_eq!(field("DTSTART:"), format!("{}Z", utc("startsAt")));
    assert_eq!(field("DTEND:"), format!("{}Z", utc("endsAt")));
    assert_eq!(field("SUMMARY:"), "포도 콘서트");
    assert!(field("LOCATION:").contains("포도 아레나 대극장\\, 서울 올림픽로 1"), "{unfolded}");
    assert!(field("DESCRIPTION:").contains(&bought.booking_number), "{unfolded}");
    world.fan().await.api.get(&path).await.refused(404, "NOT_FOUND");
}

//! Tickets at the gate and on their way to somebody else.

use crate::client::{Answer, Api, send, text};
use crate::fan::Fan;
use crate::world::{PRICE, Plan, World};
use app::ports::clock::Clock;
use app::tickets;
use domain::accounts::Email;
use domain::tickets::STEP_LENGTH;
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

/// What the QR code of a ticket says.
async fn code_of(world: &World, fan: &Fan, ticket: &str) -> String {
    let id = ticket.parse().unwrap();
    let view = tickets::my_ticket(world.platform(), fan.id, id).await.unwrap();
    tickets::qr_text(world.platform(), &view)
}

async fn check_in(gate: &Api, code: &str) -> Answer {
    gate.post("/api/admin/checkin", &json!({ "code": code })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_gates_that_read_one_code_one_opens() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let code = code_of(&world, &fan, &bought.ticket).await;
    fan.api.post("/api/admin/checkin", &json!({ "code": code })).await.refused(403, "ADMIN_ONLY");
    let answers = join_all((0..50).map(|_| check_in(&world.organiser, &code))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    let used = check_in(&world.organiser, &code).await.refused(409, "TICKET_USED");
    assert!(used["usedAt"].is_string(), "{used}");
    // Who was inside does not get the money back.
    fan.cancel(&bought.reservation).await.refused(409, "TICKET_USED");
    World::assert_sound(&world.findings().await);
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
        check_in(&world.organiser, odd).await.refused(422, "TICKET_INVALID");
    }
    let elsewhere = json!({ "code": code, "scheduleId": other.schedule });
    let answer = world.organiser.post("/api/admin/checkin", &elsewhere).await;
    answer.refused(409, "TICKET_ELSEWHERE");
    fan.cancel(&bought.reservation).await.expect(200);
    check_in(&world.organiser, &code).await.refused(409, "TICKET_VOID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotating_code_is_over_after_a_minute() {
    let world = World::with(&[("PODO_TICKET_CODES", "rotating")]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    // A clock that stands still: no half minute ends while the test runs.
    world.clock.stop_at(world.clock.now());
    let old = code_of(&world, &fan, &bought.ticket).await;
    assert_eq!(code_of(&world, &fan, &bought.ticket).await, old);
    world.clock.advance(2 * STEP_LENGTH);
    check_in(&world.organiser, &old).await.refused(422, "TICKET_INVALID");
    let code = code_of(&world, &fan, &bought.ticket).await;
    assert_ne!(code, old);
    check_in(&world.organiser, &code).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_was_given_away_has_a_new_code_and_a_new_owner() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let old = code_of(&world, &fan, &bought.ticket).await;
    let friend = world.fan().await;
    let email = "friend@podo.example";
    let body = json!({ "email": email, "password": "grapes and more grapes", "name": "친구" });
    let made = world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    let body = json!({ "email": email });
    friend.api.post_new(&path, &body).await.refused(404, "NOT_FOUND");
    let first = fan.api.post_once(&path, "give", &body).await;
    first.expect(200);
    assert_eq!(fan.api.post_once(&path, "give", &body).await.text, first.text);
    check_in(&world.organiser, &old).await.refused(422, "TICKET_INVALID");
    fan.cancel(&bought.reservation).await.refused(409, "TICKET_TRANSFERRED");
    let owner = text(&made, "userId").parse().unwrap();
    let owner = Fan { id: owner, api: world.stranger.clone() };
    let code = code_of(&world, &owner, &bought.ticket).await;
    check_in(&world.organiser, &code).await.expect(200);
    assert!(Email::try_from(email.to_owned()).is_ok());
    World::assert_sound(&world.findings().await);
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
    let body = json!({ "email": email, "password": "grapes and more grapes", "name": "친구" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
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
    // Another change leaves it as it is.
    let changed = patch(&world.organiser, &event, &json!({ "title": "포도의 밤" })).await;
    assert_eq!(changed.expect(200)["transferable"], false);

    // A refused call changed nothing: the same key works once it is allowed.
    patch(&world.organiser, &event, &json!({ "transferable": true })).await.expect(200);
    fan.api.post_once(&give, "give", &to).await.expect(200);
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
    let nobody = format!("/api/admin/users/{}/wallet", show_id(&world));
    world.organiser.post_new(&nobody, &body).await.refused(404, "NOT_FOUND");
    let ledger = fan.api.get("/api/wallet/ledger").await.expect(200);
    let amounts: Vec<_> =
        ledger["items"].as_array().unwrap().iter().map(|it| &it["amount"]).collect();
    assert_eq!(amounts, [&json!(-PRICE), &json!(PRICE)]);
    World::assert_sound(&world.findings().await);
}

/// An id that is nobody's.
fn show_id(world: &World) -> uuid::Uuid {
    world.platform().chance.id(world.platform().now())
}

//! Claim links: a ticket goes to an address without an account.

use crate::messaging::mails::{mail_with, mail_world, parse};
use crate::support::client::{Answer, Api, new_key, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use crate::tickets::{accept, check_in, code_of, offer};
use futures::future::{join, join_all};
use podo_domain::tickets::OFFER_LENGTH;
use podo_testbed::MailServer;
use serde_json::{Value, json};

const FRIEND: &str = "friend@podo.example";
const PASSWORD: &str = "green-grapes-2026";

/// The tokens of all links that were mailed. No channel is configured, so organisers read them in
/// the mailbox.
async fn mailed_tokens(world: &World) -> Vec<String> {
    let mailbox = world.organiser.get("/api/admin/mailbox?limit=100").await.expect(200);
    let items = mailbox["items"].as_array().unwrap();
    let links = items.iter().filter(|it| text(it, "subject") == "티켓을 받아 주세요");
    let token = |it: &Value| {
        let body = text(it, "body");
        body.split_whitespace().last().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    links.map(token).collect()
}

/// Waits for a link that wasn't mailed before.
async fn new_token(world: &World, older: &[String]) -> String {
    until("the link arrives", async || {
        let tokens = mailed_tokens(world).await;
        tokens.into_iter().find(|token| !older.contains(token))
    })
    .await
}

async fn show_link(api: &Api, token: &str) -> Answer {
    api.post("/api/tickets/claim", &json!({ "token": token })).await
}

async fn claim(api: &Api, token: &str, key: &str) -> Answer {
    api.post_once("/api/tickets/claim/accept", key, &json!({ "token": token })).await
}

async fn sign_up(world: &World, token: &str) -> Answer {
    let body = json!({ "token": token, "name": "친구", "password": PASSWORD });
    world.stranger.post("/api/tickets/claim/signup", &body).await
}

/// Logs in with the account that the link made.
async fn log_in(world: &World, email: &str) -> Api {
    let body = json!({ "email": email, "password": PASSWORD });
    let answer = world.stranger.post("/api/auth/login", &body).await.expect(200);
    world.stranger.with_token(&text(&answer, "accessToken"))
}

/// A ticket that is offered to the friend, with its owner and the token of the link.
async fn offered(world: &World, show: &Show) -> (Fan, String, String) {
    let fan = world.fan_inside(show).await;
    let ticket = fan.buy(show, 0).await.ticket;
    offer(&fan, &ticket, &json!({ "email": FRIEND })).await.expect(202);
    let token = new_token(world, &[]).await;
    (fan, ticket, token)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_claimed_with_a_new_account_and_its_link_works_once() {
    let world = World::with(&[("PODO_CONFIRM_EMAIL", "on")]).await;
    let show = world.show(Plan::default()).await;
    let (fan, ticket, token) = offered(&world, &show).await;
    let old = code_of(&world, &fan, &ticket).await;
    let shown = show_link(&world.stranger, &token).await.expect(200);
    assert_eq!(text(&shown, "email"), FRIEND);
    assert_eq!(text(&shown, "seatNumber"), "A-1");
    assert_eq!(shown["hasAccount"], false);
    sign_up(&world, &token).await.expect(201);
    sign_up(&world, &token).await.refused(409, "EMAIL_TAKEN");
    assert_eq!(show_link(&world.stranger, &token).await.expect(200)["hasAccount"], true);
    let friend = log_in(&world, FRIEND).await;
    assert_eq!(friend.get("/api/users/me").await.expect(200)["emailVerified"], true);
    let claimed = claim(&friend, &token, "take").await;
    claimed.expect(200);
    assert_eq!(claim(&friend, &token, "take").await.text, claimed.text, "the same answer again");
    claim(&friend, &token, "again").await.refused(404, "LINK_INVALID");
    show_link(&world.stranger, &token).await.refused(404, "LINK_INVALID");
    let own = friend.get(&format!("/api/tickets/{ticket}")).await.expect(200);
    assert_eq!(text(&own, "status"), "VALID");
    check_in(&world.organiser, &show, &old).await.refused(422, "TICKET_INVALID");
    fan.api.get(&format!("/api/tickets/{ticket}")).await.refused(404, "NOT_FOUND");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_for_its_address_and_proves_it() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    // The address has an account that never proved it.
    let body = json!({ "email": FRIEND, "password": PASSWORD, "name": "친구" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let (_, ticket, token) = offered(&world, &show).await;
    let friend = log_in(&world, FRIEND).await;
    accept_by(&friend, &ticket).await.refused(404, "NOT_FOUND");
    let other = world.fan_at("other@podo.example").await;
    claim(&other.api, &token, "a").await.refused(409, "CLAIM_FOREIGN");
    claim(&world.stranger, &token, "a").await.refused(401, "LOGIN_REQUIRED");
    let (head, last) = token.split_at(token.len() - 1);
    let forged = format!("{head}{}", if last == "A" { "B" } else { "A" });
    for odd in ["x", "AAAA", &token[..30], &format!("{token}AA"), &forged] {
        show_link(&world.stranger, odd).await.refused(404, "LINK_INVALID");
        claim(&friend, odd, &new_key()).await.refused(404, "LINK_INVALID");
    }
    claim(&friend, &token, "mine").await.expect(200);
    assert_eq!(friend.get("/api/users/me").await.expect(200)["emailVerified"], true);
    world.finish().await;
}

async fn accept_by(api: &Api, ticket: &str) -> Answer {
    api.post_new(&format!("/api/tickets/{ticket}/accept"), &json!({})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_ends_with_its_offer() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, ticket, first) = offered(&world, &show).await;
    // Another offer replaces it, even to the same address.
    offer(&fan, &ticket, &json!({ "email": FRIEND })).await.expect(202);
    show_link(&world.stranger, &first).await.refused(404, "LINK_INVALID");
    let second = new_token(&world, std::slice::from_ref(&first)).await;
    show_link(&world.stranger, &second).await.expect(200);
    fan.api.delete(&format!("/api/tickets/{ticket}/transfer")).await.expect(204);
    show_link(&world.stranger, &second).await.refused(404, "LINK_INVALID");
    sign_up(&world, &second).await.refused(404, "LINK_INVALID");
    offer(&fan, &ticket, &json!({ "email": FRIEND })).await.expect(202);
    let third = new_token(&world, &[first, second]).await;
    world.clock.advance(OFFER_LENGTH);
    show_link(&world.stranger, &third).await.refused(404, "LINK_INVALID");
    let context = world.context();
    assert_eq!(context.store.forget_claims(context.now(), 10).await.unwrap(), 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_claims_and_a_withdrawal_one_wins() {
    let world = World::start().await;
    let mut older = Vec::new();
    for _ in 0..5 {
        let show = world.show(Plan::default()).await;
        let friend = format!("friend{}@podo.example", show.schedule);
        let fan = world.fan_inside(&show).await;
        let ticket = fan.buy(&show, 0).await.ticket;
        offer(&fan, &ticket, &json!({ "email": friend })).await.expect(202);
        let token = new_token(&world, &older).await;
        older.push(token.clone());
        sign_up(&world, &token).await.expect(201);
        let receiver = log_in(&world, &friend).await;
        let keys: Vec<String> = (0..8).map(|_| new_key()).collect();
        let claims = join_all(keys.iter().map(|key| claim(&receiver, &token, key)));
        let path = format!("/api/tickets/{ticket}/transfer");
        let (claims, withdrawn) = join(claims, fan.api.delete(&path)).await;
        let n_claimed = claims.iter().filter(|answer| answer.status == 200).count();
        let is_withdrawn = usize::from(withdrawn.status == 204);
        assert_eq!(n_claimed + is_withdrawn, 1, "{claims:?} {withdrawn:?}");
        let owners = [&fan.api, &receiver];
        let views = join_all(owners.map(|api| api.get("/api/tickets"))).await;
        let n_owned = views.iter().map(|it| it.expect(200)["items"].as_array().unwrap().len());
        assert_eq!(n_owned.sum::<usize>(), 1, "the ticket has one owner");
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_has_no_more_seats_than_a_buyer_even_at_once() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let friend = world.fan_at(FRIEND).await;
    let mut tickets = Vec::new();
    for seat in 0..6 {
        let fan = world.fan_inside(&show).await;
        let ticket = fan.buy(&show, seat).await.ticket;
        offer(&fan, &ticket, &json!({ "email": FRIEND })).await.expect(202);
        tickets.push(ticket);
    }
    let keys: Vec<String> = tickets.iter().map(|_| new_key()).collect();
    let accepts = tickets.iter().zip(&keys).map(|(ticket, key)| accept(&friend, ticket, key));
    let answers = join_all(accepts).await;
    let n_accepted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(n_accepted, 4, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(409, "SEAT_LIMIT");
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_for_verified_people_goes_to_no_one_else() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (_, ticket, token) = offered(&world, &show).await;
    let queue = format!("/api/admin/schedules/{}/queue", show.schedule);
    let mut settings = Plan::default().queue("AUTO");
    settings["identityRequired"] = json!(true);
    world.organiser.put(&queue, &settings).await.expect(200);
    sign_up(&world, &token).await.expect(201);
    let friend = log_in(&world, FRIEND).await;
    claim(&friend, &token, "a").await.refused(403, "IDENTITY_REQUIRED");
    accept_by(&friend, &ticket).await.refused(403, "IDENTITY_REQUIRED");
    settings["identityRequired"] = json!(false);
    world.organiser.put(&queue, &settings).await.expect(200);
    claim(&friend, &token, "b").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_can_not_be_tried_or_mailed_without_end() {
    let world = World::with(&[
        ("PODO_LIMITS", "on"),
        ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000"),
        ("PODO_REQUESTS_PER_MINUTE_PER_USER", "100000"),
    ])
    .await;
    let tries = (0..31).map(|_| show_link(&world.stranger, "AAAA"));
    let answers = join_all(tries).await;
    // One is beyond the burst; on a shared bucket also one whose clock was read before the others'.
    let n_refused = answers.iter().filter(|answer| answer.status == 429).count();
    assert!((1..=2).contains(&n_refused), "{n_refused}");
    let fan = world.fan().await;
    let ticket = "0190a000-0000-7000-8000-000000000000";
    let mut refused = 0;
    for number in 0..21 {
        let body = json!({ "email": format!("f{number}@podo.example") });
        refused += usize::from(offer(&fan, ticket, &body).await.status == 429);
    }
    assert_eq!(refused, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_e_mail_has_the_link_in_a_fragment_and_both_sides_are_notified() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let ticket = fan.buy(&show, 0).await.ticket;
    offer(&fan, &ticket, &json!({ "email": FRIEND })).await.expect(202);
    mail_with(&server, "티켓을 보냈어요").await;
    let received = mail_with(&server, "티켓을 받아 주세요").await;
    assert_eq!(received.to, FRIEND);
    let mail = parse(&received);
    let (html, plain) = (mail.body_html(0).unwrap(), mail.body_text(0).unwrap());
    let page = "https://tickets.podo.example/#/claim/";
    let rest = plain.split(page).nth(1).expect("the link is in the text");
    let token = rest.split_whitespace().next().unwrap();
    assert!(html.contains(&format!("{page}{token}")), "{html}");
    assert!(!plain.contains("{link}") && !html.contains("{link}"), "{plain}");
    assert!(plain.contains("A-1") && plain.contains("포도 콘서트"), "{plain}");
    // The mailbox that organisers read has no usable link while e-mails are sent.
    let mailbox = world.organiser.get("/api/admin/mailbox?limit=100").await.expect(200);
    assert!(!mailbox.to_string().contains(token), "{mailbox}");
    sign_up(&world, token).await.expect(201);
    let friend = log_in(&world, FRIEND).await;
    claim(&friend, token, "take").await.expect(200);
    mail_with(&server, "티켓이 전달되었어요").await;
    let received = mail_with(&server, "이제 내 티켓이에요").await;
    assert_eq!(received.to, FRIEND);
    world.finish().await;
}

//! Probing with a ticket for accounts, and stealing tickets meant for others.

use crate::identity::admin_sessions::{code_in, notification};
use crate::support::client::{Answer, Api, text};
use crate::support::world::{Plan, World};
use serde_json::json;

const PASSWORD: &str = "sour green grapes";

/// What a response reveals, without the names of the caller's own objects.
fn shape(answer: &Answer) -> (u16, Vec<String>) {
    let body: serde_json::Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let fields = body.as_object().map(|it| it.keys().cloned().collect());
    (answer.status, fields.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_transfer_does_not_reveal_who_has_an_account() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let body = json!({ "email": "known@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    let give = async |email: &str| fan.api.post_new(&path, &json!({ "email": email })).await;
    let (unknown, known) = (give("unknown@podo.kr").await, give("known@podo.kr").await);
    assert_eq!(shape(&unknown), shape(&known));
    assert_eq!(unknown.status, 202, "{}", unknown.text);
    // The ticket looks the same afterwards, whatever address it is offered to.
    let view = fan.api.get(&format!("/api/tickets/{}", bought.ticket)).await.expect(200);
    assert_eq!(text(&view, "status"), "VALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_for_an_address_reaches_only_an_account_that_proved_it() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    // Signing up first with a friend's address doesn't prove its ownership.
    let body = json!({ "email": "friend@podo.kr", "password": PASSWORD, "name": "도둑" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let body = json!({ "email": "friend@podo.kr", "password": PASSWORD });
    let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
    let thief = world.stranger.with_token(&text(&session, "accessToken"));
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    let give = json!({ "email": "friend@podo.kr" });
    fan.api.post_new(&path, &give).await.expect(202);
    assert_eq!(thief.get("/api/users/me/offers").await.expect(200)["items"], json!([]));
    let path = format!("/api/tickets/{}/accept", bought.ticket);
    thief.post_new(&path, &json!({})).await.refused(404, "NOT_FOUND");
    fan.api.get(&format!("/api/tickets/{}", bought.ticket)).await.expect(200);
    // The code goes to the address, where the thief can't read it, and not to the thief's own
    // mailbox.
    let asked = thief.post("/api/users/me/email/proof", &json!({})).await.expect(202);
    let mailed = notification(&world, "가입 확인 코드", 1).await;
    let mailbox = thief.get("/api/users/me/mailbox").await;
    assert!(!mailbox.text.contains(&code_in(&mailed)), "{}", mailbox.text);
    let confirm = async |api: &Api, code: &str| {
        let body = json!({ "proofId": asked["proofId"], "code": code });
        api.post("/api/users/me/email/proof/confirm", &body).await
    };
    confirm(&fan.api, &code_in(&mailed)).await.refused(401, "CODE_WRONG");
    let sign_up = json!({ "signUpId": asked["proofId"], "code": code_in(&mailed) });
    let answer = world.stranger.post("/api/auth/signup/confirm", &sign_up).await;
    answer.refused(401, "CODE_WRONG");
    confirm(&thief, "000000").await.refused(401, "CODE_WRONG");
    thief.post_new(&path, &json!({})).await.refused(404, "NOT_FOUND");
    // The account that receives the code owns the address.
    confirm(&thief, &code_in(&mailed)).await.expect(204);
    assert_eq!(thief.get("/api/users/me").await.expect(200)["emailVerified"], true);
    thief.post_new(&path, &json!({})).await.expect(200);
    fan.api.get(&format!("/api/tickets/{}", bought.ticket)).await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_cannot_be_given_away_is_no_question_about_addresses() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    fan.cancel(&bought.reservation).await.expect(200);
    let body = json!({ "email": "known@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    for email in ["known@podo.kr", "unknown@podo.kr"] {
        let answer = fan.api.post_new(&path, &json!({ "email": email })).await;
        answer.refused(409, "TICKET_VOID");
    }
}

//! Invitations: who may accept them, and what an attacker can do with a link.

use crate::identity::admin_sessions::notification;
use crate::identity::team::id_of;
use crate::messaging::mails::parse;
use crate::support::client::{Api, text};
use crate::support::world::{World, until};
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_testbed::MailServer;
use serde_json::{Value, json};
use std::time::Duration;

const SUBJECT: &str = "포도 운영팀에 초대받았어요";
const PASSWORD: &str = "sour green grapes";

async fn invite(by: &Api, email: &str, role: &str) -> Value {
    let body = json!({ "email": email, "role": role });
    by.post("/api/admin/team/invitations", &body).await.expect(201)
}

/// The token at the end of an e-mail; without a configured address it stands alone.
fn token_in(body: &str) -> String {
    body.split_whitespace().last().unwrap().rsplit('/').next().unwrap().to_owned()
}

async fn show(world: &World, token: &str) -> crate::support::client::Answer {
    world.stranger.post("/api/auth/invitation", &json!({ "token": token })).await
}

async fn accept(world: &World, token: &str) -> crate::support::client::Answer {
    let body = json!({ "token": token, "name": "새 사람", "password": PASSWORD });
    world.stranger.post("/api/auth/invitation/accept", &body).await
}

async fn log_in(world: &World, email: &str) -> Value {
    let body = json!({ "email": email, "password": PASSWORD });
    world.stranger.post("/api/auth/login", &body).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_person_accepts_once() {
    let world = World::start().await;
    invite(&world.organiser, "new@podo.kr", "FINANCE").await;
    let token = token_in(&notification(&world, SUBJECT, 1).await);
    let shown = show(&world, &token).await.expect(200);
    assert_eq!(shown["email"], "new@podo.kr");
    assert_eq!((&shown["role"], &shown["hasAccount"]), (&json!("FINANCE"), &json!(false)));
    let answers = futures::future::join_all((0..5).map(|_| accept(&world, &token))).await;
    assert_eq!(answers.iter().filter(|it| it.status == 201).count(), 1);
    accept(&world, &token).await.refused(404, "INVITATION_INVALID");
    show(&world, &token).await.refused(404, "INVITATION_INVALID");
    let session = log_in(&world, "new@podo.kr").await;
    assert_eq!(session["user"]["team"]["role"], "FINANCE");
    assert_eq!(session["user"]["emailVerified"], true);
    let team = world.organiser.get("/api/admin/team").await.expect(200);
    assert_eq!(team["invitations"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_account_accepts_only_with_the_invited_address() {
    let world = World::start().await;
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let fan = world.stranger.with_token(&text(&log_in(&world, "fan@podo.kr").await, "accessToken"));
    invite(&world.organiser, "fan@podo.kr", "SUPPORT").await;
    let token = token_in(&notification(&world, SUBJECT, 1).await);
    let thief = world.fan().await.api;
    let body = json!({ "token": token });
    thief.post("/api/users/me/invitation", &body).await.refused(404, "INVITATION_INVALID");
    accept(&world, &token).await.refused(409, "EMAIL_TAKEN");
    fan.post("/api/users/me/invitation", &body).await.expect(204);
    fan.get("/api/users/me").await.refused(401, "LOGIN_REQUIRED");
    assert_eq!(log_in(&world, "fan@podo.kr").await["user"]["team"]["role"], "SUPPORT");
    // An organiser isn't invited again: a link must not lower a role.
    let again = json!({ "email": "fan@podo.kr", "role": "GATE" });
    let again = world.organiser.post("/api/admin/team/invitations", &again).await;
    again.refused(409, "EMAIL_TAKEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_ends_with_time_withdrawal_and_its_creators_role() {
    let world = World::start().await;
    let other = world.member(Membership::preset(TeamRole::Owner)).await;
    let mut tokens = Vec::new();
    let mut ids = Vec::new();
    for (number, by) in [&world.organiser, &other, &world.organiser].into_iter().enumerate() {
        ids.push(text(&invite(by, &format!("p{number}@podo.kr"), "VIEWER").await, "id"));
        tokens.push(token_in(&notification(&world, SUBJECT, number + 1).await));
    }
    let withdraw = format!("/api/admin/team/invitations/{}", ids[0]);
    world.organiser.delete(&withdraw).await.expect(204);
    accept(&world, &tokens[0]).await.refused(404, "INVITATION_INVALID");
    let inviter = format!("/api/admin/team/{}", id_of(&other).await);
    world.organiser.delete(&inviter).await.expect(204);
    accept(&world, &tokens[1]).await.refused(404, "INVITATION_INVALID");
    show(&world, &tokens[2]).await.expect(200);
    world.clock.advance(Duration::from_secs(7 * 24 * 60 * 60));
    accept(&world, &tokens[2]).await.refused(404, "INVITATION_INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_or_foreign_token_opens_nothing() {
    let world = World::start().await;
    let made = invite(&world.organiser, "new@podo.kr", "OWNER").await;
    let token = token_in(&notification(&world, SUBJECT, 1).await);
    let mut changed = token.clone().into_bytes();
    let last = changed.len() - 2;
    changed[last] = if changed[last] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).unwrap();
    for wrong in [changed.as_str(), &token[..token.len() - 4], "x", made["id"].as_str().unwrap()] {
        show(&world, wrong).await.refused(404, "INVITATION_INVALID");
        accept(&world, wrong).await.refused(404, "INVITATION_INVALID");
    }
    // A six-digit code of a sign-up doesn't open it either.
    let body = json!({ "signUpId": made["id"], "code": "000000" });
    let confirmed = world.stranger.post("/api/auth/signup/confirm", &body).await;
    confirmed.refused(401, "CODE_WRONG");
    show(&world, &token).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailed_link_is_in_no_file_of_the_store() {
    let mail = MailServer::start().unwrap();
    let settings = [
        ("PODO_SMTP_URL", mail.url()),
        ("PODO_SMTP_FROM", "Podo <tickets@podo.example>".to_owned()),
        ("PODO_PUBLIC_URL", "https://podo.example".to_owned()),
    ];
    let settings: Vec<_> = settings.iter().map(|(key, it)| (*key, it.as_str())).collect();
    let world = World::with(&settings).await;
    invite(&world.organiser, "new@podo.kr", "VIEWER").await;
    let mailed = until("the invitation arrives", async || {
        mail.emails().into_iter().find(|it| it.to.contains("new@podo.kr"))
    })
    .await;
    let parsed = parse(&mailed);
    let text = parsed.body_text(0).unwrap();
    assert!(parsed.body_html(0).unwrap().contains("초대 수락하기"), "a button in HTML");
    let link = "https://podo.example/admin#/invitation/";
    let start = text.find(link).unwrap_or_else(|| panic!("a link in {text}")) + link.len();
    let token: String = text[start..].chars().take(64).collect();
    show(&world, &token).await.expect(200);
    let mailbox = world.organiser.get("/api/admin/mailbox").await;
    assert!(!mailbox.text.contains(&token), "{}", mailbox.text);
    for file in std::fs::read_dir(world.data()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        let is_found = bytes.windows(token.len()).any(|part| part == token.as_bytes());
        assert!(!is_found, "the token of a link is in the store");
    }
}

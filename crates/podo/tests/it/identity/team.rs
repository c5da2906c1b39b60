//! The team: what a role reaches, what limits it to events, and who may change it.

#[path = "team/api_keys.rs"]
mod api_keys;
#[path = "team/invitations.rs"]
mod invitations;

use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, Show, World};
use futures::future::join;
use podo_app::tickets::holders;
use podo_domain::identity::permissions::{Membership, Permission, TeamRole};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A role that is limited to the event of a show.
pub(crate) fn limited(role: TeamRole, show: &Show) -> Membership {
    let events = BTreeSet::from([show.event.parse().unwrap()]);
    Membership::new(role, None, Some(events)).unwrap()
}

pub(crate) async fn id_of(api: &Api) -> String {
    text(&api.get("/api/users/me").await.expect(200), "id")
}

async fn patch(api: &Api, path: &str, body: &Value) -> Answer {
    send(api.call(Method::PATCH, path).json(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_limited_to_an_event_sees_and_changes_only_that_event() {
    let world = World::start().await;
    let (ours, theirs) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let manager = world.member(limited(TeamRole::Manager, &ours)).await;
    let events = manager.get("/api/admin/events").await.expect(200);
    let seen: Vec<String> =
        events["items"].as_array().unwrap().iter().map(|it| text(it, "id")).collect();
    assert_eq!(seen, [ours.event.as_str()]);
    let found = manager.get("/api/admin/events?query=%ED%8F%AC%EB%8F%84").await.expect(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "a search stays within the scope");
    let paths = |show: &Show| {
        let (event, schedule) = (&show.event, show.schedule);
        [
            format!("/api/admin/events/{event}"),
            format!("/api/admin/events/{event}/refund-policy"),
            format!("/api/admin/schedules/{schedule}/queue"),
            format!("/api/admin/schedules/{schedule}/live"),
            format!("/api/admin/schedules/{schedule}/statistics"),
            format!("/api/admin/schedules/{schedule}/queue/history"),
        ]
    };
    for (mine, foreign) in paths(&ours).iter().zip(paths(&theirs)) {
        manager.get(mine).await.expect(200);
        manager.get(&foreign).await.refused(404, "NOT_FOUND");
    }
    let title = json!({ "title": "새 이름" });
    patch(&manager, &paths(&ours)[0], &title).await.expect(200);
    patch(&manager, &paths(&theirs)[0], &title).await.refused(404, "NOT_FOUND");
    let queue = Plan::default().queue("PAUSED");
    manager.put(&paths(&ours)[2], &queue).await.expect(200);
    manager.put(&paths(&theirs)[2], &queue).await.refused(404, "NOT_FOUND");
    let cancel = format!("/api/admin/events/{}/cancel", theirs.event);
    manager.post(&cancel, &json!({})).await.refused(404, "NOT_FOUND");
    // What belongs to no event is out of reach.
    let venue = json!({ "name": "홀", "address": "길 1", "city": "서울" });
    manager.post("/api/admin/venues", &venue).await.refused(403, "PERMISSION_MISSING");
    for path in ["/api/admin/users", "/api/admin/audit", "/api/admin/webhooks", "/api/admin/jobs"] {
        manager.get(path).await.refused(403, "PERMISSION_MISSING");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn purchases_for_other_events_are_neither_listed_nor_refunded() {
    let world = World::start().await;
    let (ours, theirs) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let finance = world.member(limited(TeamRole::Finance, &ours)).await;
    let fan = world.fan_inside(&ours).await;
    let mine = fan.buy(&ours, 0).await;
    let other = world.fan_inside(&theirs).await;
    let foreign = other.buy(&theirs, 0).await;
    let count = async |path: String| {
        let found = finance.get(&path).await.expect(200);
        found["items"].as_array().unwrap().len()
    };
    for list in ["reservations", "payments"] {
        assert_eq!(count(format!("/api/admin/{list}")).await, 1, "{list}");
        assert_eq!(count(format!("/api/admin/{list}?userId={}", other.id)).await, 0, "{list}");
        let number = &foreign.booking_number;
        assert_eq!(count(format!("/api/admin/{list}?query={number}")).await, 0, "{list}");
    }
    let by_id = format!("/api/admin/payments?query={}", foreign.payment);
    assert_eq!(count(by_id).await, 0);
    let by_date = format!("/api/admin/reservations?scheduleId={}", theirs.schedule);
    assert_eq!(count(by_date).await, 0);
    let file = finance.get("/api/admin/reservations?format=csv&reason=x").await;
    assert!(file.text.contains(&mine.booking_number), "{}", file.text);
    assert!(!file.text.contains(&foreign.booking_number), "{}", file.text);
    let case = |payment: &str| format!("/api/admin/payments/{payment}");
    finance.get(&case(&mine.payment)).await.expect(200);
    finance.get(&case(&foreign.payment)).await.refused(404, "NOT_FOUND");
    let refund = |payment: &str| format!("/api/admin/payments/{payment}/refund");
    let reason = json!({ "reason": "test" });
    finance.post_new(&refund(&foreign.payment), &reason).await.refused(404, "NOT_FOUND");
    finance.post_new(&refund(&mine.payment), &reason).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_checks_in_its_event_and_reads_nothing_else() {
    let world = World::start().await;
    let (ours, theirs) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let gate = world.member(limited(TeamRole::Gate, &ours)).await;
    let code_at = async |show: &Show| {
        let fan = world.fan_inside(show).await;
        let ticket = fan.buy(show, 0).await.ticket.parse().unwrap();
        let view = holders::my_ticket(world.context(), fan.id, ticket).await.unwrap();
        let code = holders::qr_text(world.context(), &view);
        json!({ "code": code, "scheduleId": show.schedule, "gate": "1" })
    };
    let foreign = code_at(&theirs).await;
    gate.post("/api/admin/checkin", &foreign).await.refused(409, "TICKET_ELSEWHERE");
    let checked = gate.post("/api/admin/checkin", &code_at(&ours).await).await;
    checked.expect(200);
    assert!(!checked.text.contains('@'), "no address at the gate: {}", checked.text);
    for path in ["events", "reservations", "payments", "users", "team", "keys", "mailbox"] {
        let answer = gate.get(&format!("/api/admin/{path}")).await;
        answer.refused(403, "PERMISSION_MISSING");
    }
    // The ticket of the other event still works at its own gate.
    world.organiser.post("/api/admin/checkin", &foreign).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_changes_and_removes_members_whose_sessions_end() {
    let settings =
        [("PODO_ADMIN_EMAIL", "boss@podo.kr"), ("PODO_ADMIN_PASSWORD", "sour green grapes")];
    let world = World::with(&settings).await;
    let show = world.show(Plan::default()).await;
    let log_in = async || {
        let body = json!({ "email": "boss@podo.kr", "password": "sour green grapes" });
        let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
        (world.stranger.with_token(&text(&session, "accessToken")), session["user"].clone())
    };
    let (boss, user) = log_in().await;
    assert_eq!(user["team"]["role"], "OWNER");
    let path = format!("/api/admin/team/{}", text(&user, "id"));
    let role = json!({ "role": "SUPPORT", "events": [show.event] });
    boss.put(&path, &role).await.refused(409, "OWN_ROLE");
    world.organiser.put(&path, &role).await.expect(204);
    boss.get("/api/admin/events").await.refused(401, "LOGIN_REQUIRED");
    let (boss, user) = log_in().await;
    assert_eq!((&user["role"], &user["team"]["role"]), (&json!("STAFF"), &json!("SUPPORT")));
    assert_eq!(user["team"]["events"], json!([show.event]));
    boss.get("/api/admin/events").await.expect(200);
    boss.get("/api/admin/team").await.refused(403, "PERMISSION_MISSING");
    let team = world.organiser.get("/api/admin/team").await.expect(200);
    let roles: Vec<String> =
        team["members"].as_array().unwrap().iter().map(|it| text(it, "role")).collect();
    assert!(roles.contains(&"OWNER".to_owned()) && roles.contains(&"SUPPORT".to_owned()));
    world.organiser.delete(&path).await.expect(204);
    boss.get("/api/admin/events").await.refused(401, "LOGIN_REQUIRED");
    let (boss, user) = log_in().await;
    assert_eq!((&user["role"], &user["team"]), (&json!("USER"), &Value::Null));
    boss.get("/api/admin/events").await.refused(403, "ADMIN_ONLY");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_owners_who_remove_each_other_leave_one() {
    let world = World::start().await;
    let other = world.member(Membership::preset(TeamRole::Owner)).await;
    let (first, second) = (id_of(&world.organiser).await, id_of(&other).await);
    let remove = async |by: &Api, user: &str| by.delete(&format!("/api/admin/team/{user}")).await;
    let answers = join(remove(&world.organiser, &second), remove(&other, &first)).await;
    let statuses = [answers.0.status, answers.1.status];
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1, "{statuses:?}");
    // The one who is left can't be removed by a member either, nor delete the account.
    let (left, id) = if statuses[0] == 204 { (&world.organiser, first) } else { (&other, second) };
    let viewer = world.member(Membership::preset(TeamRole::Viewer)).await;
    remove(&viewer, &id).await.refused(403, "PERMISSION_MISSING");
    left.delete(&format!("/api/admin/team/{id}")).await.refused(409, "OWN_ROLE");
    let now = world.context().now();
    let withdrawn = world.context().store.withdraw(id.parse().unwrap(), now).await;
    let refusal = podo_domain::Refusal::LastOwner;
    assert!(matches!(withdrawn, Err(podo_app::Error::Refused(it)) if it == refusal));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_one_gives_or_takes_more_than_they_have() {
    let world = World::start().await;
    let permissions = [Permission::ManageTeam, Permission::ManageKeys, Permission::ViewSales];
    let custom = Membership::new(TeamRole::Custom, Some(permissions.into()), None).unwrap();
    let member = world.member(custom).await;
    let owner = id_of(&world.organiser).await;
    let viewer = id_of(&world.member(Membership::preset(TeamRole::Viewer)).await).await;
    let fan = world.fan().await.id;
    let team = |user: &str| format!("/api/admin/team/{user}");
    for role in ["OWNER", "MANAGER", "VIEWER"] {
        let body = json!({ "role": role });
        member.put(&team(&fan.to_string()), &body).await.refused(403, "GRANT_TOO_WIDE");
        let body = json!({ "role": role, "email": "friend@podo.kr" });
        let invited = member.post("/api/admin/team/invitations", &body).await;
        invited.refused(403, "GRANT_TOO_WIDE");
        let body = json!({ "role": role, "name": "robot", "days": 1 });
        member.post("/api/admin/keys", &body).await.refused(403, "GRANT_TOO_WIDE");
    }
    let old_route = format!("/api/admin/users/{fan}/role");
    member.put(&old_route, &json!({ "role": "ADMIN" })).await.refused(403, "GRANT_TOO_WIDE");
    for user in [&owner, &viewer] {
        member.delete(&team(user)).await.refused(403, "GRANT_TOO_WIDE");
        let body = json!({ "role": "CUSTOM", "permissions": ["VIEW_SALES"] });
        member.put(&team(user), &body).await.refused(403, "GRANT_TOO_WIDE");
    }
    let body = json!({ "role": "CUSTOM", "permissions": ["VIEW_SALES"] });
    member.put(&team(&fan.to_string()), &body).await.expect(204);
}

//! Support over HTTP: search, timelines, notes and the confirmation again.

use crate::messaging::mails::{mail_with, mail_world, parse, pdf_text};
use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, World, until};
use mail_parser::MimeHeaders;
use podo_app::identity::accounts::{SignUp, new_user};
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_domain::identity::{Email, NewPassword, Phone, Role};
use podo_testbed::MailServer;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A fan with this name and number.
async fn fan_called(world: &World, name: &str, email: &str, phone: &str) -> Fan {
    let context = world.context();
    let asked = SignUp {
        email: Email::try_from(email.to_owned()).unwrap(),
        password: NewPassword::try_from("never used to log in".to_owned()).unwrap(),
        name: Line::try_from(name.to_owned()).unwrap(),
        phone: Some(Phone::try_from(phone.to_owned()).unwrap()),
        role: Role::User,
    };
    let user = new_user(context, &asked, "no hash".to_owned(), context.now());
    let fan = Fan { id: user.user, api: world.stranger.clone() };
    context.store.create_user(user).await.unwrap();
    world.again(&fan)
}

async fn agent(world: &World) -> Api {
    world.member(Membership::preset(TeamRole::Support)).await
}

async fn search(api: &Api, query: &str) -> Value {
    let query = serde_urlencoded::to_string([("query", query)]).unwrap();
    api.get(&format!("/api/admin/support/search?{query}")).await.expect(200)
}

fn ids(found: &Value, list: &str) -> Vec<String> {
    found[list].as_array().unwrap().iter().map(|it| text(it, "id")).collect()
}

/// Waits until the job has indexed the names.
async fn names_are_indexed(world: &World) {
    until("names are indexed", async || {
        let context = world.context();
        let due = context.store.unindexed_names(context.now(), 10).await.unwrap();
        due.is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_found_by_address_number_and_the_beginning_of_their_name() {
    let world = World::start().await;
    let api = agent(&world).await;
    let kim = fan_called(&world, "김포도", "kim@podo.example", "010-1234-5678").await;
    let park = fan_called(&world, "Park Podo", "park@podo.example", "010-8765-4321").await;
    names_are_indexed(&world).await;
    for (query, fan) in [
        ("KIM@podo.example", &kim),
        ("+82 10-1234-5678", &kim),
        ("김포", &kim),
        (" 김 포도 ", &kim),
        ("park p", &park),
        (park.id.to_string().as_str(), &park),
    ] {
        assert_eq!(ids(&search(&api, query).await, "people"), [fan.id.to_string()], "{query}");
    }
    for query in ["포도", "im@podo.example", "010-1234-567", "김포도밭"] {
        assert!(ids(&search(&api, query).await, "people").is_empty(), "{query}");
    }
    // A new name is found, and the old one is not.
    let me = json!({ "name": "이포도" });
    let renamed = kim.api.call(reqwest::Method::PATCH, "/api/users/me").json(&me);
    crate::support::client::send(renamed).await.expect(200);
    names_are_indexed(&world).await;
    assert_eq!(ids(&search(&api, "이포도").await, "people"), [kim.id.to_string()]);
    assert!(ids(&search(&api, "김포도").await, "people").is_empty());
    let path = "/api/admin/support/search?query=";
    for (query, field) in [("", "query"), ("%20", "query"), ("%EA%B9%80", "query")] {
        let refused = api.get(&format!("{path}{query}")).await.refused(422, "INVALID");
        assert_eq!(refused["errors"][0]["field"].as_str(), Some(field), "{refused}");
    }
    assert!(refused_permission(&world, TeamRole::BoxOffice).await);
    assert!(refused_permission(&world, TeamRole::Viewer).await);
}

async fn refused_permission(world: &World, role: TeamRole) -> bool {
    let member = world.member(Membership::preset(role)).await;
    let answer = member.get("/api/admin/support/search?query=kim").await;
    answer.refused(403, "PERMISSION_MISSING")["status"] == 403
}

fn states(timeline: &Value) -> Vec<(String, String)> {
    let items = timeline["items"].as_array().unwrap();
    items.iter().map(|it| (text(it, "kind"), text(it, "state"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_tells_its_whole_story_page_by_page() {
    let world = World::start().await;
    let api = agent(&world).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let friend = world.fan_at("friend@podo.example").await;
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    fan.api.post_new(&path, &json!({ "email": "friend@podo.example" })).await.expect(202);
    let path = format!("/api/tickets/{}/accept", bought.ticket);
    friend.api.post_new(&path, &json!({})).await.expect(200);

    let found = search(&api, &bought.booking_number.to_lowercase()).await;
    assert_eq!(ids(&found, "bookings"), [bought.reservation.as_str()]);
    let path = format!("/api/admin/support/bookings/{}", bought.reservation);
    let booking = api.get(&path).await.expect(200);
    assert_eq!(text(&booking["reservation"], "bookingNumber"), bought.booking_number);
    assert_eq!(booking["payments"].as_array().unwrap().len(), 1);
    assert_eq!(text(&booking["tickets"][0], "email"), "friend@podo.example");

    let whole = until("the notification is stored", async || {
        let whole = api.get(&format!("{path}/timeline")).await.expect(200);
        let told = ("NOTIFICATION".to_owned(), "STORED".to_owned());
        states(&whole).contains(&told).then_some(whole)
    })
    .await;
    let told = states(&whole);
    for (kind, state) in [
        ("QUEUE", "ADMITTED"),
        ("RESERVATION", "HELD"),
        ("RESERVATION", "CONFIRMED"),
        ("PAYMENT", "CAPTURED"),
        ("TICKET", "ISSUED"),
        ("TRANSFER", "OFFERED"),
        ("TRANSFER", "ACCEPTED"),
    ] {
        assert!(told.contains(&(kind.to_owned(), state.to_owned())), "{kind} {state}: {told:?}");
    }
    // Page by page it is the same story.
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("{path}/timeline?limit=2{cursor}")).await.expect(200);
        pages.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let at = |items: &[Value]| items.iter().map(|it| text(it, "at")).collect::<Vec<_>>();
    assert!(at(&pages).is_sorted_by(|a, b| b <= a), "newest first: {pages:?}");
    let unique: BTreeSet<String> = pages.iter().map(ToString::to_string).collect();
    assert_eq!(unique.len(), pages.len(), "no line twice");
    for line in whole["items"].as_array().unwrap() {
        assert!(pages.contains(line), "{line}");
    }
    let person = format!("/api/admin/support/people/{}/timeline", friend.id);
    let received = ("TRANSFER".to_owned(), "RECEIVED".to_owned());
    assert!(states(&api.get(&person).await.expect(200)).contains(&received));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_are_for_staff_and_the_audit_log_knows_who_looked_but_not_what_was_written() {
    let world = World::start().await;
    let (api, show) = (agent(&world).await, world.show(Plan::default()).await);
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let person = format!("/api/admin/support/people/{}", fan.id);
    let booking = format!("/api/admin/support/bookings/{}", bought.reservation);
    let secret = "called twice about a wheelchair";
    let made = api.post(&format!("{booking}/notes"), &json!({ "text": secret })).await.expect(201);
    assert!(text(&made, "author").contains('@'), "{made}");
    api.post(&format!("{person}/notes"), &json!({ "text": "friendly" })).await.expect(201);
    let notes = |file: &Value| {
        let notes = file["notes"].as_array().unwrap().iter().map(|it| text(it, "text"));
        notes.collect::<Vec<_>>()
    };
    assert_eq!(notes(&api.get(&person).await.expect(200)), ["friendly", secret]);
    assert_eq!(notes(&api.get(&booking).await.expect(200)), [secret]);
    for (text, code) in [("  ", 422), (&*"x".repeat(2_001), 422)] {
        let answer = api.post(&format!("{person}/notes"), &json!({ "text": text })).await;
        assert_eq!(answer.status, code, "{}", answer.text);
    }
    fan.api.get(&person).await.refused(403, "ADMIN_ONLY");
    let unknown = "/api/admin/support/people/0190a000-0000-7000-8000-000000000000";
    api.get(unknown).await.refused(404, "NOT_FOUND");
    api.post(&format!("{unknown}/notes"), &json!({ "text": "x" })).await.refused(404, "NOT_FOUND");
    let log = world.organiser.get("/api/admin/audit?limit=100").await.expect(200);
    let entries = log["items"].as_array().unwrap();
    let has = |action: &str, subject: &str| {
        entries.iter().any(|it| text(it, "action") == action && text(it, "subject") == subject)
    };
    assert!(has("read", &person), "{log}");
    assert!(has("support.note", &fan.id.to_string()), "{log}");
    assert!(!log.to_string().contains("wheelchair"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_confirmation_is_sent_again_with_the_ticket_at_most_five_times_a_day() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let (api, show) = (agent(&world).await, world.show(Plan::default()).await);
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let subject = "예매가 완료되었어요";
    let first = mail_with(&server, subject).await;
    let path = format!("/api/admin/support/bookings/{}/resend", bought.reservation);
    api.post(&path, &json!({})).await.expect(202);
    let again = until("the confirmation arrives again", async || {
        let emails = server.emails();
        let is_it = |mail: &podo_testbed::stand_ins::post_box::ReceivedEmail| {
            let parsed = parse(mail);
            parsed.subject().is_some_and(|it| it.starts_with(subject))
                && parsed.message_id() != parse(&first).message_id()
        };
        emails.into_iter().find(is_it)
    })
    .await;
    let mail = parse(&again);
    let pdf = mail.attachments().next().expect("a PDF");
    assert_eq!(pdf.attachment_name().unwrap(), format!("{}.pdf", bought.booking_number));
    assert!(pdf_text(pdf.contents()).contains(&bought.booking_number));
    for _ in 0..4 {
        api.post(&path, &json!({})).await.expect(202);
    }
    api.post(&path, &json!({})).await.refused(429, "TOO_MANY_REQUESTS");
    fan.cancel(&bought.reservation).await.expect(200);
    api.post(&path, &json!({})).await.refused(409, "ALREADY_CANCELED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_limited_to_an_event_sees_its_bookings_and_no_one_else() {
    let world = World::start().await;
    let (ours, theirs) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let (fan, other) = (world.fan_inside(&ours).await, world.fan_inside(&theirs).await);
    let (bought, foreign) = (fan.buy(&ours, 0).await, other.buy(&theirs, 0).await);
    let events = Some(BTreeSet::from([ours.event.parse().unwrap()]));
    let membership = Membership::new(TeamRole::Support, None, events).unwrap();
    let limited = world.member(membership).await;
    let found = search(&limited, &bought.booking_number).await;
    assert_eq!(ids(&found, "bookings"), [bought.reservation.as_str()]);
    assert!(ids(&search(&limited, &foreign.booking_number).await, "bookings").is_empty());
    assert!(ids(&search(&limited, &fan.id.to_string()).await, "people").is_empty());
    let of = |reservation: &str| format!("/api/admin/support/bookings/{reservation}");
    limited.get(&of(&bought.reservation)).await.expect(200);
    for path in ["", "/timeline"] {
        let path = format!("{}{path}", of(&foreign.reservation));
        limited.get(&path).await.refused(404, "NOT_FOUND");
    }
    let path = format!("{}/resend", of(&foreign.reservation));
    limited.post(&path, &json!({})).await.refused(404, "NOT_FOUND");
    let person = format!("/api/admin/support/people/{}", fan.id);
    limited.get(&person).await.refused(403, "PERMISSION_MISSING");
}

//! Organisers' searches: by number, state, person and page, and as files.

use crate::support::client::{Answer, text};
use crate::support::world::{Plan, World, until};
use serde_json::{Value, json};

fn items(answer: &Answer) -> Vec<Value> {
    answer.expect(200)["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_is_found_by_its_number_its_state_and_its_fan() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (buyer, holder) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let bought = buyer.buy(&show, 0).await;
    let held = holder.hold(&show, &[1, 2]).await;
    let find = async |query: String| {
        items(&world.organiser.get(&format!("/api/admin/reservations?{query}")).await)
    };
    let all = find(String::new()).await;
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(text(&all[0], "id"), held, "newest first");
    assert_eq!(all[0]["seats"].as_array().unwrap().len(), 2);
    let number = text(&all[1], "bookingNumber");
    for query in [
        format!("query={}", number.to_lowercase()),
        format!("query={}", bought.reservation),
        "status=CONFIRMED".to_owned(),
        format!("userId={}", buyer.id),
        format!("scheduleId={}&status=CONFIRMED", show.schedule),
    ] {
        let found = find(query.clone()).await;
        assert_eq!(found.len(), 1, "{query}");
        assert_eq!(text(&found[0], "id"), bought.reservation, "{query}");
        assert!(text(&found[0], "email").contains('@'), "{query}");
    }
    assert!(find("query=B-20260101-AAAAAA".into()).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_found_by_itself_and_by_what_it_paid_for() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let find = async |query: &str| {
        items(&world.organiser.get(&format!("/api/admin/payments?query={query}")).await)
    };
    let [by_reservation] = &find(&bought.reservation).await[..] else { panic!("one payment") };
    let [by_id] = &find(&text(by_reservation, "id")).await[..] else { panic!("one payment") };
    let [by_number] = &find(&text(by_id, "bookingNumber")).await[..] else { panic!("one") };
    assert_eq!(by_reservation, by_id);
    assert_eq!(by_number, by_id);
    assert_eq!(by_id["status"], json!("CAPTURED"));
    let none = world.organiser.get("/api/admin/payments?status=REFUNDED").await;
    assert!(items(&none).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_found_by_their_whole_address() {
    let world = World::start().await;
    let fan = world.fan().await;
    let me = fan.api.get("/api/users/me").await.expect(200);
    let email = text(&me, "email");
    let find = async |query: &str| {
        items(&world.organiser.get(&format!("/api/admin/users?query={query}")).await)
    };
    for query in [email.to_uppercase().as_str(), text(&me, "id").as_str()] {
        let found = find(query).await;
        assert_eq!(found.len(), 1, "{query}");
        assert_eq!(text(&found[0], "email"), email);
        assert_eq!(text(&found[0], "name"), text(&me, "name"));
    }
    assert!(find(&email[1..]).await.is_empty(), "a part of an address finds no one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_continues_where_its_page_ended() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    for seat in 0..3 {
        world.fan_inside(&show).await.hold(&show, &[seat]).await;
    }
    let first = world.organiser.get("/api/admin/reservations?limit=2").await.expect(200);
    let cursor = text(&first, "nextCursor");
    let path = format!("/api/admin/reservations?limit=2&cursor={cursor}");
    let second = world.organiser.get(&path).await.expect(200);
    let seats = |page: &Value| -> Vec<Value> {
        page["items"].as_array().unwrap().iter().map(|it| it["seats"].clone()).collect()
    };
    assert_eq!((seats(&first).len(), seats(&second).len()), (2, 1));
    assert!(second.get("nextCursor").is_none(), "{second}");
    assert!(!seats(&first).contains(&seats(&second)[0]), "no row twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_has_every_row_and_the_sum_of_the_payments() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    for seat in 0..2 {
        world.fan_inside(&show).await.buy(&show, seat).await;
    }
    let file =
        world.organiser.get("/api/admin/payments?format=csv&status=CAPTURED&reason=a+test").await;
    assert_eq!(file.status, 200);
    assert!(file.header("content-type").starts_with("text/csv"), "{:?}", file.headers);
    assert!(file.header("content-disposition").contains("payments.csv"));
    let lines: Vec<&str> = file.text.trim_start_matches('\u{feff}').trim().lines().collect();
    let amount_at = lines[0].split(',').position(|name| name == "amount").unwrap();
    let amount = |line: &&str| line.split(',').nth(amount_at).unwrap().parse::<i64>().unwrap();
    let sum: i64 = lines[1..].iter().map(amount).sum();
    let live = format!("/api/admin/schedules/{}/live", show.schedule);
    let live = world.organiser.get(&live).await.expect(200);
    assert_eq!((lines.len(), Some(sum)), (3, live["revenue"].as_i64()));
    let silent = world.organiser.get("/api/admin/users?format=csv").await;
    silent.refused(422, "INVALID");
    for path in ["reservations", "users"] {
        let file =
            world.organiser.get(&format!("/api/admin/{path}?format=csv&reason=a+test")).await;
        assert!(file.status == 200 && file.text.lines().count() > 2, "{path}: {}", file.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn organisers_read_all_notifications() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    let notification = until("the notification is there", async || {
        let notifications = items(&world.organiser.get("/api/admin/mailbox").await);
        notifications.into_iter().find(|it| text(it, "userId") == fan.id.to_string())
    });
    assert!(!text(&notification.await, "subject").is_empty());
    fan.api.get("/api/admin/mailbox").await.refused(403, "ADMIN_ONLY");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_show_people_and_hide_most_of_their_addresses() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let me = fan.api.get("/api/users/me").await.expect(200);
    let (name, email) = (text(&me, "name"), text(&me, "email"));
    let host = email.split_once('@').unwrap().1;
    let lists = [
        "/api/admin/reservations".to_owned(),
        "/api/admin/payments".to_owned(),
        format!("/api/admin/schedules/{}/queue/history", show.schedule),
    ];
    for path in lists {
        let [it] = &items(&world.organiser.get(&path).await)[..] else { panic!("one: {path}") };
        let person = &it["person"];
        assert_eq!(text(person, "name"), name, "{path}");
        let masked = text(person, "email");
        assert!(masked.ends_with(&format!("***@{host}")) && masked != email, "{path}: {masked}");
        assert_eq!(text(person, "id"), fan.id.to_string());
    }
    let payments = items(&world.organiser.get("/api/admin/payments").await);
    assert!(!text(&payments[0], "eventTitle").is_empty());
    // The log names who acted and whose payment it was about.
    let path = format!("/api/admin/payments/{}/refund", text(&payments[0], "id"));
    let body = json!({ "reason": "a test", "feePercent": 0 });
    world.organiser.post_new(&path, &body).await.expect(200);
    let log = items(&world.organiser.get("/api/admin/audit?action=payment").await);
    let about = log.iter().find(|it| it["about"].is_object()).unwrap_or_else(|| panic!("{log:?}"));
    assert_eq!(text(&about["about"], "name"), name);
    assert!(text(&about["actor"], "email").contains("***@"), "{about}");
    assert_eq!(bought.reservation, text(&payments[0], "reservationId"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_walked_from_both_ends_and_within_a_period() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let mut made = Vec::new();
    for seat in 0..3 {
        made.push(world.fan_inside(&show).await.hold(&show, &[seat]).await);
    }
    let walk = async |order: &str| {
        let (mut ids, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/api/admin/reservations?limit=2&order={order}{cursor}");
            let page = world.organiser.get(&path).await.expect(200);
            ids.extend(page["items"].as_array().unwrap().iter().map(|it| text(it, "id")));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return ids,
            }
        }
    };
    assert_eq!(walk("OLDEST").await, made, "the first one first, none twice");
    made.reverse();
    assert_eq!(walk("NEWEST").await, made);
    let all = items(&world.organiser.get("/api/admin/reservations").await);
    let second = text(&all[1], "createdAt");
    let find = async |query: String| {
        let path = format!("/api/admin/reservations?{query}");
        let found = items(&world.organiser.get(&path).await);
        found.iter().map(|it| text(it, "id")).collect::<Vec<_>>()
    };
    assert_eq!(find(format!("from={second}")).await, made[..2], "the bound itself is within");
    assert_eq!(find(format!("to={second}")).await, made[2..], "the end is not");
    assert_eq!(find(format!("from={second}&to={second}")).await, made[..0]);
    world.organiser.get("/api/admin/reservations?order=AMOUNT").await.refused(422, "INVALID");
    world.organiser.get("/api/admin/payments?from=yesterday").await.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_found_by_how_their_address_begins_and_by_its_domain() {
    let world = World::start().await;
    let fan = world.fan().await;
    let me = fan.api.get("/api/users/me").await.expect(200);
    let email = text(&me, "email");
    let (local, host) = email.split_once('@').unwrap();
    let find = async |query: &str| {
        let query = query.replace('@', "%40");
        let found = items(&world.organiser.get(&format!("/api/admin/users?query={query}")).await);
        found.iter().map(|it| text(it, "email")).collect::<Vec<_>>()
    };
    until("the job has indexed the address", async || {
        find(local).await.contains(&email).then_some(())
    })
    .await;
    assert!(find(&local.to_uppercase()).await.contains(&email));
    assert!(find(&format!("@{host}")).await.contains(&email), "by the domain");
    assert!(find(&local[1..]).await.is_empty(), "not by the middle");
    assert!(find(&format!("{local}x")).await.is_empty(), "the decrypted address decides");
    world.organiser.get("/api/admin/users?query=k").await.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_events_says_when_they_play_and_what_is_sold() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    world.fan_inside(&show).await.buy(&show, 0).await;
    let line = until("the sale is counted", async || {
        let found = items(&world.organiser.get("/api/admin/events").await);
        found.into_iter().find(|it| it["sold"] == json!(1))
    })
    .await;
    assert_eq!(line["dates"], json!(1));
    assert!(line["seats"].as_u64().unwrap() > 1, "{line}");
    let starts = text(&line, "startsAt");
    assert_eq!(starts, text(&line, "lastStartsAt"));
    let none = world.organiser.get(&format!("/api/admin/events?to={starts}")).await;
    assert!(items(&none).is_empty(), "the end is not within");
    assert_eq!(
        items(&world.organiser.get(&format!("/api/admin/events?from={starts}")).await).len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_is_read_from_both_ends_and_within_a_period() {
    let world = World::start().await;
    world.show(Plan::default()).await;
    let numbers = async |query: String| {
        let found = items(&world.organiser.get(&format!("/api/admin/audit?{query}")).await);
        found.iter().map(|it| it["seq"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let newest = items(&world.organiser.get("/api/admin/audit?limit=100").await);
    let middle = &newest[newest.len() / 2];
    let (at, seq) = (text(middle, "at"), middle["seq"].as_i64().unwrap());
    assert_eq!(numbers("order=OLDEST&limit=3".into()).await, [1, 2, 3]);
    assert_eq!(numbers("order=OLDEST&limit=2&cursor=3".into()).await, [4, 5]);
    assert!(numbers(format!("from={at}&limit=100")).await.contains(&seq), "the bound is within");
    let before = numbers(format!("to={at}&limit=100")).await;
    assert!(!before.contains(&seq) && before.contains(&1), "{before:?}");
    assert_eq!(numbers(format!("from={at}&to={at}")).await, [0_i64; 0]);
    assert_eq!(numbers("to=2020-01-01T00:00:00Z".into()).await, [0_i64; 0]);
    assert_eq!(numbers("from=2199-01-01T00:00:00Z".into()).await, [0_i64; 0]);
}

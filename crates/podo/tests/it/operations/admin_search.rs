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

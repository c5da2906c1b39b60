//! Venues, halls, events and dates: organisers manage them, fans find them.

use crate::support::client::{Answer, text};
use crate::support::world::{Plan, World};
use podo_domain::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3_600);

#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_is_wrong_says_where() {
    let world = World::start().await;
    let preview = async |template: Value| {
        let body = json!({ "seatTemplate": template });
        world.organiser.post("/api/admin/layouts/preview", &body).await
    };
    let row = |row: Value| {
        json!({ "layoutType": "sections", "sections": [
        { "name": "107", "grade": "R", "rows": [row] }] })
    };
    let check = |answer: Answer, code: &str, at: &str, words: &str| {
        let error = answer.refused(422, code)["errors"][0].clone();
        let (field, detail) = (text(&error, "field"), text(&error, "detail"));
        assert!(field.contains(at) && detail.contains(words), "{field}: {detail}");
    };
    let seats = json!([{ "number": 1, "x": 0, "y": 0 }, { "number": 7, "x": "left", "y": 0 }]);
    let typed = preview(row(json!({ "label": 3, "seats": seats }))).await;
    check(typed, "INVALID", "sections[0].rows[0].seats[1].x", "section 107, row 3, seat 7");
    let seats = json!([{ "number": 1, "x": 0, "y": 0 }, { "number": 1, "x": 9, "y": 0 }]);
    let twice = preview(row(json!({ "label": 3, "seats": seats }))).await;
    check(twice, "INVALID_TEMPLATE", "seat 107-3-1", "twice");
    let line = json!({ "x": 0, "y": 0, "dx": 1, "dy": 0 });
    let both = json!({ "label": 3, "count": 2, "line": line,
        "arc": { "x": 0, "y": 0, "radius": 9, "fromDegrees": 0, "toDegrees": 90 } });
    check(preview(row(both)).await, "INVALID_TEMPLATE", "section 107: row 3", "a line and an arc");
    let unknown = json!({ "label": 3, "count": 2, "line": line, "accessible": [3] });
    check(preview(row(unknown)).await, "INVALID_TEMPLATE", "row 3: seat 3", "no such seat");
    let huge = json!({ "label": 3, "count": 60_001, "line": line });
    check(preview(row(huge)).await, "INVALID_TEMPLATE", "seats", "60,000");
    let kind = preview(json!({ "layoutType": "round" })).await;
    check(kind, "INVALID", "seatTemplate.layoutType", "grid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_previewed_and_its_schema_can_be_fetched() {
    let world = World::start().await;
    let schema = world.stranger.get("/api/layout.schema.json").await;
    assert_eq!(schema.header("content-type"), "application/schema+json");
    let template = schema.expect(200)["examples"][1].clone();
    let body = json!({ "seatTemplate": template });
    let path = "/api/admin/layouts/preview";
    let preview = world.organiser.post(path, &body).await.expect(200);
    assert_eq!(preview["seats"], 336);
    assert_eq!(preview["grades"], json!({ "R": 34, "STANDING": 300, "VIP": 2 }));
    let count = |name: &str| preview[name].as_u64().unwrap();
    let counts = ["accessible", "companion", "restrictedView", "standing"].map(count);
    assert_eq!(counts, [2, 2, 2, 300]);
    let arc = &preview["layout"]["sections"][1]["seats"];
    assert!(arc[0]["x"].as_i64() < arc[12]["x"].as_i64());
    assert!(arc[0]["y"].as_i64() < arc[12]["y"].as_i64(), "the middle of the arc is further down");
    world.fan().await.api.post(path, &body).await.refused(403, "ADMIN_ONLY");
}

/// The two layouts of the seed documents, unchanged.
#[tokio::test(flavor = "multi_thread")]
async fn the_layouts_of_the_seed_documents_are_taken_in() {
    let world = World::start().await;
    let numbers = async |template: Value| -> Vec<String> {
        let body = json!({ "seatTemplate": template });
        let preview = world.organiser.post("/api/admin/layouts/preview", &body).await.expect(200);
        let sections = preview["layout"]["sections"].as_array().unwrap().clone();
        let seats = sections.iter().flat_map(|section| section["seats"].as_array().unwrap());
        seats.map(|seat| format!("{} {}", text(seat, "number"), text(seat, "grade"))).collect()
    };
    let grid = json!({ "rows": ["A", "B", "C"], "seatsPerRow": 20,
        "gradeMapping": { "A": "VIP", "B": "S", "C": "A" } });
    let seats = numbers(grid).await;
    assert_eq!((seats.len(), seats[0].as_str(), seats[59].as_str()), (60, "A-1 VIP", "C-20 A"));
    for layout_type in ["grid", "irregular"] {
        let irregular = json!({ "layout_type": layout_type, "sections": [{ "name": "VIP",
            "seats": [{ "row": "A", "number": 1, "x": 100, "y": 50, "accessible": false }] }] });
        assert_eq!(numbers(irregular).await, ["VIP-A-1 VIP"]);
    }
    let wrong = json!({ "seatTemplate": { "layout_type": "irregular", "sections": [{ "name": "VIP",
        "seats": [{ "row": "A", "number": 1, "x": "left", "y": 50 }] }] } });
    let answer = world.organiser.post("/api/admin/layouts/preview", &wrong).await;
    let error = answer.refused(422, "INVALID")["errors"][0].clone();
    assert_eq!(error["field"], "seatTemplate.sections[0].seats[0].x");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_of_a_date_follows_its_sale_and_lists_are_filtered_by_it() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let path = format!("/api/schedules/{}", show.schedule);
    let seen = world.stranger.get(&path).await.expect(200);
    assert_eq!((&seen["status"], &seen["showStatus"]), (&json!("ONGOING"), &json!("NOT_STARTED")));
    let listed = async |status: &str| {
        let path = format!("/api/events?scheduleStatus={status}");
        world.stranger.get(&path).await.expect(200)["items"].as_array().unwrap().len()
    };
    assert_eq!((listed("ONGOING").await, listed("UPCOMING").await), (1, 0));
    world.stranger.get("/api/events?scheduleStatus=SOON").await.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stadium_drawn_seat_by_seat_is_taken_in() {
    let world = World::start().await;
    let seat = |number: u32, y: u32| json!({ "number": number, "x": number * 10, "y": y });
    let row = |row: u32| {
        let seats: Vec<Value> = (1..=200).map(|number| seat(number, row * 10)).collect();
        json!({ "label": row, "seats": seats })
    };
    let rows: Vec<Value> = (1..=100).map(row).collect();
    let template = json!({ "layoutType": "sections",
        "sections": [{ "name": "1", "grade": "R", "rows": rows }] });
    let body = json!({ "seatTemplate": template });
    let preview = world.organiser.post("/api/admin/layouts/preview", &body).await.expect(200);
    assert_eq!(preview["seats"], 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_edited_and_found_by_any_part_of_its_name() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let found = async |query: &str| {
        let query: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = world.stranger.get(&format!("/api/events?query={query}")).await.expect(200);
        let items = answer["items"].as_array().unwrap().clone();
        items.iter().any(|event| event["id"] == show.event.as_str())
    };
    for part in ["포도", "도 콘", "콘서트", "트", "청포도밴드", "포도밴"] {
        assert!(found(part).await, "{part}");
    }
    for other in ["오페라", "%", "포_도", "\\"] {
        assert!(!found(other).await, "{other}");
    }
    let path = format!("/api/admin/events/{}", show.event);
    let edit = json!({ "title": "100% Grape_Night" });
    let edited = send_patch(&world, &path, &edit).await.expect(200);
    assert_eq!(
        (text(&edited, "title"), text(&edited, "artist")),
        ("100% Grape_Night".into(), "청포도밴드".into())
    );
    for part in ["0% g", "grape_n", "GRAPE", "밴드"] {
        assert!(found(part).await, "{part}");
    }
    assert!(!found("콘서트").await && !found("grapexn").await);
    let title = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    assert_eq!(title["eventTitle"], "100% Grape_Night");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_says_what_is_left_and_what_opens_next() {
    let world = World::start().await;
    let open = world.show(Plan::default()).await;
    let ahead = world.show(Plan { opens_in: DAY, ..Plan::default() }).await;
    let reminded = world.fan().await.api;
    let reminder = format!("/api/schedules/{}/reminder", ahead.schedule);
    reminded.put(&reminder, &json!({})).await.expect(204);
    let follower = world.fan().await.api;
    follower.put(&format!("/api/events/{}/follow", ahead.event), &json!({})).await.expect(200);
    let cards = async || {
        let answer = world.stranger.get("/api/events/cards").await.expect(200);
        let card = |show: &crate::support::world::Show| {
            let items = answer["items"].as_array().unwrap();
            items.iter().find(|it| it["id"] == show.event.as_str()).unwrap().clone()
        };
        (card(&open), card(&ahead))
    };
    let (now, later) = cards().await;
    assert_eq!((&now["state"], &later["state"]), (&json!("ON_SALE"), &json!("UPCOMING")));
    assert_eq!(now["seats"], now["seatsLeft"]);
    // Both shows are of the artist who is followed.
    assert_eq!((&now["interested"], &later["interested"]), (&json!(1), &json!(2)));
    let cheapest = |show: &Value| show["priceFrom"].as_u64().unwrap();
    assert_eq!(cheapest(&now), cheapest(&later));
    assert!(now["openings"].as_array().unwrap().is_empty());
    let opening = &later["openings"][0];
    assert_eq!(opening["scheduleId"], ahead.schedule.to_string());
    assert!(opening.get("phase").is_none());

    let fan = world.fan_inside(&open).await;
    fan.hold(&open, &[0, 1]).await;
    world.clock.advance(Duration::from_secs(2));
    let (held, _) = cards().await;
    let left = |card: &Value| card["seatsLeft"].as_u64().unwrap();
    assert_eq!(left(&held) + 2, left(&now), "held seats aren't available");
    world.stranger.get("/api/events/cards?genre=POLKA").await.refused(422, "INVALID");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_has_a_genre_to_browse_by_and_an_age() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let path = format!("/api/admin/events/{}", show.event);
    let listed = async |genre: &str| {
        let answer = world.stranger.get(&format!("/api/events?genre={genre}")).await.expect(200);
        answer["items"].as_array().unwrap().len()
    };
    assert_eq!((listed("OTHER").await, listed("JAZZ").await), (1, 0));

    let edit = json!({ "genre": "JAZZ", "minimumAge": 8 });
    send_patch(&world, &path, &edit).await.expect(200);
    let edited = send_patch(&world, &path, &json!({ "title": "재즈의 밤" })).await.expect(200);
    assert_eq!((&edited["genre"], &edited["minimumAge"]), (&json!("JAZZ"), &json!(8)));
    assert_eq!((listed("OTHER").await, listed("JAZZ").await), (0, 1));
    let page = world.stranger.get(&format!("/events/{}", show.event)).await;
    assert!(page.text.contains("만 8세 이상 관람가"), "{}", page.text);

    send_patch(&world, &path, &json!({ "minimumAge": 22 })).await.refused(422, "INVALID");
    send_patch(&world, &path, &json!({ "genre": "POLKA" })).await.refused(422, "INVALID");
    world.stranger.get("/api/events?genre=POLKA").await.refused(422, "INVALID");
}

async fn send_patch(world: &World, path: &str, body: &Value) -> Answer {
    let call = world.organiser.call(reqwest::Method::PATCH, path);
    crate::support::client::send(call.json(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fans_rely_on_cannot_change() {
    let world = World::start().await;
    let later = Plan { opens_in: DAY, ..Plan::default() };
    let (early, open) = (world.show(later).await, world.show(Plan::default()).await);
    let change = async |show: &crate::support::world::Show, body: Value| {
        send_patch(&world, &format!("/api/admin/schedules/{}", show.schedule), &body).await
    };
    let changed = change(&early, json!({ "prices": { "VIP": 70_000 }, "seatsPerPerson": 2 })).await;
    let changed = changed.expect(200);
    assert_eq!(
        (&changed["prices"]["VIP"], &changed["seatsPerPerson"]),
        (&json!(70_000), &json!(2))
    );
    let fan = world.fan().await;
    let seats = fan.api.get(&format!("/api/booking/seats?scheduleId={}", early.schedule)).await;
    assert_eq!(seats.expect(200)["seats"][0]["price"], 70_000);
    change(&early, json!({ "prices": { "S": 1 } })).await.refused(422, "INVALID_TEMPLATE");
    let past = Timestamp::from_ms(0);
    change(&early, json!({ "endsAt": past })).await.refused(422, "INVALID_SCHEDULE");

    for wrong in [
        json!({ "prices": { "VIP": 1 } }),
        json!({ "seatsPerPerson": 3 }),
        json!({ "saleStartsAt": world.context().now().plus(DAY) }),
    ] {
        change(&open, wrong).await.refused(409, "SALE_BEGUN");
    }
    let end = world.context().now().plus(Duration::from_millis(300));
    change(&open, json!({ "saleEndsAt": end, "seatsPerPerson": 5 })).await.expect(200);
    let fan = world.fan_inside(&open).await;
    world.clock.advance(Duration::from_secs(1));
    fan.select(&open, &[0]).await.refused(409, "SALE_CLOSED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_held_can_be_removed() {
    let world = World::start().await;
    let (sold, unsold) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let fan = world.fan_inside(&sold).await;
    let reservation = fan.hold(&sold, &[0]).await;
    fan.release(&reservation).await.expect(204);
    let remove = async |path: String| world.organiser.delete(&path).await;
    let schedule =
        |show: &crate::support::world::Show| format!("/api/admin/schedules/{}", show.schedule);
    let event = |show: &crate::support::world::Show| format!("/api/admin/events/{}", show.event);
    remove(schedule(&sold)).await.refused(409, "IN_USE");
    remove(event(&unsold)).await.refused(409, "IN_USE");
    remove(schedule(&unsold)).await.expect(204);
    remove(schedule(&unsold)).await.refused(404, "NOT_FOUND");
    remove(event(&unsold)).await.expect(204);
    let path = format!("/api/schedules/{}", unsold.schedule);
    world.stranger.get(&path).await.refused(404, "NOT_FOUND");
    let venues = world.organiser.get("/api/admin/venues?limit=100").await.expect(200);
    let venue = &venues["items"][0];
    let hall = text(&venue["halls"][0], "id");
    remove(format!("/api/admin/venues/{}", text(venue, "id"))).await.refused(409, "IN_USE");
    remove(format!("/api/admin/halls/{hall}")).await.expect(204);
    remove(format!("/api/admin/venues/{}", text(venue, "id"))).await.expect(204);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_that_is_called_off_sells_nothing_more() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let path = format!("/api/admin/schedules/{}/cancel", show.schedule);
    let canceled = world.organiser.post(&path, &json!({})).await.expect(200);
    assert_eq!(canceled["status"], "CANCELLED");
    fan.select(&show, &[0]).await.refused(409, "SCHEDULE_CANCELED");
    let all = world.organiser.get("/api/admin/events?limit=1").await.expect(200);
    assert!(all["items"].as_array().unwrap().len() == 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hall_can_be_redrawn_for_the_dates_to_come() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let venues = world.organiser.get("/api/admin/venues").await.expect(200);
    let hall = text(&venues["items"][0]["halls"][0], "id");
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 3,
        "gradeMapping": { "A": "VIP" } });
    let patch = json!({ "name": "소극장", "seatTemplate": template });
    send_patch(&world, &format!("/api/admin/halls/{hall}"), &patch).await.expect(204);
    let stored = world.organiser.get(&format!("/api/admin/halls/{hall}/template")).await;
    assert_eq!(stored.expect(200), template);
    let kept = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    assert_eq!(kept["seats"], 20, "a date that exists keeps its seats");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_suggests_names_and_the_right_spelling() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let ask = async |query: &str| {
        let query = query.replace(' ', "+");
        let path = format!("/api/events/suggestions?query={query}");
        world.stranger.get(&path).await.expect(200)
    };
    let artist = json!({ "text": "청포도밴드" });
    let event = json!({ "text": "포도 콘서트", "eventId": show.event });
    assert_eq!(ask("청포").await, json!({ "items": [artist] }));
    assert_eq!(ask("포도").await, json!({ "items": [event, artist] }), "the beginning first");
    assert_eq!(ask("ㅊㅍㄷ").await, json!({ "items": [artist] }), "initial consonants");
    assert_eq!(ask("청포두밴드").await, json!({ "items": [], "spelling": "청포도밴드" }));
    assert_eq!(ask("바이올린").await, json!({ "items": [] }));
    world.stranger.get("/api/events/suggestions?query=").await.refused(422, "INVALID");
    world.stranger.get("/api/events/suggestions").await.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_are_found_by_their_lowest_price_over_several_pages() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 4,
        "gradeMapping": { "A": "VIP" } });
    for _ in 0..3 {
        world.show_in(template.clone(), json!({ "VIP": 900_000 }), Plan::default()).await;
    }
    let find = async |query: &str| {
        let page = world.stranger.get(&format!("/api/events/cards?{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap().iter().map(|it| text(it, "id"));
        (items.collect::<Vec<_>>(), page.get("nextCursor").cloned())
    };
    // The only cheap one is the oldest, behind three pages of one dear event each.
    let found = find("limit=1&priceMax=200000").await;
    assert_eq!(found.0, [show.event.to_string()]);
    assert_eq!(find("priceMax=1000").await, (Vec::new(), None));
    assert_eq!(find("priceMax=900000").await.0.len(), 4);
    world.stranger.get("/api/events/cards?priceMax=-1").await.refused(422, "INVALID");
}

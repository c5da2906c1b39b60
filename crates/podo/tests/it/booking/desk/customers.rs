//! The customer of the desk: at the gate, in support's search and booking page, in files and sums.

use crate::support::client::{Api, text};
use crate::support::world::{PRICE, Plan, Show, World, until};
use podo_domain::identity::permissions::{Membership, TeamRole};
use serde_json::{Value, json};

fn path(show: &Show, what: &str) -> String {
    format!("/api/admin/schedules/{}/{what}", show.schedule)
}

async fn sell(api: &Api, show: &Show, seat: u32, tender: &str) -> Value {
    let body = json!({ "seats": [{ "seatId": show.seat(seat) }], "tender": tender,
        "name": "김포도", "phone": "010-1234-5678", "note": "현장 구매" });
    api.post_new(&path(show, "box-office"), &body).await.expect(201)
}

async fn search(api: &Api, query: &str) -> Vec<Value> {
    let query = serde_urlencoded::to_string([("query", query)]).unwrap();
    let found = api.get(&format!("/api/admin/support/search?{query}")).await.expect(200);
    found["bookings"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_sees_the_customer_and_not_the_organiser_who_issued_the_ticket() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let sold = sell(&world.organiser, &show, 0, "CASH").await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 1).await;
    let list = world.organiser.get(&path(&show, "gate-list")).await.expect(200);
    let names: Vec<String> =
        list["items"].as_array().unwrap().iter().map(|it| text(it, "name")).collect();
    assert_eq!(names, ["김포도", "Fan"]);
    let ticket = podo_domain::TicketId::new(text(&sold["tickets"][0], "id").parse().unwrap());
    let known = world.context().store.ticket_at_gate(ticket).await.unwrap().unwrap();
    let code = podo_app::tickets::holders::code_text(world.context(), ticket.uuid(), &known.code);
    let scan = json!({ "code": code, "scheduleId": show.schedule, "gate": "1" });
    let admitted = world.organiser.post("/api/admin/checkin", &scan).await.expect(200);
    assert_eq!((&admitted["name"], &admitted["seatNumber"]), (&json!("김포도"), &json!("A-1")));
    world.finish().await;
}

/// The new holder is the guest from then on.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_of_the_desk_that_a_fan_accepted_carries_the_fan_s_name() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let sold = sell(&world.organiser, &show, 0, "CASH").await;
    let guest = world.fan_at("guest@podo.example").await;
    let ticket = text(&sold["tickets"][0], "id");
    let offer = json!({ "email": "guest@podo.example" });
    let transfer = format!("/api/tickets/{ticket}/transfer");
    world.organiser.post_new(&transfer, &offer).await.expect(202);
    guest.api.post_new(&format!("/api/tickets/{ticket}/accept"), &json!({})).await.expect(200);
    let list = world.organiser.get(&path(&show, "gate-list")).await.expect(200);
    assert_eq!(list["items"][0]["name"], "Fan");
}

#[tokio::test(flavor = "multi_thread")]
async fn support_finds_the_order_by_its_customer_and_shows_who_it_is() {
    let world = World::start().await;
    let (show, other) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let sold = sell(&world.organiser, &show, 0, "TERMINAL").await;
    let support = world.member(Membership::preset(TeamRole::Support)).await;
    for query in ["김포", " 김 포도", "010-1234-5678"] {
        let found = search(&support, query).await;
        assert_eq!(found.len(), 1, "{query}");
        assert_eq!(found[0]["id"], sold["reservationId"]);
        assert_eq!(
            (&found[0]["channel"], &found[0]["tender"]),
            (&json!("BOX_OFFICE"), &json!("TERMINAL"))
        );
        assert_eq!(found[0]["customer"], "김포도");
    }
    assert_eq!(search(&support, "김포도사").await, Vec::<Value>::new(), "only its beginning");
    assert_eq!(search(&support, "010-1234-5670").await, Vec::<Value>::new());
    let limited = |show: &Show| crate::identity::team::limited(TeamRole::Support, show);
    let (ours, theirs) = (world.member(limited(&show)).await, world.member(limited(&other)).await);
    assert_eq!(search(&ours, "김포도").await.len(), 1);
    assert_eq!(search(&theirs, "김포도").await, Vec::<Value>::new(), "another event");

    let page = format!("/api/admin/support/bookings/{}", text(&sold, "reservationId"));
    let seen = support.get(&page).await.expect(200);
    let issued = &seen["issued"];
    assert_eq!((&issued["name"], &issued["phone"]), (&json!("김포도"), &json!("+821012345678")));
    assert_eq!((&issued["note"], &issued["tender"]), (&json!("현장 구매"), &json!("TERMINAL")));
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 1).await;
    let page = format!("/api/admin/support/bookings/{}", bought.reservation);
    let seen = support.get(&page).await.expect(200);
    assert_eq!((&seen["reservation"]["channel"], seen.get("issued")), (&json!("FAN"), None));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_name_the_channel_and_the_till_agrees_with_the_orders() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let cash = sell(&world.organiser, &show, 0, "CASH").await;
    sell(&world.organiser, &show, 1, "CASH").await;
    sell(&world.organiser, &show, 2, "TRANSFER").await;
    let refund = format!("/api/admin/payments/{}/refund", text(&cash, "paymentId"));
    world.organiser.post_new(&refund, &json!({ "reason": "환불 요청" })).await.expect(200);
    let found = world.organiser.get(&path(&show, "cash-up")).await.expect(200);
    let row = |tender: &str, orders: u64, taken: i64, refunds: u64, refunded: i64| {
        json!({ "tender": tender, "orders": orders, "taken": taken, "refunds": refunds,
            "refunded": refunded })
    };
    let expected = [
        row("CASH", 2, 2 * PRICE, 1, PRICE),
        row("TERMINAL", 0, 0, 0, 0),
        row("TRANSFER", 1, PRICE, 0, 0),
    ];
    assert_eq!(found["items"], json!(expected));
    let later = format!("{}?from=2099-01-01T00:00:00Z", path(&show, "cash-up"));
    let later = world.organiser.get(&later).await.expect(200);
    assert_eq!(later["items"][0]["orders"], 0);
    world
        .organiser
        .get(&format!("{}?from=soon", path(&show, "cash-up")))
        .await
        .refused(422, "INVALID");

    let file = format!("{}?format=csv", path(&show, "issued-orders"));
    world.organiser.get(&file).await.refused(422, "INVALID");
    let file = world.organiser.get(&format!("{file}&reason=정산")).await;
    assert_eq!(file.status, 200);
    let file = file.text.replace('"', "");
    let lines: Vec<&str> = file.trim_start_matches('\u{feff}').lines().collect();
    assert!(
        lines[0].starts_with("reservationId,bookingNumber,status,channel,tender,paid,refunded,")
    );
    assert_eq!(lines.len(), 4);
    let column = |line: &str, at: usize| line.split(',').nth(at).unwrap().to_owned();
    let net: i64 = lines[1..]
        .iter()
        .filter(|line| column(line, 4) == "CASH")
        .map(|line| {
            column(line, 5).parse::<i64>().unwrap() - column(line, 6).parse::<i64>().unwrap()
        })
        .sum();
    assert_eq!(net, PRICE, "what is in the till");
    let all = world.organiser.get("/api/admin/reservations?format=csv&reason=정산").await;
    let all = all.text.replace('"', "");
    let head = all.lines().next().unwrap().to_owned();
    assert!(head.contains(",channel,tender,"), "{head}");
    assert_eq!(all.lines().filter(|line| line.contains(",BOX_OFFICE,TRANSFER,")).count(), 1);
    let audit = until("the export is in the audit log", async || {
        let log = world.organiser.get("/api/admin/audit?limit=100").await.expect(200);
        let log = log["items"].to_string();
        log.contains("issued-orders").then_some(log)
    });
    assert!(audit.await.contains("정산"));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_called_off_date_leaves_what_the_desk_took_to_an_organiser() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let sold = sell(&world.organiser, &show, 0, "CASH").await;
    let given = json!({ "seatIds": [show.seat(1)], "name": "초대 손님" });
    let given = world.organiser.post_new(&path(&show, "complimentary"), &given).await.expect(201);
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 2).await;
    world.organiser.post(&path(&show, "cancel"), &json!({})).await.expect(200);
    until("the refunds are done", async || {
        let run = world.organiser.get(&path(&show, "refunds")).await;
        (run.status == 200 && run.expect(200)["isDone"] == true).then_some(())
    })
    .await;
    assert_eq!(fan.balance().await, PRICE);
    let payment = |order: &Value| format!("/api/admin/payments/{}", text(order, "paymentId"));
    let seen = world.organiser.get(&payment(&sold)).await.expect(200);
    assert_eq!(seen["status"], "REFUND_DUE", "no job hands out cash");
    assert_eq!(seen["refunds"][0]["canResolve"], true, "an organiser does");
    let seen_given = world.organiser.get(&payment(&given)).await.expect(200);
    assert_eq!((&seen_given["status"], &seen_given["refunds"]), (&json!("REFUNDED"), &json!([])));
    let cash_up = async || world.organiser.get(&path(&show, "cash-up")).await.expect(200);
    assert_eq!(cash_up().await["items"][0]["refunded"], 0);
    let refund = text(&seen["refunds"][0], "id");
    let resolve = format!("{}/refunds/{refund}/resolve", payment(&sold));
    let said = json!({ "evidence": "창구에서 현금으로 돌려드렸어요" });
    let ended = world.organiser.post_new(&resolve, &said).await.expect(200);
    assert_eq!(ended["status"], "REFUNDED");
    assert_eq!(cash_up().await["items"][0]["refunded"], PRICE);
    world.organiser.post_new(&resolve, &said).await.refused(409, "NOT_STUCK");
    world.finish().await;
}

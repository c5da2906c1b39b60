//! The box office over HTTP: sales, complimentary tickets, printing, refunds.

use crate::support::client::{Answer, Api, text};
use crate::support::world::{PRICE, Plan, Show, World};
use podo_domain::SeatId;
use podo_domain::identity::permissions::{Membership, TeamRole};
use serde_json::{Value, json};

fn path(show: &Show, what: &str) -> String {
    format!("/api/admin/schedules/{}/{what}", show.schedule)
}

fn sale(show: &Show, seats: &[u32]) -> Value {
    let seats: Vec<Value> = seats.iter().map(|it| json!({ "seatId": show.seat(*it) })).collect();
    json!({ "seats": seats, "tender": "CASH", "name": "김포도", "phone": "010-1234-5678",
        "note": "현장 구매" })
}

async fn sell(api: &Api, show: &Show, seats: &[u32]) -> Answer {
    api.post_new(&path(show, "box-office"), &sale(show, seats)).await
}

async fn give(api: &Api, show: &Show, seats: &[u32]) -> Answer {
    let seats: Vec<SeatId> = seats.iter().map(|index| show.seat(*index)).collect();
    let body = json!({ "seatIds": seats, "name": "초대 손님" });
    api.post_new(&path(show, "complimentary"), &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desk_sale_is_paid_printed_listed_and_refunded_by_hand() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let body = json!({ "name": "현장", "kind": "BOX_OFFICE", "seatIds": [show.seat(0)] });
    world.organiser.post(&path(&show, "allocations"), &body).await.expect(201);
    let desk = world.member(Membership::preset(TeamRole::BoxOffice)).await;
    let sold = sell(&desk, &show, &[0, 1]).await.expect(201);
    assert_eq!((&sold["channel"], &sold["amount"]), (&json!("BOX_OFFICE"), &json!(2 * PRICE)));
    assert_eq!(sold["tickets"].as_array().unwrap().len(), 2);
    show.wait_for_letter(&world.stranger, 0, 'S').await;
    let list = world.organiser.get(&path(&show, "allocations")).await.expect(200);
    let release = format!("allocations/{}/release", text(&list["items"][0], "id"));
    let body = json!({ "seatIds": [show.seat(0)] });
    let refused = world.organiser.post(&path(&show, &release), &body).await;
    assert_eq!(refused.refused(409, "KEPT_SEATS_SOLD")["seatIds"], json!([show.seat(0)]));
    let reservation = text(&sold, "reservationId");
    let pdf = desk.get(&format!("/api/admin/reservations/{reservation}/tickets.pdf")).await;
    assert_eq!((pdf.status, pdf.header("content-type")), (200, "application/pdf"));
    let list = desk.get(&path(&show, "issued-orders")).await.expect(200);
    let first = &list["items"][0];
    assert_eq!((&first["name"], &first["phone"]), (&json!("김포도"), &json!("+821012345678")));
    assert_eq!((&first["note"], &first["tender"]), (&json!("현장 구매"), &json!("CASH")));

    let refund = format!("/api/admin/payments/{}/refund", text(&sold, "paymentId"));
    let body = json!({ "reason": "환불 요청" });
    let back = world.organiser.post_new(&refund, &body).await.expect(200);
    assert_eq!((&back["status"], &back["refundAmount"]), (&json!("REFUNDED"), &json!(2 * PRICE)));
    show.wait_for_letter(&world.stranger, 1, 'A').await;
    assert_eq!(show.letter(&world.stranger, 0).await, 'S', "it is kept again");
    let audit = world.organiser.get("/api/admin/audit?action=order.issue").await.expect(200);
    assert_eq!(audit["items"].as_array().unwrap().len(), 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn complimentary_tickets_need_a_permission_of_their_own() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let desk = world.member(Membership::preset(TeamRole::BoxOffice)).await;
    let manager = world.member(Membership::preset(TeamRole::Manager)).await;
    let viewer = world.member(Membership::preset(TeamRole::Viewer)).await;
    give(&desk, &show, &[0]).await.refused(403, "PERMISSION_MISSING");
    sell(&viewer, &show, &[0]).await.refused(403, "PERMISSION_MISSING");
    let given = give(&manager, &show, &[0]).await.expect(201);
    assert_eq!((&given["channel"], &given["amount"]), (&json!("COMPLIMENTARY"), &json!(0)));
    give(&manager, &show, &[0, 1]).await.refused(409, "SEAT_TAKEN");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fan_pays_as_if_at_the_desk() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    fan.request(&reservation, "BOX_OFFICE").await.refused(422, "UNKNOWN_GATEWAY");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_sale_is_answered_again_and_bad_input_names_its_field() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (path, body) = (path(&show, "box-office"), sale(&show, &[0]));
    let first = world.organiser.post_once(&path, "desk-0001-abcdefgh", &body).await.expect(201);
    let again = world.organiser.post_once(&path, "desk-0001-abcdefgh", &body).await.expect(201);
    assert_eq!(first, again);
    world.organiser.post(&path, &sale(&show, &[1])).await.refused(400, "IDEMPOTENCY_KEY_MISSING");
    let mut strange = sale(&show, &[1]);
    strange["seats"][0]["ticketTypeId"] = json!(99);
    let refused = world.organiser.post_new(&path, &strange).await;
    let refused = refused.refused(422, "TICKET_TYPE_UNKNOWN");
    assert_eq!(refused["errors"][0]["field"], "seats[0].ticketTypeId");
    let mut nameless = sale(&show, &[1]);
    nameless["name"] = json!(" ");
    world.organiser.post_new(&path, &nameless).await.refused(422, "INVALID");
    world.finish().await;
}

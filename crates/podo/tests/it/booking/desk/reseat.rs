//! Moving bookings to other seats, over HTTP.

use crate::identity::admin_sessions::notification;
use crate::support::client::{Answer, Api};
use crate::support::world::{PRICE, Plan, Show, World};
use podo_domain::identity::permissions::{Membership, TeamRole};
use serde_json::{Value, json};

async fn reseat(api: &Api, show: &Show, booking: &str, moves: &[(u32, u32)]) -> Answer {
    let seat = |(from, to): &(u32, u32)| json!({ "from": show.seat(*from), "to": show.seat(*to) });
    let moves: Vec<Value> = moves.iter().map(seat).collect();
    let body = json!({ "moves": moves, "reason": "카메라 자리" });
    api.post_new(&format!("/api/admin/reservations/{booking}/reseat"), &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_keeps_the_booking_number_and_hears_of_the_new_seat() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let support = world.member(Membership::preset(TeamRole::Support)).await;
    let done = reseat(&support, &show, &bought.reservation, &[(0, 7)]).await.expect(200);
    assert_eq!(done["bookingNumber"], bought.booking_number);
    assert_eq!(done["seats"][0]["number"], "A-8");
    show.wait_for_letter(&world.stranger, 7, 'S').await;
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    let ticket = fan.api.get(&format!("/api/tickets/{}", bought.ticket)).await.expect(200);
    assert_eq!((&ticket["seatNumber"], &ticket["status"]), (&json!("A-8"), &json!("VALID")));
    notification(&world, "좌석이 바뀌었어요", 1).await;
    let other = world.fan_inside(&show).await;
    other.hold(&show, &[0]).await;
    let audit = world.organiser.get("/api/admin/audit?action=booking.reseat").await.expect(200);
    assert_eq!(audit["items"].as_array().unwrap().len(), 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_moved_is_refused() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let other = world.fan_inside(&show).await;
    other.hold(&show, &[5]).await;
    let organiser = &world.organiser;
    let booking = &bought.reservation;
    let refused = reseat(organiser, &show, booking, &[(0, 5)]).await.refused(409, "SEAT_TAKEN");
    assert_eq!(refused["taken"], json!([show.seat(5)]));
    reseat(organiser, &show, booking, &[(1, 6)]).await.refused(422, "FOREIGN_SEAT");
    reseat(organiser, &show, booking, &[(0, 6), (0, 7)]).await.refused(422, "SEAT_REPEATED");
    reseat(organiser, &show, booking, &[]).await.refused(422, "NO_SEATS");
    let held = other.hold(&show, &[8]).await;
    reseat(organiser, &show, &held, &[(8, 9)]).await.refused(409, "NOT_PAID");
    let viewer = world.member(Membership::preset(TeamRole::Viewer)).await;
    reseat(&viewer, &show, booking, &[(0, 6)]).await.refused(403, "PERMISSION_MISSING");
    fan.cancel(booking).await.expect(200);
    reseat(organiser, &show, booking, &[(0, 6)]).await.refused(409, "ALREADY_CANCELED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_of_another_price_need_a_waived_difference() {
    let world = World::start().await;
    let grades = json!({ "A": "VIP", "B": "R" });
    let template = json!({ "layoutType": "grid", "rows": ["A", "B"], "seatsPerRow": 5,
        "gradeMapping": grades });
    let prices = json!({ "VIP": PRICE, "R": PRICE / 2 });
    let show = world.show_in(template, prices, Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let organiser = &world.organiser;
    let booking = &bought.reservation;
    reseat(organiser, &show, booking, &[(0, 7)]).await.refused(409, "RESEAT_OTHER_PRICE");
    let body = json!({ "moves": [{ "from": show.seat(0), "to": show.seat(7) }],
        "reason": "휠체어 자리", "waiveDifference": true });
    let path = format!("/api/admin/reservations/{booking}/reseat");
    let done = organiser.post_new(&path, &body).await.expect(200);
    assert_eq!(
        (&done["seats"][0]["grade"], &done["seats"][0]["price"]),
        (&json!("R"), &json!(PRICE))
    );
    let report = format!("/api/admin/schedules/{}/sale-report", show.schedule);
    let report = organiser.get(&report).await.expect(200);
    assert_eq!(report["revenue"], PRICE, "{report}");
    let refunded = fan.cancel(booking).await.expect(200);
    assert_eq!(refunded["refundAmount"], PRICE, "{refunded}");
    world.finish().await;
}

//! Orders with ticket types, a promotion code and fees over HTTP, from the organiser's settings to
//! the last refund.

use crate::support::client::{Answer, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World};
use reqwest::Method;
use serde_json::{Value, json};

fn options() -> Value {
    json!({
        "ticketTypes": [
            { "name": "청소년", "nameEn": "Youth", "percent": 20, "perOrder": 2,
              "proof": "학생증", "proofEn": "Student card" },
            { "name": "경로", "nameEn": "Senior", "price": 30_000 },
        ],
        "fees": {
            "booking": { "amount": 2_000, "refund": "NEVER" },
            "order": { "amount": 3_000, "refund": "ALWAYS" },
        },
    })
}

async fn set_options(world: &World, show: &Show, body: &Value) -> Answer {
    let path = format!("/api/admin/schedules/{}/price-options", show.schedule);
    world.organiser.put(&path, body).await
}

async fn add_code(world: &World, show: &Show, body: &Value) -> Answer {
    let path = format!("/api/admin/schedules/{}/promotions", show.schedule);
    world.organiser.post(&path, body).await
}

async fn choose(fan: &Fan, reservation: &str, body: &Value) -> Answer {
    fan.api.put(&format!("/api/booking/reservations/{reservation}/order"), body).await
}

/// The field that a refusal names.
fn field(problem: &Value) -> String {
    text(&problem["errors"][0], "field")
}

/// A date with types, fees and a code of 10 percent.
async fn show(world: &World) -> Show {
    let show = world.show(Plan::default()).await;
    set_options(world, &show, &options()).await.expect(200);
    let code = json!({ "code": "grapes-10", "percent": 10, "usesMax": 2, "usesPerPerson": 1 });
    add_code(world, &show, &code).await.expect(201);
    show
}

fn sum(lines: &Value) -> i64 {
    lines.as_array().unwrap().iter().map(|line| line["amount"].as_i64().unwrap()).sum()
}

/// Two seats, the second for a youth, with the code: 50,000 + 40,000 − 9,000 + 4,000 + 3,000.
const TOTAL: i64 = 88_000;

/// Holds two seats and chooses the types and the code.
async fn order(fan: &Fan, show: &Show, seats: [u32; 2]) -> String {
    let held = fan.select(show, &seats).await.expect(201);
    assert_eq!(held["amount"], 2 * PRICE + 7_000, "with the fees from the first price on");
    let reservation = text(&held, "reservationId");
    let body = json!({ "code": "Grapes 10",
        "seats": [{ "seatId": show.seat(seats[1]), "ticketTypeId": 1 }] });
    let view = choose(fan, &reservation, &body).await.expect(200);
    assert_eq!(view["amount"], TOTAL);
    assert_eq!(sum(&view["lines"]), TOTAL);
    assert_eq!(view["promotionCode"], "GRAPES10");
    reservation
}

async fn code_uses(world: &World, show: &Show) -> i64 {
    let path = format!("/api/admin/schedules/{}/promotions", show.schedule);
    world.organiser.get(&path).await.expect(200)["items"][0]["used"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_paid_from_the_wallet_agrees_with_its_lines_to_the_last_won() {
    let world = World::start().await;
    let show = show(&world).await;
    let public = format!("/api/schedules/{}", show.schedule);
    let public = world.stranger.get(&public).await.expect(200);
    assert_eq!(public["fees"]["booking"]["amount"], 2_000);
    assert_eq!(public["ticketTypes"][0]["nameEn"], "Youth");
    let fan = world.fan_inside(&show).await;
    fan.charge(TOTAL).await;
    let reservation = order(&fan, &show, [0, 1]).await;
    let wrong = json!({ "reservationId": reservation, "amount": TOTAL - 1 });
    fan.api.post_new("/api/payment/wallet", &wrong).await.refused(422, "AMOUNT_MISMATCH");
    let body = json!({ "reservationId": reservation, "amount": TOTAL });
    let paid = fan.api.post_new("/api/payment/wallet", &body).await.expect(200);
    assert_eq!(fan.balance().await, 0);
    let ticket = text(&paid["tickets"][1], "id");
    let ticket = fan.api.get(&format!("/api/tickets/{ticket}")).await.expect(200);
    assert_eq!(ticket["ticketType"]["proof"], "학생증");

    let path = format!("/api/booking/reservations/{reservation}");
    let seat = show.seat(1);
    let preview = fan.api.get(&format!("{path}/refund?seatIds={seat}")).await.expect(200);
    assert_eq!((&preview["refundAmount"], &preview["feesKept"]), (&json!(36_000), &json!(2_000)));
    let part = fan.api.post_new(&format!("{path}/cancel"), &json!({ "seatIds": [seat] })).await;
    let part = part.expect(200);
    assert_eq!((&part["refundAmount"], &part["fee"]), (&json!(36_000), &json!(2_000)));
    let left = fan.reservation(&reservation).await;
    assert_eq!(left["amount"], TOTAL - 38_000);
    assert_eq!(sum(&left["lines"]), TOTAL - 38_000);
    assert_eq!(code_uses(&world, &show).await, 1);
    world.check_invariants().await;

    let rest = fan.cancel(&reservation).await.expect(200);
    assert_eq!((&rest["refundAmount"], &rest["fee"]), (&json!(48_000), &json!(2_000)));
    assert_eq!(fan.balance().await, TOTAL - 4_000);
    assert_eq!(code_uses(&world, &show).await, 0, "the code can be used again");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_pays_the_new_amount_and_not_the_one_before_the_choice() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    let held = fan.hold(&show, &[0, 1]).await;
    let old = fan.ready(&held, "CARD").await;
    let body = json!({ "code": "GRAPES10", "seats": [] });
    let view = choose(&fan, &held, &body).await.expect(200);
    let amount = 2 * PRICE - 10_000 + 7_000;
    assert_eq!(view["amount"], amount);
    let confirm =
        json!({ "paymentId": old, "amount": 2 * PRICE + 7_000, "paymentKey": "approval" });
    fan.api.post_new("/api/payment/confirm", &confirm).await.refused(409, "PAYMENT_OVER");
    let new = fan.request(&held, "CARD").await.expect(201);
    assert_eq!(new["amount"], amount);
    fan.release(&held).await.expect(204);
    assert_eq!(code_uses(&world, &show).await, 0);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_zero_won_needs_no_gateway() {
    let world = World::start().await;
    let show = show(&world).await;
    let free = json!({ "code": "FREE", "percent": 100, "usesMax": 1 });
    add_code(&world, &show, &free).await.expect(201);
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let view = choose(&fan, &reservation, &json!({ "code": "free" })).await.expect(200);
    assert_eq!(view["amount"], 0);
    fan.request(&reservation, "CARD").await.refused(409, "NOTHING_TO_PAY");
    let body = json!({ "reservationId": reservation, "amount": 0 });
    let paid = fan.api.post_new("/api/payment/wallet", &body).await.expect(200);
    assert_eq!(paid["tickets"].as_array().unwrap().len(), 1);
    let canceled = fan.cancel(&reservation).await.expect(200);
    assert_eq!(canceled["refundAmount"], 0);
    assert!(canceled.get("refundId").is_none(), "{canceled}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_that_is_called_off_gives_everything_back() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    fan.charge(TOTAL).await;
    let reservation = order(&fan, &show, [0, 1]).await;
    let body = json!({ "reservationId": reservation, "amount": TOTAL });
    fan.api.post_new("/api/payment/wallet", &body).await.expect(200);
    let path = format!("/api/admin/schedules/{}/cancel", show.schedule);
    world.organiser.post(&path, &json!({})).await.expect(200);
    let canceled = fan.cancel(&reservation).await;
    if canceled.status == 200 {
        assert_eq!(canceled.expect(200)["refundAmount"], TOTAL);
    }
    crate::support::world::until("everything is refunded", async || {
        (fan.balance().await == TOTAL).then_some(())
    })
    .await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisers_refund_says_what_becomes_of_the_fees() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    fan.charge(TOTAL).await;
    let reservation = order(&fan, &show, [0, 1]).await;
    let body = json!({ "reservationId": reservation, "amount": TOTAL });
    let paid = fan.api.post_new("/api/payment/wallet", &body).await.expect(200);
    let path = format!("/api/admin/payments/{}/refund", text(&paid, "paymentId"));
    let all = json!({ "reason": "무대가 안 보여요", "refundFees": true });
    let made = world.organiser.post_new(&path, &all).await.expect(200);
    assert_eq!((&made["refundAmount"], &made["fee"]), (&json!(TOTAL), &json!(0)));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_types_fees_and_codes_are_refused_by_field() {
    let world = World::start().await;
    let show = show(&world).await;
    let type_with = |key: &str, value: Value| {
        let mut body = json!({ "name": "학생", "nameEn": "Student", "percent": 10 });
        body[key] = value;
        json!({ "ticketTypes": [body] })
    };
    for (body, name) in [
        (type_with("percent", json!(101)), "ticketTypes[0].percent"),
        (type_with("won", json!(1_000)), "ticketTypes[0].percent"),
        (type_with("proof", json!("학생증")), "ticketTypes[0].proofEn"),
        (type_with("grades", json!(["S"])), "ticketTypes[0].grades"),
        (type_with("perOrder", json!(11)), "ticketTypes[0].perOrder"),
        (json!({ "fees": { "order": { "amount": 0, "refund": "NEVER" } } }), "orderFee.amount"),
    ] {
        let problem = set_options(&world, &show, &body).await;
        assert_eq!(field(&problem.refused(422, "INVALID_PRICE_OPTIONS")), name);
    }
    let negative = |key: &str| {
        let mut body = json!({ "ticketTypes": [{ "name": "청소년", "nameEn": "Youth" }] });
        body["ticketTypes"][0][key] = json!(-1);
        body
    };
    for key in ["won", "price", "percent"] {
        let problem = set_options(&world, &show, &negative(key)).await.refused(422, "INVALID");
        assert_eq!(field(&problem), format!("ticketTypes[0].{key}"), "below zero");
    }
    for key in ["won", "price", "percent"] {
        let mut body = json!({ "code": "AUTUMN", "usesMax": 5 });
        body[key] = json!(-1);
        let problem = add_code(&world, &show, &body).await.refused(422, "INVALID");
        assert_eq!(field(&problem), key, "below zero");
    }
    let code = |key: &str, value: Value| {
        let mut body = json!({ "code": "AUTUMN", "percent": 10, "usesMax": 5 });
        body[key] = value;
        body
    };
    for (body, name) in [
        (code("percent", json!(0)), "percent"),
        (code("won", json!(5)), "percent"),
        (code("usesMax", json!(0)), "usesMax"),
        (code("usesPerPerson", json!(6)), "usesPerPerson"),
        (code("grades", json!(["S"])), "grades"),
    ] {
        let problem = add_code(&world, &show, &body).await.refused(422, "INVALID_PROMOTION");
        assert_eq!(field(&problem), name);
    }
    let twice = add_code(&world, &show, &code("code", json!("GRAPES-10"))).await;
    assert_eq!(field(&twice.refused(409, "PROMOTION_EXISTS")), "code");
    let path = format!("/api/admin/schedules/{}/price-options", show.schedule);
    let options = world.organiser.get(&path).await.expect(200);
    assert_eq!(options["ticketTypes"].as_array().unwrap().len(), 2, "unchanged");

    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let unknown = json!({ "seats": [{ "seatId": show.seat(0), "ticketTypeId": 9 }] });
    let problem = choose(&fan, &reservation, &unknown).await.refused(422, "TICKET_TYPE_UNKNOWN");
    assert_eq!(field(&problem), "seats[0].ticketTypeId");
    let problem = choose(&fan, &reservation, &json!({ "code": "NONE" })).await;
    assert_eq!(field(&problem.refused(422, "PROMOTION_WRONG")), "code");
    let stranger = world.fan().await;
    choose(&stranger, &reservation, &json!({})).await.refused(404, "NOT_FOUND");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_ends_changes_and_removes_codes() {
    let world = World::start().await;
    let show = show(&world).await;
    let list = format!("/api/admin/schedules/{}/promotions", show.schedule);
    let code = world.organiser.get(&list).await.expect(200)["items"][0].clone();
    assert_eq!((&code["code"], &code["percent"]), (&json!("GRAPES10"), &json!(10)));
    let path = format!("{list}/{}", text(&code, "id"));
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    choose(&fan, &reservation, &json!({ "code": "GRAPES10" })).await.expect(200);
    world.organiser.delete(&path).await.refused(409, "IN_USE");
    let patch = async |body: Value| {
        crate::support::client::send(world.organiser.call(Method::PATCH, &path).json(&body)).await
    };
    patch(json!({ "usesMax": 0 })).await.refused(422, "INVALID_PROMOTION");
    assert_eq!(patch(json!({ "usesMax": 1 })).await.expect(200)["usesMax"], 1);
    let other = world.fan_inside(&show).await;
    let second = other.hold(&show, &[1]).await;
    choose(&other, &second, &json!({ "code": "GRAPES10" })).await.refused(409, "PROMOTION_USED_UP");
    fan.release(&reservation).await.expect(204);
    world.organiser.delete(&path).await.expect(204);
    choose(&other, &second, &json!({ "code": "GRAPES10" })).await.refused(422, "PROMOTION_WRONG");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_for_another_grade_is_refused_with_its_field_and_the_order_stays_as_it_was() {
    let world = World::start().await;
    let template = json!({ "layoutType": "grid", "rows": ["A", "B"], "seatsPerRow": 4,
        "gradeMapping": { "A": "VIP", "B": "R" } });
    let prices = json!({ "VIP": PRICE, "R": PRICE });
    let show = world.show_in(template, prices, Plan::default()).await;
    let code = json!({ "code": "ONLYR", "percent": 10, "usesMax": 2, "grades": ["R"] });
    add_code(&world, &show, &code).await.expect(201);
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let problem = choose(&fan, &reservation, &json!({ "code": "ONLYR" })).await;
    assert_eq!(field(&problem.refused(422, "PROMOTION_OTHER_GRADE")), "code");
    assert_eq!(fan.reservation(&reservation).await["amount"], PRICE);
    assert_eq!(code_uses(&world, &show).await, 0);
    world.finish().await;
}

/// An early-bird ticket needs no proof at the gate. A proof that is asked for is named in both
/// languages.
#[tokio::test(flavor = "multi_thread")]
async fn a_type_without_a_proof_is_a_plain_discount() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let early = json!({ "name": "조기 예매", "nameEn": "Early bird", "percent": 10 });
    let body = |more: &[(&str, &str)]| {
        let mut early = early.clone();
        for (key, value) in more {
            early[*key] = json!(value);
        }
        json!({ "ticketTypes": [early] })
    };
    for (given, missing) in [("proof", "proofEn"), ("proofEn", "proof")] {
        let problem = set_options(&world, &show, &body(&[(given, "Card")])).await;
        let problem = problem.refused(422, "INVALID_PRICE_OPTIONS");
        assert_eq!(field(&problem), format!("ticketTypes[0].{missing}"));
    }
    for blank in ["proof", "proofEn"] {
        let problem = set_options(&world, &show, &body(&[(blank, " ")])).await;
        assert_eq!(field(&problem.refused(422, "INVALID")), format!("ticketTypes[0].{blank}"));
    }
    let set = set_options(&world, &show, &body(&[])).await.expect(200);
    assert!(set["ticketTypes"][0].get("proof").is_none());
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let seats = json!({ "seats": [{ "seatId": show.seat(0), "ticketTypeId": 1 }] });
    let view = choose(&fan, &reservation, &seats).await.expect(200);
    assert_eq!(view["amount"], PRICE * 9 / 10);
    world.finish().await;
}

//! A concert in Berlin, sold in euros, and one in Seoul, sold in won, on one server: prices, payments,
//! refunds, dates, receipts and sums of each stay its own.

use crate::support::client::{Answer, send, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use podo_testbed::Gateways;
use podo_testbed::gateways::{Fault, RefundFault};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// 50.50 euros, and a fee of 1.50.
const CENTS: i64 = 5_050;
const FEE: i64 = 150;
const WON: i64 = 99_000;

fn settings(url: &str) -> Vec<(&str, &str)> {
    vec![
        ("PODO_PUBLIC_URL", "http://podo.example"),
        ("PODO_TOSS_URL", url),
        ("PODO_TOSS_CLIENT_KEY", "test_ck"),
        ("PODO_TOSS_SECRET_KEY", "test_sk"),
    ]
}

fn with_stripe(url: &str) -> Vec<(&str, &str)> {
    let mut all = settings(url);
    all.extend([
        ("PODO_STRIPE_URL", url),
        ("PODO_STRIPE_PUBLISHABLE_KEY", "pk_test_x"),
        ("PODO_STRIPE_SECRET_KEY", "sk_test_x"),
        ("PODO_STRIPE_WEBHOOK_SECRETS", "whsec_x"),
        ("PODO_GATEWAY_FEES", "stripe:2.5"),
    ]);
    all
}

/// The year after this one: its July and December are ahead whenever the test runs.
fn next_year(world: &World) -> i32 {
    let now = world.context().now().to_string();
    now[..4].parse::<i32>().unwrap() + 1
}

/// A hall and what an event needs of it.
async fn hall(world: &World, city: &str, zone: Option<&str>) -> (String, String) {
    let mut venue = json!({ "name": format!("{city} Arena"), "address": "1 Ring", "city": city });
    if let Some(zone) = zone {
        venue["timeZone"] = json!(zone);
    }
    let venue = text(&world.organiser.post("/api/admin/venues", &venue).await.expect(201), "id");
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 20,
        "gradeMapping": { "A": "VIP" } });
    let hall = json!({ "name": "Hall", "seatTemplate": template });
    let path = format!("/api/admin/venues/{venue}/halls");
    let hall = text(&world.organiser.post(&path, &hall).await.expect(201), "id");
    (venue, hall)
}

async fn date(world: &World, event: &str, starts_at: &str, price: i64) -> Show {
    let now = world.context().now();
    let queue = Plan::default().queue("AUTO");
    let ends_at = starts_at.replace(":00:00Z", ":59:00Z");
    let body = json!({ "startsAt": starts_at, "endsAt": ends_at, "saleStartsAt": now,
        "saleEndsAt": starts_at, "prices": { "VIP": price }, "queue": queue });
    let path = format!("/api/admin/events/{event}/schedules");
    let made = world.organiser.post(&path, &body).await.expect(201);
    Show { event: event.to_owned(), schedule: text(&made, "id").parse().unwrap() }
}

/// A published event in this currency; the server's own if none is named.
async fn event(world: &World, city: &str, zone: Option<&str>, currency: Option<&str>) -> String {
    let (venue, hall) = hall(world, city, zone).await;
    let mut body = json!({ "title": format!("Podo in {city}"), "artist": "The Grapes",
        "venueId": venue, "hallId": hall });
    if let Some(currency) = currency {
        body["currency"] = json!(currency);
    }
    let event = text(&world.organiser.post("/api/admin/events", &body).await.expect(201), "id");
    let path = format!("/api/admin/events/{event}/open");
    world.organiser.post(&path, &json!({})).await.expect(200);
    event
}

/// Buys seats by card at this gateway; returns the reservation and the order at the gateway.
async fn buy(gateways: &Gateways, fan: &Fan, show: &Show, gateway: &str) -> (String, String) {
    let reservation = fan.hold(show, &[0, 1]).await;
    let held = fan.reservation(&reservation).await;
    let body = json!({ "reservationId": reservation, "method": "CARD", "gateway": gateway });
    let ready = fan.api.post_new("/api/payment/request", &body).await.expect(201);
    assert_eq!(ready["currency"], held["currency"]);
    let order = text(&ready, "orderId");
    gateways.approve(&order, Fault::None, RefundFault::None);
    let prefix = if gateway == "stripe" { "pi" } else { "tk" };
    let body = json!({ "paymentId": ready["paymentId"], "amount": ready["amount"],
        "paymentKey": format!("{prefix}_{order}") });
    let paid = fan.api.post_new("/api/payment/confirm", &body).await.expect(200);
    assert_eq!(paid["reservation"]["status"], "CONFIRMED");
    (reservation, order)
}

async fn patch(world: &World, path: &str, edit: &Value) -> Answer {
    send(world.organiser.call(Method::PATCH, path).json(edit)).await
}

async fn settlement(world: &World, event: &str) -> Value {
    let path = format!("/api/admin/events/{event}/settlement?from=2020-01-01&to=2100-01-01");
    world.organiser.get(&path).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concert_in_berlin_and_one_in_seoul_keep_their_money_and_their_clocks() {
    let gateways = Gateways::start().unwrap();
    let url = gateways.url();
    let world = World::with(&with_stripe(&url)).await;
    let berlin = event(&world, "Berlin", Some("Europe/Berlin"), Some("EUR")).await;
    let seoul = event(&world, "Seoul", None, None).await;
    let year = next_year(&world);
    let summer = date(&world, &berlin, &format!("{year}-07-10T18:00:00Z"), CENTS).await;
    date(&world, &berlin, &format!("{year}-12-10T19:00:00Z"), CENTS).await;
    let home = date(&world, &seoul, &format!("{year}-07-10T10:00:00Z"), WON).await;
    let options = json!({ "ticketTypes": [],
        "fees": { "booking": { "amount": FEE, "refund": "NEVER" } } });
    let path = format!("/api/admin/schedules/{}/price-options", summer.schedule);
    world.organiser.put(&path, &options).await.expect(200);
    let policy = json!({ "steps": [{ "daysBefore": 730, "feePercent": 10 },
        { "daysBefore": 0, "feePercent": 10 }] });
    let path = format!("/api/admin/events/{berlin}/refund-policy");
    world.organiser.put(&path, &policy).await.expect(200);

    // What fans see of it: a card, euros, and the clocks of Berlin before and after they change.
    let shown = world.stranger.get(&format!("/api/events/{berlin}")).await.expect(200);
    assert_eq!((&shown["currency"], &shown["timeZone"]), (&json!("EUR"), &json!("Europe/Berlin")));
    assert_eq!(shown["paymentMethods"], json!(["CARD"]));
    assert_eq!(shown["schedules"][0]["currency"], "EUR");
    let last_day = shown["refundDates"][0]["periods"].as_array().unwrap().last().unwrap();
    assert_eq!(last_day["until"], format!("{year}-07-10"));
    let page = world.stranger.get(&format!("/events/{berlin}")).await.text;
    for words in ["€50.50", "€1.50", "20:00 CEST", "20:00 CET"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let there = world.stranger.get(&format!("/api/events/{seoul}")).await.expect(200);
    assert_eq!((&there["currency"], &there["timeZone"]), (&json!("KRW"), &json!("Asia/Seoul")));
    assert_eq!(there["paymentMethods"], json!(["CARD", "WALLET"]));

    let fan = world.fan_inside(&summer).await;
    only_stripe_charges_euros(&fan, &summer).await;
    let (mine, order) = buy(&gateways, &fan, &summer, "stripe").await;
    let charged = 2 * (CENTS + FEE);
    assert_eq!(gateways.order(&order).unwrap().captured, charged, "cents");
    let other = world.fan_inside(&home).await;
    let (theirs, at_toss) = buy(&gateways, &other, &home, "toss").await;
    assert_eq!(gateways.order(&at_toss).unwrap().captured, 2 * WON);
    let desk = json!({ "seats": [{ "seatId": summer.seat(9) }], "tender": "CASH",
        "name": "Kim Podo" });
    let path = format!("/api/admin/schedules/{}/box-office", summer.schedule);
    let sold = world.organiser.post_new(&path, &desk).await.expect(201);
    assert_eq!((&sold["amount"], &sold["currency"]), (&json!(CENTS), &json!("EUR")));

    refund_one_of_each(&world, &gateways, [(&fan, &mine, &summer), (&other, &theirs, &home)]).await;
    let back = CENTS * 9 / 10;
    assert_eq!(gateways.order(&order).unwrap().refunded, back);
    assert_eq!(gateways.order(&at_toss).unwrap().refunded, WON);

    check_papers(&world, [(&fan, &mine), (&other, &theirs)]).await;
    let euros = settlement(&world, &berlin).await;
    assert_eq!((&euros["currency"], &euros["timeZone"]), (&json!("EUR"), &json!("Europe/Berlin")));
    let total = &euros["total"];
    assert_eq!((&total["charged"], &total["refunded"]), (&json!(charged + CENTS), &json!(back)));
    assert_eq!(total["gatewayFees"], charged * 25 / 1_000);
    let won = settlement(&world, &seoul).await;
    assert_eq!((&won["currency"], &won["total"]["charged"]), (&json!("KRW"), &json!(2 * WON)));
    check_day(&world, [("EUR", charged + CENTS, back), ("KRW", 2 * WON, WON)]).await;

    // What was sold in euros stays in euros.
    let path = format!("/api/admin/events/{berlin}");
    let edit = patch(&world, &path, &json!({ "currency": "USD" })).await;
    let fixed = edit.refused(409, "CURRENCY_FIXED");
    assert_eq!(fixed["errors"][0]["field"], "currency");
    patch(&world, &path, &json!({ "currency": "EUR", "genre": "JAZZ" })).await.expect(200);
    world.finish().await;
}

/// Toss and the wallet have won; a fan with won in the wallet is refused, too.
async fn only_stripe_charges_euros(fan: &Fan, summer: &Show) {
    fan.charge(1_000_000).await;
    let reservation = fan.hold(summer, &[5]).await;
    let ask = |gateway: &str| json!({ "reservationId": reservation, "method": "CARD", "gateway": gateway });
    let refused = fan.api.post_new("/api/payment/request", &ask("toss")).await;
    let refused = refused.refused(422, "CURRENCY_UNAVAILABLE");
    assert_eq!(refused["errors"][0]["field"], "gateway");
    fan.request(&reservation, "WALLET").await.refused(409, "METHOD_NOT_OFFERED");
    let body = json!({ "reservationId": reservation, "amount": CENTS + FEE });
    let wallet = fan.api.post_new("/api/payment/wallet", &body).await;
    wallet.refused(409, "METHOD_NOT_OFFERED");
    assert_eq!(fan.release(&reservation).await.status, 204);
}

/// One seat of each order goes back to the card; to the wallet only won may go.
async fn refund_one_of_each(world: &World, gateways: &Gateways, orders: [(&Fan, &str, &Show); 2]) {
    for (fan, reservation, show) in orders {
        let path = format!("/api/booking/reservations/{reservation}/cancel");
        if fan.reservation(reservation).await["currency"] == "EUR" {
            let body = json!({ "reason": "ill", "seatIds": [show.seat(1)], "refundTo": "WALLET" });
            let refused = fan.api.post_new(&path, &body).await.refused(422, "WALLET_CURRENCY");
            assert_eq!(refused["errors"][0]["field"], "refundTo");
        }
        let body = json!({ "reason": "ill", "seatIds": [show.seat(1)] });
        fan.api.post_new(&path, &body).await.expect(200);
    }
    until("both gateways have refunded", async || {
        world.clock.advance(Duration::from_secs(5));
        let charged = gateways.charged();
        charged.iter().all(|(_, order)| order.refunded > 0).then_some(())
    })
    .await;
    for (fan, reservation, _) in orders {
        until("our book shows it", async || {
            let path = format!("/api/booking/reservations/{reservation}/receipt");
            let receipt = fan.api.get(&path).await.expect(200);
            (receipt["payment"]["status"] == "PARTIALLY_REFUNDED").then_some(())
        })
        .await;
    }
}

/// Receipts and mails: Korean tax is on the Korean one only, and each has its own money and time.
async fn check_papers(world: &World, [berlin, seoul]: [(&Fan, &str); 2]) {
    let receipt = async |(fan, reservation): (&Fan, &str)| {
        let path = format!("/api/booking/reservations/{reservation}/receipt");
        let pdf = fan.api.get(&format!("{path}.pdf")).await;
        assert!(pdf.status == 200 && pdf.text.starts_with("%PDF"), "{}", pdf.status);
        fan.api.get(&path).await.expect(200)
    };
    let (abroad, home) = (receipt(berlin).await, receipt(seoul).await);
    assert_eq!(
        (&abroad["currency"], &abroad["timeZone"]),
        (&json!("EUR"), &json!("Europe/Berlin"))
    );
    assert_eq!(abroad["tax"], Value::Null, "{abroad}");
    assert_eq!(home["currency"], "KRW");
    assert_eq!(home["tax"]["vat"], 2 * WON / 11);
    let read = async |wanted: &str| {
        until(&format!("a mail says {wanted}"), async || {
            let mails = world.organiser.get("/api/admin/mailbox?limit=100").await.expect(200);
            let items = mails["items"].as_array().unwrap().clone();
            items.iter().any(|it| it["body"].as_str().unwrap_or("").contains(wanted)).then_some(())
        })
        .await;
    };
    read("€104.00").await;
    read("198,000원").await;
}

/// The gateways' books of the day agree with ours, in every currency by itself.
async fn check_day(world: &World, expected: [(&str, i64, i64); 2]) {
    let number = podo_domain::booking::reservations::booking_number(world.context().now(), 0);
    let day = format!("{}-{}-{}", &number[2..6], &number[6..8], &number[8..10]);
    let path = format!("/api/admin/reconciliation?day={day}");
    let report = world.organiser.get(&path).await.expect(200);
    assert_eq!(report["nDifferences"], 0, "{report:#}");
    for (currency, captured, refunded) in expected {
        let sums = report["sums"].as_array().unwrap();
        let sum = sums.iter().find(|sum| sum["currency"] == currency).unwrap();
        let found = (&sum["captured"], &sum["refunded"]);
        assert_eq!(found, (&json!(captured), &json!(refunded)), "{currency}: {report:#}");
    }
    assert_eq!(report["captured"], expected[1].1, "of the server's own currency");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_offers_only_what_charges_its_currency() {
    let gateways = Gateways::start().unwrap();
    let url = gateways.url();
    let world = World::with(&settings(&url)).await;
    let (venue, hall) = hall(&world, "Berlin", Some("Europe/Berlin")).await;
    let body = |currency: &str, methods: Value| {
        json!({ "title": "x", "artist": "y", "venueId": venue, "hallId": hall,
            "currency": currency, "paymentMethods": methods })
    };
    let field = |refused: Value| text(&refused["errors"][0], "field");
    for (body, code, wrong) in [
        // Toss charges won only.
        (body("EUR", json!(["CARD"])), "CURRENCY_UNAVAILABLE", "currency"),
        (body("EUR", json!(["CARD", "WALLET"])), "WALLET_CURRENCY", "paymentMethods"),
        (body("CHF", json!(["CARD"])), "INVALID", "currency"),
    ] {
        let answer = world.organiser.post("/api/admin/events", &body).await;
        assert_eq!(field(answer.refused(422, code)), wrong);
    }
    world.finish().await;

    let world = World::with(&with_stripe(&url)).await;
    let (venue, hall) = self::hall(&world, "Berlin", Some("Europe/Berlin")).await;
    let body = |methods: Value| {
        json!({ "title": "x", "artist": "y", "venueId": venue, "hallId": hall,
            "currency": "EUR", "paymentMethods": methods })
    };
    let kakao = world.organiser.post("/api/admin/events", &body(json!(["KAKAO_PAY"]))).await;
    assert_eq!(field(kakao.refused(422, "CURRENCY_UNAVAILABLE")), "paymentMethods");
    let made = world.organiser.post("/api/admin/events", &body(json!(["CARD"]))).await.expect(201);
    let path = format!("/api/admin/events/{}", text(&made, "id"));
    let edit = json!({ "paymentMethods": ["CARD", "WALLET"] });
    let wallet = patch(&world, &path, &edit).await;
    assert_eq!(field(wallet.refused(422, "WALLET_CURRENCY")), "paymentMethods");
    // Before anything is sold, the currency may change with the methods.
    let edit = json!({ "currency": "KRW", "paymentMethods": ["CARD", "WALLET"] });
    let edited = patch(&world, &path, &edit).await.expect(200);
    assert_eq!(edited["currency"], "KRW");
    // A price beyond the limit of one payment.
    let event = event(&world, "Hamburg", Some("Europe/Berlin"), Some("EUR")).await;
    let starts = format!("{}-07-10T18:00:00Z", next_year(&world));
    let body = json!({ "startsAt": starts, "endsAt": starts.replace(":00:00Z", ":30:00Z"),
        "saleStartsAt": world.context().now(), "saleEndsAt": starts,
        "prices": { "VIP": 10_000_001 } });
    let path = format!("/api/admin/events/{event}/schedules");
    world.organiser.post(&path, &body).await.refused(422, "INVALID_TEMPLATE");
    world.finish().await;
}

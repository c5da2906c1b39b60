//! The settlement of an event: by way of paying, with refunds, as a table and as a file.

use crate::support::client::text;
use crate::support::world::{PRICE, Plan, World};
use serde_json::{Value, json};

/// The line of a method.
fn line<'a>(found: &'a Value, method: &str) -> &'a Value {
    let lines = found["lines"].as_array().unwrap();
    lines.iter().find(|line| line["method"] == method).unwrap_or_else(|| panic!("{found}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settlement_adds_up_to_what_was_charged_and_refunded() {
    let world = World::with(&[("PODO_GATEWAY_FEES", "sandbox:3.3")]).await;
    let show = world.show(Plan::default()).await;
    let options = json!({
        "ticketTypes": [], "fees": { "booking": { "amount": 1_000, "refund": "NEVER" } },
    });
    let path = format!("/api/admin/schedules/{}/price-options", show.schedule);
    world.organiser.put(&path, &options).await.expect(200);
    let policy = json!({ "steps": [{ "daysBefore": 730, "feePercent": 10 },
                                   { "daysBefore": 0, "feePercent": 10 }] });
    let path = format!("/api/admin/events/{}/refund-policy", show.event);
    world.organiser.put(&path, &policy).await.expect(200);
    let fan = world.fan_inside(&show).await;
    fan.charge(3 * PRICE).await;
    let reservation = fan.hold(&show, &[0, 1]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    let amount = 2 * (PRICE + 1_000);
    let body = json!({ "paymentId": payment, "amount": amount });
    fan.api.post_new("/api/payment/confirm", &body).await.expect(200);
    let path = format!("/api/booking/reservations/{reservation}/cancel");
    let body = json!({ "seatIds": [show.seat(1)] });
    let canceled = fan.api.post_new(&path, &body).await.expect(200);
    assert_eq!(canceled["refundAmount"], PRICE * 9 / 10);

    let desk = json!({ "seats": [{ "seatId": show.seat(3) }], "tender": "CASH",
        "name": "Kim Podo" });
    let path = format!("/api/admin/schedules/{}/box-office", show.schedule);
    world.organiser.post_new(&path, &desk).await.expect(201);

    let path = format!("/api/admin/events/{}/settlement", show.event);
    let period = "from=2020-01-01&to=2100-01-01";
    let found = world.organiser.get(&format!("{path}?{period}")).await.expect(200);
    let wallet = line(&found, "WALLET");
    let of = |line: &Value, name: &str| line[name].as_i64().unwrap();
    assert_eq!(of(line(&found, "BOX_OFFICE"), "charged"), PRICE);
    assert_eq!(
        of(wallet, "gross") - of(wallet, "discounts") + of(wallet, "fees"),
        of(wallet, "charged")
    );
    assert_eq!(of(wallet, "refunded"), PRICE * 9 / 10);
    assert_eq!(of(wallet, "retained"), PRICE / 10 + 1_000);
    // The sum is what the payments say.
    let payments = world.organiser.get("/api/admin/payments?limit=100").await.expect(200);
    let sum = |name: &str| {
        let items = payments["items"].as_array().unwrap().iter();
        items.map(|it| it[name].as_i64().unwrap_or_default()).sum::<i64>()
    };
    let total = &found["total"];
    assert_eq!((of(total, "charged"), of(total, "refunded")), (sum("captured"), sum("refunded")));
    assert_eq!(
        of(total, "net"),
        of(total, "charged") - of(total, "refunded") - of(total, "gatewayFees")
    );
    let earlier = format!("{path}?from=2020-01-01&to=2020-01-31");
    let none = world.organiser.get(&earlier).await.expect(200);
    assert_eq!((&none["lines"], &none["total"]["net"]), (&json!([]), &json!(0)));

    let file = world.organiser.get(&format!("{path}.csv?{period}")).await;
    assert!(file.status == 200 && file.text.contains("\"TOTAL\",\"\",2,3,"), "{}", file.text);
    for (odd, field) in
        [("from=2020-02-30&to=2020-03-01", "from"), ("from=2020-03-02&to=2020-03-01", "to")]
    {
        let refused = world.organiser.get(&format!("{path}?{odd}")).await.refused(422, "INVALID");
        assert_eq!(text(&refused["errors"][0], "field"), field);
    }
    world.finish().await;
}

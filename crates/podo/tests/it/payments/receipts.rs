//! Receipts: what was bought, the tax in it, who sells, and what went back.

use crate::support::client::{send, text};
use crate::support::world::{PRICE, Plan, World};
use reqwest::Method;
use serde_json::{Value, json};

const SELLER: [(&str, &str); 2] =
    [("PODO_BUSINESS_NAME", "포도 주식회사"), ("PODO_BUSINESS_NUMBER", "2208162517")];

fn path(reservation: &str) -> String {
    format!("/api/booking/reservations/{reservation}/receipt")
}

fn sum_of_lines(receipt: &Value) -> i64 {
    receipt["lines"].as_array().unwrap().iter().map(|line| line["amount"].as_i64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_says_what_was_paid_to_whom_and_what_went_back() {
    let world = World::with(&SELLER).await;
    let show = world.show(Plan::default()).await;
    let options = json!({
        "ticketTypes": [], "fees": { "booking": { "amount": 1_000, "refund": "NEVER" },
                                     "order": { "amount": 3_000, "refund": "NEVER" } },
    });
    let prices = format!("/api/admin/schedules/{}/price-options", show.schedule);
    world.organiser.put(&prices, &options).await.expect(200);
    let (fan, other) = (world.fan_inside(&show).await, world.fan().await);
    fan.charge(3 * PRICE).await;
    let reservation = fan.hold(&show, &[0, 1]).await;
    fan.api.get(&path(&reservation)).await.refused(409, "NOT_PAID");
    let amount = 2 * (PRICE + 1_000) + 3_000;
    let body = json!({ "reservationId": reservation, "amount": amount });
    let paid = fan.api.post_new("/api/payment/wallet", &body).await.expect(200);
    other.api.get(&path(&reservation)).await.refused(404, "NOT_FOUND");

    let receipt = fan.api.get(&path(&reservation)).await.expect(200);
    assert_eq!(receipt["seller"], json!({ "name": "포도 주식회사", "number": "220-81-62517" }));
    assert_eq!((&receipt["amount"], sum_of_lines(&receipt)), (&json!(amount), amount));
    let tax = |receipt: &Value, part: &str| receipt["tax"][part].as_i64().unwrap();
    assert_eq!(tax(&receipt, "supply") + tax(&receipt, "vat"), amount);
    assert_eq!(tax(&receipt, "vat"), (2 * amount + 11) / 22);
    assert_eq!(receipt["bookingNumber"], paid["reservation"]["bookingNumber"]);
    assert_eq!(
        (&receipt["payment"]["method"], &receipt["seats"]),
        (&json!("WALLET"), &json!(["A-1", "A-2"]))
    );

    // A canceled seat stays on the receipt, and its refund appears.
    let cancel = json!({ "seatIds": [show.seat(1)] });
    let to = format!("/api/booking/reservations/{reservation}/cancel");
    fan.api.post_new(&to, &cancel).await.expect(200);
    let after = fan.api.get(&path(&reservation)).await.expect(200);
    assert_eq!((&after["lines"], &after["amount"]), (&receipt["lines"], &receipt["amount"]));
    assert_eq!(after["payment"]["refunds"][0]["amount"], PRICE);

    let event = format!("/api/admin/events/{}", show.event);
    let exempt = json!({ "vatExempt": true });
    send(world.organiser.call(Method::PATCH, &event).json(&exempt)).await.expect(200);
    let exempt = fan.api.get(&path(&reservation)).await.expect(200);
    assert_eq!((tax(&exempt, "exempt"), tax(&exempt, "vat")), (2 * PRICE, 455));
    let pdf = fan.api.get(&format!("{}.pdf", path(&reservation))).await;
    assert_eq!((pdf.status, pdf.header("content-type")), (200, "application/pdf"));
    assert!(pdf.text.starts_with("%PDF-"));
    other.api.get(&format!("{}.pdf", path(&reservation))).await.refused(404, "NOT_FOUND");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_names_the_method_and_the_charge_and_an_attempt_that_failed_has_none() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    for choice in ["DECLINE", "APPROVE"] {
        let ready = fan.request(&reservation, "CARD").await.expect(201);
        let order = text(&ready, "orderId");
        let choose = format!("/api/payment/sandbox/{order}");
        let chosen = fan.api.post(&choose, &json!({ "choice": choice })).await.expect(200);
        let body = json!({ "paymentId": ready["paymentId"], "amount": PRICE,
            "paymentKey": chosen["paymentKey"] });
        fan.api.post_new("/api/payment/confirm", &body).await;
        let receipt = fan.api.get(&path(&reservation)).await;
        match choice {
            "DECLINE" => drop(receipt.refused(409, "NOT_PAID")),
            _ => {
                let receipt = receipt.expect(200);
                assert_eq!(receipt["payment"]["id"], ready["paymentId"]);
                assert_eq!(receipt["payment"]["paidWith"], "CARD");
                assert_eq!(receipt["reference"], chosen["paymentKey"]);
                assert_eq!(receipt["seller"], json!({ "name": "Podo" }));
            }
        }
    }
    world.finish().await;
}

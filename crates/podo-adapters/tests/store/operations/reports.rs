//! The daily report's queries, page by page.

use crate::world::{World, at, won};
use podo_app::payments::port::payments::Checkout;
use podo_app::payments::port::reports::Reports;
use podo_app::payments::port::wallets::{RequestCharge, Wallets};
use podo_domain::PaymentId;

#[tokio::test]
async fn payments_and_wallet_charges_of_a_day_come_in_pages_by_id() {
    let world = World::new().await;
    let mut expected = Vec::new();
    for seat in 0..3 {
        let fan = world.fan().await;
        let charge = PaymentId::new(world.id());
        let request = RequestCharge {
            key: world.key(&fan, "wallet/charge"),
            charge,
            user: fan.id,
            gateway: "sandbox",
            checkout: Checkout { gateway: Some("sandbox".into()), url: None, data: None },
            amount: won(10_000),
            currency: podo_domain::Currency::Krw,
            now: at(0),
        };
        world.store.request_charge(request).await.unwrap();
        let sold = world.buy(&fan, &[seat], at(1)).await;
        expected.extend([(charge, 0, 0), (sold.confirmed.payment_id, 1, 1)]);
    }
    let mut found: Vec<(PaymentId, u32, u32)> = Vec::new();
    loop {
        let after = found.last().map(|(payment, ..)| *payment);
        let rows = world.store.day_rows(at(-60), at(60), after, 2).await.unwrap();
        if rows.is_empty() {
            break;
        }
        assert_eq!(rows.len(), 2);
        found.extend(rows.iter().map(|row| (row.ask.payment, row.seats, row.tickets)));
    }
    assert_eq!(found, expected);
    assert!(world.store.day_rows(at(60), at(120), None, 2).await.unwrap().is_empty());
    world.finish().await;
}

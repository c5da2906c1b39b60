//! A power cut in the middle of a sale: acknowledged purchases are kept, the rest can be finished.

use crate::process::cli::podo;
use crate::support::client::{Api, text, try_send};
use crate::support::world::{PRICE, Plan, Show, World, config};
use futures::StreamExt;
use futures::stream;
use podo::bootstrap;
use podo_testbed::Launch;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const N_BUYERS: u32 = 500;
const N_AT_ONCE: usize = 32;
const N_BEFORE_THE_CUT: usize = 100;

/// A fan with money and a chosen seat. A retry of the purchase reuses its keys.
#[derive(Clone)]
struct Buyer {
    token: String,
    seat: u32,
}

/// A purchase that the server has acknowledged.
struct Receipt {
    buyer: Buyer,
    reservation: String,
    booking_number: String,
}

/// Creates the sale and its buyers in a folder, and stops.
async fn prepare(folder: &Path) -> (Show, Vec<Buyer>) {
    let config = config(folder, &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan { n_seats: N_BUYERS, ..Plan::default() }).await;
    let fans = world.fans(N_BUYERS as usize).await;
    stream::iter(&fans).for_each_concurrent(N_AT_ONCE, |fan| fan.charge(PRICE)).await;
    let buyers = (0..).zip(&fans);
    let buyers = buyers.map(|(seat, fan)| Buyer { token: fan.api.token().to_owned(), seat });
    let buyers = buyers.collect();
    world.running.stop().await;
    (show, buyers)
}

/// One step of a purchase. The server may be gone; a refusal fails the test.
async fn step(api: &Api, path: &str, body: Value, status: u16) -> reqwest::Result<Value> {
    let call = api.call(Method::POST, path).header("Idempotency-Key", "mine").json(&body);
    Ok(try_send(call).await?.expect(status))
}

async fn go_inside(api: &Api, show: &Show) -> reqwest::Result<Api> {
    loop {
        let body = json!({ "scheduleId": show.schedule });
        let view = step(api, "/api/queue/enter", body, 200).await?;
        if view["state"] == "ADMITTED" {
            return Ok(api.with_entry(&text(&view, "entryToken")));
        }
    }
}

async fn buy(stranger: &Api, show: &Show, buyer: Buyer) -> (Buyer, reqwest::Result<Receipt>) {
    let work = async {
        let api = go_inside(&stranger.with_token(&buyer.token), show).await?;
        let seat = show.seat(buyer.seat);
        let pick = json!({ "scheduleId": show.schedule, "seatIds": [seat] });
        let held = step(&api, "/api/booking/seats/select", pick, 201).await?;
        let reservation = text(&held, "reservationId");
        let pay = json!({ "reservationId": reservation, "method": "WALLET" });
        let ready = step(&api, "/api/payment/request", pay, 201).await?;
        let confirm = json!({ "paymentId": ready["paymentId"], "amount": PRICE });
        let confirmed = step(&api, "/api/payment/confirm", confirm, 200).await?;
        let booking_number = text(&confirmed["reservation"], "bookingNumber");
        Ok(Receipt { buyer: buyer.clone(), reservation, booking_number })
    };
    let receipt = work.await;
    (buyer, receipt)
}

/// The store has the receipt's purchase.
async fn assert_kept(stranger: &Api, receipt: &Receipt) {
    let api = stranger.with_token(&receipt.buyer.token);
    let path = format!("/api/booking/reservations/{}", receipt.reservation);
    let reservation = api.get(&path).await.expect(200);
    assert_eq!(reservation["status"], "CONFIRMED");
    assert_eq!(reservation["bookingNumber"], receipt.booking_number);
}

fn verify(folder: &Path) -> Option<i32> {
    podo(&["verify", "--data", folder.to_str().unwrap()]).status.code()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_loses_no_acknowledged_purchase() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let (show, buyers) = prepare(folder.path()).await;
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder.path());
    let launch = launch.env("PODO_LIMITS", "off").env("PODO_ADMIT_EVERY_MS", "20");
    let mut podo = launch.start().unwrap();

    let stranger = Api::at(podo.url());
    let (mut receipts, mut unfinished) = (Vec::new(), Vec::new());
    let purchases = stream::iter(buyers).map(|buyer| buy(&stranger, &show, buyer));
    let mut purchases = std::pin::pin!(purchases.buffer_unordered(N_AT_ONCE));
    while let Some((buyer, receipt)) = purchases.next().await {
        match receipt {
            Ok(receipt) => receipts.push(receipt),
            Err(_) => unfinished.push(buyer),
        }
        if receipts.len() == N_BEFORE_THE_CUT && unfinished.is_empty() {
            podo.kill_9().unwrap();
        }
    }
    assert!(unfinished.len() >= N_AT_ONCE, "the cut came in the middle");

    podo.restart().unwrap();
    let stranger = Api::at(podo.url());
    for receipt in &receipts {
        assert_kept(&stranger, receipt).await;
    }
    let purchases = stream::iter(unfinished).map(|buyer| buy(&stranger, &show, buyer));
    let finished: Vec<_> = purchases.buffer_unordered(N_AT_ONCE).collect().await;
    receipts.extend(finished.into_iter().map(|(_, receipt)| receipt.unwrap()));
    assert_eq!(receipts.len(), N_BUYERS as usize);
    for receipt in &receipts {
        assert_kept(&stranger, receipt).await;
    }
    assert_eq!(podo.terminate().unwrap().code(), Some(0));
    assert_eq!(verify(folder.path()), Some(0));
}

/// Copies a flat folder.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_finds_damage_done_by_hand() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan::default()).await;
    world.fan_inside(&show).await.buy(&show, 0).await;
    world.fan_inside(&show).await.hold(&show, &[1]).await;
    world.running.stop().await;
    assert_eq!(verify(folder.path()), Some(0));

    for damage in [
        "update seats set state = 'FREE', claim = null, expires_at = null where state = 'SOLD'",
        "update wallets set balance = balance + 1",
        "update payments set captured = 0, status = 'FAILED' where status = 'CAPTURED'",
        "update tickets set status = 'VOID'",
        "update reservations set amount = amount + 1",
        "update audit_log set subject = 'another' where seq = 1",
    ] {
        let damaged = TempDir::with_prefix("podo-").unwrap();
        copy(folder.path(), damaged.path());
        let database = rusqlite::Connection::open(damaged.path().join("podo.db")).unwrap();
        let n_changed = database.execute(damage, []).unwrap();
        drop(database);
        assert!(n_changed > 0, "{damage}");
        assert_eq!(verify(damaged.path()), Some(1), "{damage}");
    }
}

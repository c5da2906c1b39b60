//! State-changing requests run to completion after the client disconnects.

use crate::support::client::new_key;
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, World, until};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};

/// Sends a write and closes the socket without waiting for a response.
fn send_and_hang_up(address: SocketAddr, fan: &Fan, path: &str, body: &Value) {
    let body = body.to_string();
    let (token, key, length) = (fan.api.token(), new_key(), body.len());
    let mut stream = TcpStream::connect(address).unwrap();
    // Unbuffered, so that the request arrives in pieces, its end together with the disconnect.
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: podo\r\nAuthorization: Bearer {token}\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_is_made_though_the_client_hung_up() {
    const N_CHARGES: i64 = 50;
    let world = World::start().await;
    let fan = world.fan().await;
    for _ in 0..N_CHARGES {
        let charge = json!({ "amount": 1_000 });
        send_and_hang_up(world.running.address, &fan, "/api/wallet/charge", &charge);
    }
    until("every charge is on the wallet", async || {
        (fan.balance().await == N_CHARGES * 1_000).then_some(())
    })
    .await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_is_finished_though_the_client_hung_up() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 50, ..Plan::default() }).await;
    let mut buyers = Vec::new();
    for seat in 0..50 {
        let fan = world.fan_inside(&show).await;
        fan.charge(PRICE).await;
        let reservation = fan.hold(&show, &[seat]).await;
        let payment = fan.ready(&reservation, "WALLET").await;
        buyers.push((fan, reservation, payment));
    }
    for (fan, _, payment) in &buyers {
        let confirm = json!({ "paymentId": payment, "amount": PRICE });
        send_and_hang_up(world.running.address, fan, "/api/payment/confirm", &confirm);
    }
    for (fan, reservation, _) in &buyers {
        until("the purchase is confirmed", async || {
            (fan.reservation(reservation).await["status"] == "CONFIRMED").then_some(())
        })
        .await;
    }
    world.finish().await;
}

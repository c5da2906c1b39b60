//! Clients that disconnect at any moment of any step of a card purchase: holds and charges match
//! the records, exactly once.

use crate::payments::gateways::bank::{Bank, Case, Gateway};
use crate::support::client::Answer;
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, World, until};
use podo_testbed::gateways::{Fault, RefundFault};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Each disconnects four times.
const N_FANS: u32 = 125;

/// A write that can be retried with the same key.
struct Step<'s> {
    path: &'s str,
    key: &'s str,
    body: &'s Value,
}

/// Sends part or all of a request, waits for a moment and disconnects.
fn hang_up(address: SocketAddr, fan: &Fan, step: &Step<'_>, turn: u32) {
    let body = step.body.to_string();
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: podo\r\nAuthorization: Bearer {}\r\nEntry-Token: {}\r\n\
         Idempotency-Key: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        step.path,
        fan.api.token(),
        fan.api.entry(),
        step.key,
        body.len()
    );
    // Spread over the turns: a quarter of the requests never arrive completely.
    let spread = turn.wrapping_mul(2_654_435_761);
    let length = if spread.is_multiple_of(4) { request.len() - 1 } else { request.len() };
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&request.as_bytes()[..length]).unwrap();
    std::thread::sleep(Duration::from_micros(u64::from(spread >> 16) % 4_000));
}

/// Disconnects, and retries with the same key until there is a response.
async fn insist(world: &World, fan: &Fan, step: Step<'_>, turn: u32) -> Answer {
    hang_up(world.running.address, fan, &step, turn);
    until("the step is answered", async || {
        let answer = fan.api.post_once(step.path, step.key, step.body).await;
        (answer.status != 409).then_some(answer)
    })
    .await
}

async fn buy_and_return(bank: &Bank, case: &Case, turn: u32) {
    let (world, fan) = (&bank.world, &case.fan);
    let charge = json!({ "amount": 1_000 });
    let step = Step { path: "/api/wallet/charge", key: "charge", body: &charge };
    insist(world, fan, step, turn).await.expect(201);
    let adjust = json!({ "amount": 500 });
    let step = Step { path: "/api/wallet/charge", key: "again", body: &adjust };
    insist(world, fan, step, turn + 7).await.expect(201);
    let confirm = case.confirm_body();
    let step = Step { path: "/api/payment/confirm", key: "confirm", body: &confirm };
    insist(world, fan, step, turn + 13).await.expect(200);
    let cancel = json!({ "paymentId": case.payment, "reason": "못 가요" });
    let step = Step { path: "/api/payment/cancel", key: "cancel", body: &cancel };
    insist(world, fan, step, turn + 29).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_five_hundred_hang_ups_what_was_charged_is_what_is_recorded() {
    let bank = Bank::with_seats(N_FANS).await;
    let mut cases = Vec::new();
    for turn in 0..N_FANS {
        let case = bank.start(Gateway::Toss, turn, (Fault::None, RefundFault::None)).await;
        buy_and_return(&bank, &case, turn * 4).await;
        cases.push(case);
    }
    for case in &cases {
        until("it is refunded", async || (case.status().await == "REFUNDED").then_some(())).await;
        assert_eq!(case.fan.balance().await, 1_500);
        let booked = bank.gateways.order(&case.order).unwrap();
        assert_eq!((booked.n_captures, booked.captured, booked.refunded), (1, PRICE, PRICE));
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fans_who_hang_up_while_they_take_seats_hold_them_once() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 2 * N_FANS, ..Plan::default() }).await;
    for turn in 0..N_FANS {
        let fan = world.fan_inside(&show).await;
        let seats = [show.seat(2 * turn), show.seat(2 * turn + 1)];
        let body = json!({ "scheduleId": show.schedule, "seatIds": seats });
        let step = Step { path: "/api/booking/seats/select", key: "take", body: &body };
        insist(&world, &fan, step, turn).await.expect(201);
        let mine = fan.api.get("/api/booking/reservations").await.expect(200);
        assert_eq!(mine["items"].as_array().unwrap().len(), 1, "{mine}");
    }
    world.finish().await;
}

//! Repeated power cuts in the middle of a sale, at every failpoint and at random moments. After
//! each one, the acknowledged results are compared with the store.

use crate::support::client::{Api, text, try_send};
use crate::support::world::{PRICE, Plan, Show, World};
use futures::StreamExt;
use futures::stream;
use podo_app::operations::failpoints;
use podo_testbed::Podo;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const N_AT_ONCE: usize = 12;

/// A random cut happens within this time.
const CUT_WITHIN_MS: u64 = 400;

/// How long to wait for a failpoint to be hit. A job with a leader waits for the dead node's lease,
/// and on a busy machine for CPU time.
const POINT_WITHIN: Duration = Duration::from_secs(60);

/// The number of cycles, which `PODO_KILL_CYCLES=500` raises.
fn n_cycles(usual: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "a switch of tests, not a setting")]
    let asked = std::env::var("PODO_KILL_CYCLES").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

/// Fewer acknowledged purchases would prove little.
const N_ACKNOWLEDGED_MIN: usize = 50;

/// If even this many cycles don't yield enough purchases, the machine is too slow for the test.
const N_CYCLES_MAX: usize = 500;

/// A fan with money, and the known state of their purchase. Every step keeps its idempotency key,
/// so a retry is harmless.
#[derive(Clone, Debug)]
pub(crate) struct Buyer {
    pub(crate) token: String,
    seat: u32,
    /// The acknowledged hold.
    pub(crate) reservation: Option<String>,
    /// The acknowledged payment.
    booking_number: Option<String>,
    /// Whether the cancellation was acknowledged.
    is_canceled: bool,
}

impl Buyer {
    fn pays_by_card(&self) -> bool {
        !self.seat.is_multiple_of(3)
    }

    fn gives_back(&self) -> bool {
        self.seat % 5 == 1
    }
}

/// The sale and all its buyers.
pub(crate) struct Cycles {
    pub(crate) show: Show,
    waiting: Mutex<VecDeque<Buyer>>,
    done: Mutex<Vec<Buyer>>,
}

/// Fans with money for one seat each.
pub(crate) async fn buyers(world: &World, n_buyers: u32) -> Vec<Buyer> {
    let fans = world.fans(n_buyers as usize).await;
    stream::iter(&fans).for_each_concurrent(16, |fan| fan.charge(PRICE)).await;
    let buyer = |(seat, fan): (u32, &crate::support::fan::Fan)| Buyer {
        token: fan.api.token().to_owned(),
        seat,
        reservation: None,
        booking_number: None,
        is_canceled: false,
    };
    (0..).zip(&fans).map(buyer).collect()
}

/// A hall for all of them; some have to wait.
pub(crate) fn plan(n_buyers: u32) -> Plan {
    Plan { n_seats: n_buyers, max_active: 8, ..Plan::default() }
}

impl Cycles {
    pub(crate) fn new(show: Show, buyers: Vec<Buyer>) -> Cycles {
        Cycles { show, waiting: Mutex::new(buyers.into()), done: Mutex::default() }
    }

    /// Whether to run another cycle: the usual number, and more on a slow machine until enough
    /// purchases were acknowledged.
    pub(crate) fn goes_on(&self, cycle: usize, usual: usize) -> bool {
        let is_usual = cycle < n_cycles(usual);
        is_usual || (!self.has_enough() && cycle < N_CYCLES_MAX)
    }

    fn has_enough(&self) -> bool {
        self.acknowledged().len() > N_ACKNOWLEDGED_MIN
    }

    /// Lets fans buy until the process is dead: at its failpoint, or cut after a while. Returns
    /// whether it died at the failpoint.
    pub(crate) async fn play(&self, podo: &mut Podo, cut_after: Option<Duration>) -> bool {
        let stranger = Api::at(podo.url());
        let deadline = Instant::now() + cut_after.unwrap_or(POINT_WITHIN);
        let trade = stream::repeat(()).map(|()| self.trade(&stranger));
        let mut trade = std::pin::pin!(trade.buffer_unordered(N_AT_ONCE));
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let is_answered = tokio::time::timeout(left, trade.next()).await;
            if podo.has_ended().unwrap() {
                return true;
            }
            if is_answered.is_err() || left.is_zero() {
                podo.kill_9().unwrap();
                return false;
            }
        }
    }

    /// One buyer gets as far as possible. An interrupted buyer comes first the next time.
    async fn trade(&self, stranger: &Api) {
        let Some(buyer) = self.waiting.lock().unwrap().pop_front() else {
            return tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let mut trade = Trade { cycles: self, buyer };
        let api = stranger.with_token(&trade.buyer.token);
        match trade.buy(&api).await {
            Ok(()) | Err(Interrupted::Voided) => trade.buyer.seat += 1_000_000,
            Err(Interrupted::ServerGone) => {}
        }
    }

    /// The store contains everything that was acknowledged.
    pub(crate) async fn check(&self, stranger: &Api) -> usize {
        let told = self.acknowledged();
        let checks = told.iter().map(|buyer| self.check_one(stranger, buyer));
        stream::iter(checks).buffer_unordered(N_AT_ONCE).collect::<Vec<()>>().await;
        told.len()
    }

    /// The buyers with an acknowledged payment.
    pub(crate) fn acknowledged(&self) -> Vec<Buyer> {
        let (done, waiting) = (self.done.lock().unwrap(), self.waiting.lock().unwrap());
        let all = done.iter().chain(waiting.iter());
        all.filter(|buyer| buyer.booking_number.is_some()).cloned().collect()
    }

    async fn check_one(&self, stranger: &Api, buyer: &Buyer) {
        let api = stranger.with_token(&buyer.token);
        let id = buyer.reservation.as_deref().unwrap();
        let kept = api.get(&format!("/api/booking/reservations/{id}")).await.expect(200);
        let number = buyer.booking_number.as_deref().unwrap();
        assert_eq!(kept["bookingNumber"], number, "{kept}");
        let may_be: &[&str] = match (buyer.is_canceled, buyer.gives_back()) {
            (true, _) => &["CANCELED"],
            (false, true) => &["CONFIRMED", "CANCELED"],
            (false, false) => &["CONFIRMED"],
        };
        assert!(may_be.contains(&kept["status"].as_str().unwrap()), "{buyer:?}: {kept}");
    }

    /// How often a failpoint is passed before the process dies there: commits happen from the
    /// start, refunds hardly ever.
    pub(crate) fn passes(point: &str) -> u64 {
        match point {
            failpoints::STORE_BEFORE_COMMIT | failpoints::STORE_AFTER_COMMIT => 40,
            failpoints::REFUND_BEFORE | failpoints::REFUND_AFTER | failpoints::WORKED => 1,
            failpoints::PUBLISHED | failpoints::ADMITTED => 2,
            _ => 5,
        }
    }

    /// The moment of the next random cut.
    pub(crate) fn cut(world_number: u64, cycle: usize) -> Duration {
        let mixed = (cycle as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ world_number;
        Duration::from_millis(30 + (mixed >> 33) % CUT_WITHIN_MS)
    }
}

/// A purchase in progress. If dropped, it returns its buyer with what is known so far.
struct Trade<'c> {
    cycles: &'c Cycles,
    buyer: Buyer,
}

impl Drop for Trade<'_> {
    fn drop(&mut self) {
        let mut buyer = self.buyer.clone();
        if buyer.seat >= 1_000_000 {
            buyer.seat -= 1_000_000;
            self.cycles.done.lock().unwrap().push(buyer);
        } else {
            self.cycles.waiting.lock().unwrap().push_front(buyer);
        }
    }
}

/// Why a buyer got no further.
enum Interrupted {
    ServerGone,
    /// The server was away for longer than a payment may stay open, as on a machine that does too
    /// much else: nothing was charged or acknowledged.
    Voided,
}

impl Trade<'_> {
    async fn step(
        &self,
        api: &Api,
        path: &str,
        body: Value,
        status: u16,
    ) -> Result<Value, Interrupted> {
        loop {
            let call = api.call(Method::POST, path).header("Idempotency-Key", "mine").json(&body);
            let answer = try_send(call).await.map_err(|_gone| Interrupted::ServerGone)?;
            let is_running = answer.text.contains("IDEMPOTENCY_KEY_RUNNING");
            if answer.status == 503 || answer.status == 202 || is_running {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            if answer.status == 402 && answer.text.contains(r#""reason":"VOIDED""#) {
                return Err(Interrupted::Voided);
            }
            return Ok(answer.expect(status));
        }
    }

    async fn buy(&mut self, api: &Api) -> Result<(), Interrupted> {
        if self.buyer.booking_number.is_none() {
            self.pay(api).await?;
        }
        if self.buyer.gives_back() {
            let id = self.buyer.reservation.clone().unwrap();
            let path = format!("/api/booking/reservations/{id}/cancel");
            self.step(api, &path, json!({ "reason": "못 가요" }), 200).await?;
            self.buyer.is_canceled = true;
        }
        Ok(())
    }

    async fn hold(&mut self, api: &Api) -> Result<String, Interrupted> {
        if let Some(reservation) = &self.buyer.reservation {
            return Ok(reservation.clone());
        }
        let show = &self.cycles.show;
        let entry = loop {
            let body = json!({ "scheduleId": show.schedule });
            let view = self.step(api, "/api/queue/enter", body, 200).await?;
            if view["state"] == "ADMITTED" {
                break text(&view, "entryToken");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let pick = json!({ "scheduleId": show.schedule, "seatIds": [show.seat(self.buyer.seat)] });
        let api = api.with_entry(&entry);
        let held = self.step(&api, "/api/booking/seats/select", pick, 201).await?;
        let reservation = text(&held, "reservationId");
        self.buyer.reservation = Some(reservation.clone());
        Ok(reservation)
    }

    async fn pay(&mut self, api: &Api) -> Result<(), Interrupted> {
        let reservation = self.hold(api).await?;
        let method = if self.buyer.pays_by_card() { "CARD" } else { "WALLET" };
        let pay = json!({ "reservationId": reservation, "method": method });
        let ready = self.step(api, "/api/payment/request", pay, 201).await?;
        let mut confirm = json!({ "paymentId": ready["paymentId"], "amount": PRICE });
        if self.buyer.pays_by_card() {
            let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
            let chosen = self.step(api, &path, json!({ "choice": "APPROVE" }), 200).await?;
            confirm["paymentKey"] = chosen["paymentKey"].clone();
        }
        let paid = self.step(api, "/api/payment/confirm", confirm, 200).await?;
        self.buyer.booking_number = Some(text(&paid["reservation"], "bookingNumber"));
        Ok(())
    }
}

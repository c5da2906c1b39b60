//! Fans who buy while something fails: they retry with the same keys and their place token, and
//! record everything that should not have happened.

use crate::support::client::{Answer, Api, text, try_send};
use crate::support::world::{PRICE, Plan, Show, until};
use crate::system::System;
use futures::StreamExt;
use futures::future::join_all;
use futures::stream;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Barrier;

/// Two fans for each seat.
pub(crate) const N_FANS: usize = 160;
pub(crate) const N_SEATS: usize = N_FANS / 2;

/// How many may be inside at once: most fans wait when the failure comes.
pub(crate) const MAX_ACTIVE: u32 = 20;

/// How many purchases are done when the failure comes.
const N_BEFORE: usize = 10;

/// Pause after an error and between two polls.
const PAUSE: Duration = Duration::from_millis(50);

/// A call without a response is abandoned after this long, and retried.
const CALL_MAX: Duration = Duration::from_secs(8);

/// A fan with money for one seat.
pub(crate) struct Buyer {
    token: String,
    seat: u32,
}

/// An acknowledged purchase.
struct Receipt {
    token: String,
    seat: u32,
    reservation: String,
    booking_number: String,
}

pub(crate) struct Sale {
    pub(crate) show: Show,
    /// The nodes; calls go to them in turn.
    nodes: Vec<Api>,
    n_calls: AtomicUsize,
    all_have_a_place: Barrier,
    /// Set from the moment at which something may be broken.
    is_hurt: AtomicBool,
    receipts: Mutex<Vec<Receipt>>,
    /// What should not have happened.
    wrongs: Mutex<Vec<String>>,
}

/// Creates the sale and its fans.
pub(crate) async fn prepare(system: &System) -> (Show, Vec<Buyer>) {
    let plan = Plan {
        n_seats: u32::try_from(N_SEATS).unwrap(),
        max_active: MAX_ACTIVE,
        ..Plan::default()
    };
    let work = async |world: &crate::support::world::World, _: &Show| {
        let fans = world.fans(N_FANS).await;
        stream::iter(&fans).for_each_concurrent(16, |fan| fan.charge(PRICE)).await;
        let token = |fan: &crate::support::fan::Fan| fan.api.token().to_owned();
        let seats = (0..plan.n_seats).cycle();
        fans.iter().zip(seats).map(|(fan, seat)| Buyer { token: token(fan), seat }).collect()
    };
    system.prepare(plan, work).await
}

impl Sale {
    pub(crate) fn new(show: Show, urls: &[&str]) -> Sale {
        Sale {
            show,
            nodes: urls.iter().map(|url| Api::at(url)).collect(),
            n_calls: AtomicUsize::new(0),
            all_have_a_place: Barrier::new(N_FANS),
            is_hurt: AtomicBool::new(false),
            receipts: Mutex::default(),
            wrongs: Mutex::default(),
        }
    }

    /// Lets all fans buy, and breaks the system in the middle.
    pub(crate) async fn run(&self, buyers: Vec<Buyer>, hurt: impl AsyncFnOnce()) {
        let purchases = join_all(buyers.iter().map(|buyer| Box::pin(buyer.buy(self))));
        let trouble = async {
            until("some purchases are done", async || (self.n_bought() >= N_BEFORE).then_some(()))
                .await;
            self.is_hurt.store(true, Ordering::SeqCst);
            let n_before = self.n_bought();
            hurt().await;
            n_before
        };
        let (_, n_before) = futures::join!(purchases, trouble);
        assert!(n_before < N_SEATS, "it broke in the middle: {n_before} had bought");
    }

    pub(crate) fn n_bought(&self) -> usize {
        self.receipts.lock().unwrap().len()
    }

    fn wrong(&self, what: String) {
        self.wrongs.lock().unwrap().push(what);
    }

    /// Every acknowledged purchase exists, every seat is sold once, and nothing else went wrong.
    pub(crate) async fn check(&self, system: &System) {
        let receipts = std::mem::take(&mut *self.receipts.lock().unwrap());
        let wrongs = std::mem::take(&mut *self.wrongs.lock().unwrap());
        assert!(wrongs.is_empty(), "{} wrongs, the first: {:#?}", wrongs.len(), &wrongs[..1]);
        let seats: BTreeSet<u32> = receipts.iter().map(|receipt| receipt.seat).collect();
        assert_eq!((receipts.len(), seats.len()), (N_SEATS, N_SEATS), "every seat is sold once");
        stream::iter(&receipts).for_each_concurrent(8, |receipt| self.assert_kept(receipt)).await;
        system.verify();
    }

    async fn assert_kept(&self, receipt: &Receipt) {
        let api = self.nodes[0].with_token(&receipt.token);
        let path = format!("/api/booking/reservations/{}", receipt.reservation);
        let reservation = api.get(&path).await.expect(200);
        assert_eq!(reservation["status"], "CONFIRMED");
        assert_eq!(reservation["bookingNumber"], receipt.booking_number);
    }

    /// Retries until the response is not a temporary failure.
    async fn call(&self, fan: &Fan<'_>, method: Method, path: &str, body: &Value) -> Answer {
        loop {
            let turn = self.n_calls.fetch_add(1, Ordering::Relaxed);
            let mut api = self.nodes[turn % self.nodes.len()].with_token(&fan.buyer.token);
            if let Some(entry) = &fan.entry {
                api = api.with_entry(entry);
            }
            let mut call = api.call(method.clone(), path).timeout(CALL_MAX).json(body);
            call = call.header("Idempotency-Key", "mine");
            if let Some(place) = &fan.place {
                call = call.header("Queue-Token", place);
            }
            match try_send(call).await {
                Ok(answer) if !self.is_trouble(path, &answer) => return answer,
                Ok(_) | Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// 502 and 504 come from the load balancer: the node behind it is gone. The first attempt of a
    /// call may still be running.
    fn is_trouble(&self, path: &str, answer: &Answer) -> bool {
        match answer.status {
            502..=504 => true,
            409 => answer.text.contains("IDEMPOTENCY_KEY_RUNNING"),
            500.. => {
                self.wrong(format!("{path} answered {}: {}", answer.status, answer.text));
                true
            }
            _ => false,
        }
    }
}

/// What a buyer has received so far.
struct Fan<'b> {
    buyer: &'b Buyer,
    place: Option<String>,
    entry: Option<String>,
    /// The best position known to be correct.
    position: u64,
}

/// The entry is no longer known: back to the waiting room.
struct Outside;

impl Buyer {
    async fn buy(&self, sale: &Sale) {
        let mut fan = Fan { buyer: self, place: None, entry: None, position: u64::MAX };
        fan.enter(sale).await;
        // From here on every fan has a place token, so that lost places can be restored.
        sale.all_have_a_place.wait().await;
        loop {
            while fan.entry.is_none() {
                tokio::time::sleep(PAUSE).await;
                fan.enter(sale).await;
            }
            match fan.purchase(sale).await {
                Ok(Some(receipt)) => return sale.receipts.lock().unwrap().push(receipt),
                Ok(None) => return fan.leave(sale).await,
                Err(Outside) => fan.entry = None,
            }
        }
    }
}

impl Fan<'_> {
    async fn enter(&mut self, sale: &Sale) {
        let body = json!({ "scheduleId": sale.show.schedule });
        let answer = sale.call(self, Method::POST, "/api/queue/enter", &body).await;
        let view = answer.expect(200);
        self.place = view["token"].as_str().map(str::to_owned).or(self.place.take());
        match view["state"].as_str() {
            Some("ADMITTED") => self.entry = Some(text(&view, "entryToken")),
            Some("WAITING") => self.note_position(sale, view["position"].as_u64().unwrap()),
            _ => sale.wrong(format!("a fan stands nowhere: {view}")),
        }
    }

    /// No fan overtakes another. While others are still being restored after a loss, a fan may
    /// appear further ahead, which doesn't count.
    fn note_position(&mut self, sale: &Sale, position: u64) {
        if position > self.position {
            sale.wrong(format!("place {} became {position}", self.position));
        }
        if !sale.is_hurt.load(Ordering::SeqCst) {
            self.position = position;
        }
    }

    async fn leave(&self, sale: &Sale) {
        let path = format!("/api/queue/leave?scheduleId={}", sale.show.schedule);
        sale.call(self, Method::DELETE, &path, &Value::Null).await.expect(204);
    }

    /// A receipt, or `None` if the other fan was faster.
    async fn purchase(&self, sale: &Sale) -> Result<Option<Receipt>, Outside> {
        let seat = sale.show.seat(self.buyer.seat);
        let pick = json!({ "scheduleId": sale.show.schedule, "seatIds": [seat] });
        let held = sale.call(self, Method::POST, "/api/booking/seats/select", &pick).await;
        match held.status {
            201 => {}
            401 | 403 => return Err(Outside),
            _ => {
                held.refused(409, "SEAT_TAKEN");
                return Ok(None);
            }
        }
        let reservation = text(&held.expect(201), "reservationId");
        let pay = json!({ "reservationId": reservation, "method": "WALLET" });
        let ready = sale.call(self, Method::POST, "/api/payment/request", &pay).await.expect(201);
        let confirm = json!({ "paymentId": ready["paymentId"], "amount": PRICE });
        let done = sale.call(self, Method::POST, "/api/payment/confirm", &confirm).await;
        let done = done.expect(200);
        Ok(Some(Receipt {
            token: self.buyer.token.clone(),
            seat: self.buyer.seat,
            reservation,
            booking_number: text(&done["reservation"], "bookingNumber"),
        }))
    }
}

//! The embedded and the distributed node return the same responses to the same script: the engines'
//! differences stay behind the ports.

use crate::support::client::{Answer, Api, send};
use crate::support::world::{PRICE, Plan, Show, World};
use podo::config::Config;
use podo_adapters::clock::SystemClock;
use podo_app::operations::port::clock::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

const N_STEPS: usize = 2_000;
const N_FANS: usize = 10;
const N_SEATS: u32 = 16;
const PASSWORD: &str = "sour green grapes";

/// Both clocks only move by the script, so that the machine's speed decides nothing.
const TIME_STEP: Duration = Duration::from_secs(100);
const BETWEEN_STEPS: Duration = Duration::from_millis(20);

/// A fan's action. A number chooses among what exists, modulo its count.
#[derive(Clone, Copy, Debug)]
enum Do {
    SignUp,
    LogIn,
    LogInWrong,
    LogOut,
    Enter,
    Status,
    Position,
    Extend,
    Leave,
    Admit,
    Look,
    PassTime,
    Trade(Trade),
}

/// Actions on seats and money.
#[derive(Clone, Copy, Debug)]
enum Trade {
    Select,
    SelectAgain,
    Release,
    Charge,
    Request,
    Confirm,
    CancelPayment,
    CancelReservation,
    BadBody,
    NoKey,
}

/// The relative frequency of each.
const WEIGHTS: [(Do, u64); 22] = [
    (Do::SignUp, 1),
    (Do::LogIn, 2),
    (Do::LogInWrong, 1),
    (Do::LogOut, 1),
    (Do::Enter, 16),
    (Do::Status, 6),
    (Do::Position, 3),
    (Do::Extend, 2),
    (Do::Leave, 2),
    (Do::Admit, 14),
    (Do::Trade(Trade::Select), 24),
    (Do::Trade(Trade::SelectAgain), 5),
    (Do::Trade(Trade::Release), 4),
    (Do::Trade(Trade::Charge), 10),
    (Do::Trade(Trade::Request), 16),
    (Do::Trade(Trade::Confirm), 16),
    (Do::Trade(Trade::CancelPayment), 3),
    (Do::Trade(Trade::CancelReservation), 3),
    (Do::Look, 12),
    (Do::Trade(Trade::BadBody), 3),
    (Do::Trade(Trade::NoKey), 3),
    (Do::PassTime, 1),
];

/// One line of the script, drawn completely before any request.
#[derive(Clone, Copy, Debug)]
struct Step {
    number: usize,
    fan: usize,
    what: Do,
    /// Chooses among what exists.
    pick: u64,
}

/// SplitMix64: small and deterministic.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn script(seed: u64) -> Vec<Step> {
    let mut dice = Dice(seed);
    let total: u64 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let mut draw = |number| {
        let mut left = dice.roll() % total;
        let found = WEIGHTS.iter().find(|(_, weight)| {
            let is_it = left < *weight;
            left = left.saturating_sub(*weight);
            is_it
        });
        let (what, _) = found.unwrap();
        let fan = usize::try_from(dice.roll()).unwrap() % N_FANS;
        Step { number, fan, what: *what, pick: dice.roll() }
    };
    (0..N_STEPS).map(&mut draw).collect()
}

/// A fan on one side, with their state there.
struct Fan {
    email: String,
    api: Api,
    place: Option<String>,
    reservations: Vec<String>,
    /// With their amounts.
    payments: Vec<(String, i64)>,
    /// The last select, to be repeated.
    last: Option<(String, Value)>,
}

struct Side {
    world: World,
    show: Show,
    fans: Vec<Fan>,
    names: HashMap<String, usize>,
    first_place: Option<u64>,
}

impl Side {
    async fn start(world: World) -> Side {
        let plan = Plan { n_seats: N_SEATS, max_active: 4, ..Plan::default() };
        let show = world.show(plan).await;
        let mut fans = Vec::new();
        for number in 0..N_FANS {
            let email = format!("fan{number}@podo.kr");
            let api = world.stranger.clone();
            let (reservations, payments) = (Vec::new(), Vec::new());
            fans.push(Fan { email, api, place: None, reservations, payments, last: None });
        }
        let mut side = Side { world, show, fans, names: HashMap::new(), first_place: None };
        for fan in 0..N_FANS {
            for what in [Do::SignUp, Do::LogIn, Do::Trade(Trade::Charge)] {
                side.take(Step { number: 0, fan, what, pick: 0 }).await;
            }
        }
        side
    }

    /// Takes one step; returns the response in a form that both sides share.
    async fn take(&mut self, step: Step) -> Value {
        let Some(answer) = self.act(step).await else { return Value::Null };
        let body: Value = serde_json::from_str(&answer.text).unwrap_or(Value::Null);
        self.learn(step, answer.status, &body);
        json!({ "status": answer.status, "body": self.in_shared_words(body) })
    }

    async fn act(&mut self, step: Step) -> Option<Answer> {
        let schedule = self.show.schedule;
        let body = json!({ "scheduleId": schedule });
        let fan = &self.fans[step.fan];
        Some(match step.what {
            Do::SignUp => {
                let body = json!({ "email": fan.email, "password": PASSWORD, "name": "포도" });
                fan.api.post("/api/auth/signup", &body).await
            }
            Do::LogIn | Do::LogInWrong => {
                let is_right = matches!(step.what, Do::LogIn);
                let password = if is_right { PASSWORD } else { "sweet red grapes" };
                let body = json!({ "email": fan.email, "password": password });
                self.world.stranger.post("/api/auth/login", &body).await
            }
            Do::LogOut => fan.api.post("/api/auth/logout", &json!({})).await,
            Do::Enter => {
                let mut call = fan.api.call(Method::POST, "/api/queue/enter").json(&body);
                if let Some(place) = fan.place.as_ref().filter(|_| step.pick.is_multiple_of(2)) {
                    call = call.header("Queue-Token", place);
                }
                send(call).await
            }
            Do::Status | Do::Position => {
                let what = if matches!(step.what, Do::Status) { "status" } else { "position" };
                fan.api.get(&format!("/api/queue/{what}?scheduleId={schedule}")).await
            }
            Do::Extend => fan.api.post("/api/queue/extend", &body).await,
            Do::Leave => fan.api.delete(&format!("/api/queue/leave?scheduleId={schedule}")).await,
            Do::Admit | Do::PassTime => {
                self.run_jobs(step.what).await;
                return None;
            }
            Do::Look => fan.api.get(&self.something_to_look_at(step)).await,
            Do::Trade(trade) => self.trade(trade, step).await,
        })
    }

    async fn run_jobs(&self, what: Do) {
        let context = self.world.context();
        if matches!(what, Do::PassTime) {
            self.world.clock.advance(TIME_STEP);
            podo_app::booking::jobs::expire::expire_holds(context, context.now()).await.unwrap();
        }
        podo_app::waiting_room::jobs::admit_fans(context, context.now()).await.unwrap();
    }

    async fn trade(&self, trade: Trade, step: Step) -> Answer {
        let fan = &self.fans[step.fan];
        let key = format!("step-{}", step.number);
        let post = async |path: &str, body: Value| fan.api.post_once(path, &key, &body).await;
        let select = "/api/booking/seats/select";
        match trade {
            Trade::Select => post(select, self.seats(step)).await,
            Trade::SelectAgain => match &fan.last {
                Some((key, body)) if step.pick.is_multiple_of(3) => {
                    let mut other = body.clone();
                    other["seatIds"] = json!([self.show.seat(0)]);
                    fan.api.post_once(select, key, &other).await
                }
                Some((key, body)) => fan.api.post_once(select, key, body).await,
                None => post(select, json!({})).await,
            },
            Trade::Release => {
                let id = self.reservation(step);
                fan.api.delete(&format!("/api/booking/seats/release?reservationId={id}")).await
            }
            Trade::Charge => {
                let amounts = [PRICE, PRICE, 2 * PRICE, 0, -1, i64::MAX];
                let amount = amounts[choose(step.pick, amounts.len())];
                post("/api/wallet/charge", json!({ "amount": amount })).await
            }
            Trade::Request => {
                let method = if step.pick % 5 < 4 { "WALLET" } else { "CARD" };
                let body = json!({ "reservationId": self.reservation(step), "method": method });
                post("/api/payment/request", body).await
            }
            Trade::Confirm => {
                let (id, amount) = self.payment(step);
                let wrong = i64::from(step.pick % 13 == 5);
                let body = json!({ "paymentId": id, "amount": amount + wrong });
                post("/api/payment/confirm", body).await
            }
            Trade::CancelPayment => {
                let body = json!({ "paymentId": self.payment(step).0, "reason": "못 가요" });
                post("/api/payment/cancel", body).await
            }
            Trade::CancelReservation => {
                let path = format!("/api/booking/reservations/{}/cancel", self.reservation(step));
                post(&path, json!({ "reason": "못 가요" })).await
            }
            Trade::NoKey => fan.api.post(select, &self.seats(step)).await,
            Trade::BadBody => {
                let bodies = [json!({}), json!([]), json!({ "seatIds": 3 }), json!({ "no": 1 })];
                let paths = [select, "/api/payment/request", "/api/wallet/charge"];
                let body = bodies[choose(step.pick, bodies.len())].clone();
                post(paths[choose(step.pick >> 8, paths.len())], body).await
            }
        }
    }

    /// One to five seats, sometimes one twice or one that doesn't exist.
    fn seats(&self, step: Step) -> Value {
        let count = [1, 1, 1, 2, 2, 3, 4, 5][choose(step.pick, 8)];
        let first = u32::try_from(step.pick >> 40).unwrap();
        let seat = |nth: u32| self.show.seat((first + nth * 3) % (N_SEATS + 1));
        let seats: Vec<_> = (0..count).map(seat).collect();
        json!({ "scheduleId": self.show.schedule, "seatIds": seats })
    }

    /// Mostly the fan's own, sometimes another fan's.
    fn owner(&self, step: Step) -> &Fan {
        let other = if step.pick % 11 == 7 { 1 } else { 0 };
        &self.fans[(step.fan + other) % N_FANS]
    }

    fn reservation(&self, step: Step) -> String {
        newest(&self.owner(step).reservations, step.pick)
    }

    /// A payment and its amount.
    fn payment(&self, step: Step) -> (String, i64) {
        let known = &self.owner(step).payments;
        let ids: Vec<String> = known.iter().map(|(id, _)| id.clone()).collect();
        let id = newest(&ids, step.pick);
        let amount = known.iter().find(|(known, _)| *known == id).map_or(PRICE, |(_, it)| *it);
        (id, amount)
    }

    fn something_to_look_at(&self, step: Step) -> String {
        match step.pick % 7 {
            0 => format!("/api/booking/seats?scheduleId={}", self.show.schedule),
            1 => "/api/booking/reservations".to_owned(),
            2 => format!("/api/booking/reservations/{}", self.reservation(step)),
            3 => format!("/api/payment/{}", self.payment(step).0),
            4 => "/api/wallet".to_owned(),
            5 => "/api/tickets".to_owned(),
            _ => "/api/users/me".to_owned(),
        }
    }

    /// Keeps the received values for later steps.
    fn learn(&mut self, step: Step, status: u16, body: &Value) {
        let pick = self.seats(step);
        let fan = &mut self.fans[step.fan];
        let given = |member: &str| body[member].as_str().map(str::to_owned);
        if let Some(token) = given("accessToken") {
            fan.api = fan.api.with_token(&token);
        }
        if let Some(token) = given("entryToken") {
            fan.api = fan.api.with_entry(&token);
        }
        if matches!(step.what, Do::Enter) {
            fan.place = given("token").or(fan.place.take());
        }
        if matches!(step.what, Do::Trade(Trade::Select)) {
            fan.last = Some((format!("step-{}", step.number), pick));
            fan.reservations.extend(given("reservationId"));
        }
        if status == 201 && matches!(step.what, Do::Trade(Trade::Request)) {
            fan.payments.extend(given("paymentId").zip(body["amount"].as_i64()));
        }
    }

    /// Replaces ids by numbers in order of first appearance; drops what depends on randomness, the
    /// clock and the age of a seat map.
    fn in_shared_words(&mut self, value: Value) -> Value {
        const LEFT_OUT: [&str; 9] = [
            "taken",
            "alternatives",
            "traceId",
            "pollAfterMs",
            "estimatedWait",
            "estimatedWaitRange",
            "now",
            "bookingNumber",
            "url",
        ];
        const SECRET: [&str; 4] = ["accessToken", "refreshToken", "entryToken", "token"];
        match value {
            Value::Object(members) => {
                let mut told = serde_json::Map::new();
                for (name, value) in members {
                    if SECRET.contains(&name.as_str()) {
                        told.insert(name, json!(!value.is_null()));
                    } else if !LEFT_OUT.contains(&name.as_str()) {
                        let value = self.in_shared_words(value);
                        told.insert(name, value);
                    }
                }
                Value::Object(told)
            }
            Value::Array(items) => items.into_iter().map(|it| self.in_shared_words(it)).collect(),
            Value::String(text) => Value::String(self.in_shared_word(text)),
            // A room's first place number comes from the clock; both rooms count from there.
            Value::Number(number) if number.as_u64().is_some_and(|it| it > 1 << 40) => {
                let number = number.as_u64().unwrap();
                let first = *self.first_place.get_or_insert(number);
                json!(format!("place {}", i128::from(number) - i128::from(first)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn in_shared_word(&mut self, text: String) -> String {
        let is_time = text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z');
        if is_time {
            return "a time".to_owned();
        }
        if text.len() < 32 || uuid::Uuid::try_parse(&text).is_err() {
            return text;
        }
        let next = self.names.len();
        let number = *self.names.entry(text.replace('-', "")).or_insert(next);
        format!("id {number}")
    }
}

fn choose(pick: u64, n_choices: usize) -> usize {
    usize::try_from(pick % n_choices as u64).unwrap()
}

/// One of the last two, or an unknown id.
fn newest(ids: &[String], pick: u64) -> String {
    let back = if pick % 4 == 3 { 2 } else { 1 };
    let found = ids.len().checked_sub(back).map(|index| ids[index].clone());
    found.unwrap_or_else(|| uuid::Uuid::nil().to_string())
}

/// A node refuses a seat that it knows to be taken before it checks whether the entry or the
/// session has ended. How long it knows depends on the engine, so such a fan gets either refusal.
fn are_two_noes(here: &Value, there: &Value) -> bool {
    let is_no = |answer: &Value| {
        let code = answer["body"]["code"].as_str().unwrap_or_default();
        ["SEAT_TAKEN", "ENTRY_EXPIRED", "LOGIN_REQUIRED"].contains(&code)
    };
    is_no(here) && is_no(there) && [here, there].iter().any(|it| it["status"] == 409)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_of_running_it_answer_the_same_script_alike() {
    let seed = 20_261_116;
    let embedded = [("PODO_STORE_URL", "sqlite:podo.db"), ("PODO_LIVE_URL", "memory:")];
    // Only the script causes changes, on a slow machine too.
    let quiet = |config: &mut Config| {
        (config.admit_every_ms, config.sweep_every_ms) = (3_600_000, 3_600_000);
        (config.slow_down_p99_ms, config.slow_down_errors_percent) = (0, 0);
        config.reconcile_every_seconds = 3_600;
    };
    let worlds = [World::with_config(&embedded, quiet).await, World::with_config(&[], quiet).await];
    // After both have started: until now their clocks ran, and tokens from the future are refused.
    let time = SystemClock.now();
    worlds.iter().for_each(|world| world.clock.stop_at(time));
    let [embedded, distributed] = worlds;
    let (mut embedded, mut distributed) =
        (Side::start(embedded).await, Side::start(distributed).await);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for step in script(seed) {
        let mut next = Some(step);
        while let Some(step) = next.take() {
            for side in [&embedded, &distributed] {
                side.world.clock.advance(BETWEEN_STEPS);
            }
            let (here, there) = futures::join!(embedded.take(step), distributed.take(step));
            if !are_two_noes(&here, &there) {
                assert_eq!(here, there, "seed {seed}: the answers to {step:?} differ");
            }
            let code = here["body"]["code"].as_str().unwrap_or_default();
            *counts.entry(format!("{:?} {} {code}", step.what, here["status"])).or_default() += 1;
            // A logged-out fan logs in again, so that the script covers more than that.
            next = (code == "LOGIN_REQUIRED").then_some(Step { what: Do::LogIn, ..step });
        }
    }
    // The script covers what it is meant to.
    for needed in [
        "Trade(Confirm) 200 ",
        "Trade(Select) 409 SEAT_TAKEN",
        "Trade(SelectAgain) 201 ",
        "Trade(CancelReservation) 200 ",
    ] {
        assert!(counts.contains_key(needed), "{needed} never happened: {counts:#?}");
    }
    for side in [embedded, distributed] {
        side.world.finish().await;
    }
}

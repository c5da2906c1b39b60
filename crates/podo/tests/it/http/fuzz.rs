//! Hostile bytes for every parser of external input. Inputs are valid ones that are mutated, cut
//! and joined, from a seed that is printed on failure. Nothing may panic, return a server error, or
//! compute for long.
//!
//! Two seconds each; `cargo xtask test --only bytes` takes a minute (`PODO_FUZZ_SECONDS`).

use crate::support::client::{Api, send};
use crate::support::world::{Plan, World};
use podo_adapters::clock::SystemRng;
use podo_adapters::gateways::{GatewaySettings, PortOneSettings, TossSettings};
use podo_app::identity::keyring::Keyring;
use podo_app::identity::sessions::Sessions;
use podo_app::operations::port::clock::Rng;
use podo_app::payments::port::gateway::{Delivery, Gateway};
use podo_app::waiting_room::tokens::{Token, TokenClaims, TokenKeys};
use podo_domain::catalog::SeatTemplate;
use podo_domain::{ScheduleId, SessionId, Timestamp, UserId};
use reqwest::Method;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// An input that needs more CPU time is an attack.
const THOUGHT_MAX: Duration = Duration::from_millis(500);

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

pub(crate) fn length() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "a switch of tests, not a setting")]
    let asked = std::env::var("PODO_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(asked.unwrap_or(2))
}

/// The CPU time of this thread, however many share the CPU.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// Mutates valid inputs.
pub(crate) struct Monkey {
    state: u64,
    corpus: Vec<Vec<u8>>,
}

/// Bytes that parsers stumble over.
const SPICES: [&[u8]; 16] = [
    b"\0",
    b"\xff\xfe",
    b"-1",
    b"99999999999999999999",
    b"1e308",
    b"null",
    b"{\"a\":",
    b"[[[[[[[[",
    b"\"\\ud800\"",
    "\u{202e}가".as_bytes(),
    b"%00",
    b"&&==",
    b"=",
    b"..",
    b"' or 1=1 --",
    b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
];

impl Monkey {
    pub(crate) fn new(corpus: &[&[u8]]) -> Monkey {
        Monkey { state: 20_261_116, corpus: corpus.iter().map(|it| it.to_vec()).collect() }
    }

    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)) >> 8) as usize % end.max(1)
    }

    pub(crate) fn input(&mut self) -> Vec<u8> {
        let first = self.below(self.corpus.len());
        let mut bytes = self.corpus[first].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 => bytes.truncate(at),
            2 => {
                let spice = SPICES[self.below(SPICES.len())];
                bytes.splice(at..at, spice.iter().copied());
            }
            3 => {
                let other = self.below(self.corpus.len());
                let tail = self.corpus[other].clone();
                let from = self.below(tail.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&tail[from..]);
            }
            4 if at < bytes.len() => {
                let end = (at + 1 + self.below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + self.below(40)).min(bytes.len());
                let again = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }

    /// Feeds a parser until the time is up.
    fn feed(mut self, mut read: impl FnMut(&[u8])) {
        let end = Instant::now() + length();
        let mut n_inputs = 0_u64;
        while Instant::now() < end {
            let input = self.input();
            let before = processor_time();
            read(&input);
            let took = processor_time() - before;
            assert!(took < THOUGHT_MAX, "{took:?} for {:?}", String::from_utf8_lossy(&input));
            n_inputs += 1;
        }
        assert!(n_inputs > 1_000, "only {n_inputs} inputs");
    }
}

#[test]
fn tokens() {
    let keys = TokenKeys::new(&[1; 32], Some(&[2; 32]));
    let sessions = Sessions::new(&Keyring::new(&[1; 32]));
    let (schedule, user) = (ScheduleId::new(Uuid::from_u128(1)), UserId::new(Uuid::from_u128(2)));
    let session = SessionId::new(Uuid::from_u128(3));
    let place = Token { schedule, user, claims: TokenClaims::Place { number: 7 } }.issue(&keys);
    let entry =
        Token { schedule, user, claims: TokenClaims::Entry { number: 7, session } }.issue(&keys);
    let role = podo_domain::identity::Role::User;
    let caller = podo_app::identity::sessions::Caller { user, session, role };
    let access = sessions.issue(caller, Uuid::from_u128(4), NOW);
    let good = [place.as_bytes(), entry.as_bytes(), access.as_bytes()];
    Monkey::new(&good).feed(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let is_good = good.contains(&bytes);
        if let Some(token) = Token::read(&text, &keys) {
            assert!(is_good || token.user == user, "a token that was never issued: {text}");
            assert_eq!(token.issue(&keys), text, "two texts are one token");
        }
        assert!(sessions.check(&text, NOW).is_none() || is_good, "a forged log-in: {text}");
    });
}

fn gateways() -> Vec<Arc<dyn Gateway>> {
    let rng: Arc<dyn Rng> = Arc::new(SystemRng::new());
    let key = |text: &str| text.to_owned();
    let (url, secret) =
        (key("http://127.0.0.1:9"), key("whsec_YSBzZWNyZXQgb2YgdHdlbnR5LWZvdXIgYg=="));
    let toss = TossSettings { url: url.clone(), client_key: key("c"), secret_key: key("s") };
    let portone = PortOneSettings {
        url,
        store_id: key("store"),
        channel_key: key("channel"),
        secret: key("s"),
        webhook_secrets: vec![secret],
        is_test: true,
    };
    let (toss, portone) = (Some(toss), Some(portone));
    let settings = GatewaySettings { toss, portone, ..GatewaySettings::default() };
    settings.open(&rng).unwrap()
}

#[tokio::test]
async fn webhook_signatures() {
    let gateways = gateways();
    let body: &[u8] = br#"{"type":"Transaction.Paid","timestamp":"2026-11-16T00:00:00Z","data":{"paymentId":"0190a00000007000800000000000000a","storeId":"store","transactionId":"t"}}"#;
    let toss: &[u8] = br#"{"eventType":"PAYMENT_STATUS_CHANGED","createdAt":"2026-11-16T00:00:00.000000","data":{"orderId":"0190a00000007000800000000000000a","status":"DONE"}}"#;
    let signed: &[u8] = b"webhook-id:w1\nwebhook-timestamp:1800000000\nwebhook-signature:v1,AAAA";
    Monkey::new(&[body, toss, signed]).feed(|bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let header = |name: &str| (name.to_owned(), text.chars().take(80).collect::<String>());
        let headers = [
            ("webhook-id".to_owned(), "w1".to_owned()),
            ("webhook-timestamp".to_owned(), "1800000000".to_owned()),
            header("webhook-signature"),
        ];
        for gateway in &gateways {
            let delivery = Delivery { headers: &headers, body: bytes, now: NOW };
            let read = gateway.read_webhook(&delivery);
            let is_signed = gateway.name() == "portone";
            assert!(!is_signed || read.is_err(), "a forged webhook was believed: {text}");
        }
    });
}

#[test]
fn seat_templates() {
    let grid: &[u8] = br#"{"layoutType":"grid","rows":["A","B"],"seatsPerRow":10,"gradeMapping":{"A":"VIP","B":"R"}}"#;
    let sections: &[u8] = br#"{"layoutType":"sections","stage":{"x":0,"y":0,"width":100,"height":20},"sections":[{"name":"F1","grade":"R","rows":[{"row":"1","seats":[{"number":"1","x":1,"y":2}]}]}]}"#;
    Monkey::new(&[grid, sections]).feed(|bytes| {
        if let Ok(template) = serde_json::from_slice::<SeatTemplate>(bytes) {
            // Either outcome is fine.
            let _ = template.plan();
        }
    });
}

/// The same over HTTP, where every response must have a documented status.
async fn feed_http(monkey: Monkey, mut ask: impl AsyncFnMut(Vec<u8>) -> u16) {
    let mut monkey = monkey;
    let end = Instant::now() + length();
    while Instant::now() < end {
        let input = monkey.input();
        let status = ask(input.clone()).await;
        assert!(status < 500, "{status} for {:?}", String::from_utf8_lossy(&input));
    }
}

async fn post(api: &Api, path: &str, body: Vec<u8>) -> u16 {
    let call = api.call(Method::POST, path).header("Idempotency-Key", "fuzz");
    send(call.header("Content-Type", "application/json").body(body)).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn json_bodies() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bodies = [
        json!({ "scheduleId": show.schedule, "seatIds": [show.seat(0)] }),
        json!({ "amount": 1_000 }),
        json!({ "paymentId": show.schedule, "amount": 1, "paymentKey": "k" }),
        json!({ "email": "a@podo.kr", "password": "sour green grapes", "name": "가" }),
    ];
    let texts: Vec<String> = bodies.iter().map(ToString::to_string).collect();
    let corpus: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let paths = [
        "/api/booking/seats/select",
        "/api/booking/seats/best",
        "/api/wallet/charge",
        "/api/payment/request",
        "/api/payment/confirm",
        "/api/payment/wallet",
        "/api/queue/enter",
    ];
    let mut turns = paths.iter().cycle();
    let ask = async |body: Vec<u8>| post(&fan.api, turns.next().unwrap(), body).await;
    feed_http(Monkey::new(&corpus), ask).await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn query_strings() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let since = format!("since={}&scheduleId={}", NOW, show.schedule);
    let corpus: [&[u8]; 4] = [
        b"limit=20&cursor=abc",
        b"query=%EA%B0%80&city=1&from=2026-11-16",
        since.as_bytes(),
        b"page=2",
    ];
    let seats = format!("/api/schedules/{}/seats", show.schedule);
    let paths =
        ["/api/events", "/api/admin/audit", "/api/queue/status", "/api/wallet/ledger", &seats];
    let mut turns = paths.iter().cycle();
    let ask = async |query: Vec<u8>| {
        // Percent-encodes what no client can send literally.
        let query: String = query
            .iter()
            .map(|byte| match byte {
                b'!'..=b'~' if !b"#\"<>\\^`{|}".contains(byte) => char::from(*byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect();
        let path = format!("{}?{query}", turns.next().unwrap());
        send(world.organiser.call(Method::GET, &path)).await.status
    };
    feed_http(Monkey::new(&corpus), ask).await;
}

//! A server with canned answers, over real HTTP, that records its requests.

use crate::Target;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub(super) const RESERVATION: &str = "0198c0de-0000-7000-8000-000000000001";
pub(super) const PAYMENT: &str = "0198c0de-0000-7000-8000-000000000002";

/// A received call.
#[derive(Clone, Debug)]
pub(super) struct RecordedRequest {
    /// `POST /api/queue/enter`, without the query.
    pub(super) route: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    /// How many calls of this route came before it.
    pub(super) nth: usize,
}

impl RecordedRequest {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// An answer that replaces the canned one.
type Script = dyn Fn(&RecordedRequest) -> Option<(u16, Value)> + Send + Sync;

pub(super) struct Stub {
    pub(super) target: Target,
    seen: Arc<Mutex<Vec<RecordedRequest>>>,
    _accepting: JoinSet<()>,
}

impl Stub {
    pub(super) async fn start(
        script: impl Fn(&RecordedRequest) -> Option<(u16, Value)> + Send + Sync + 'static,
    ) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::new(script), Arc::clone(&seen)));
        let target = Target::at(&format!("http://{address}")).unwrap();
        Stub { target, seen, _accepting: accepting }
    }

    pub(super) fn seen(&self, route: &str) -> Vec<RecordedRequest> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.route == route).cloned().collect()
    }
}

async fn accept(
    listener: TcpListener,
    script: Arc<Script>,
    seen: Arc<Mutex<Vec<RecordedRequest>>>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
        let service = service_fn(move |request| {
            let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
            async move { Ok::<_, Infallible>(answer(request, &*script, &seen).await) }
        });
        connections.spawn(async move {
            let http = hyper::server::conn::http1::Builder::new();
            // Fans may disconnect in the middle of a call.
            let _ended = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    script: &Script,
    log: &Mutex<Vec<RecordedRequest>>,
) -> Response<Full<Bytes>> {
    let route = format!("{} {}", request.method(), request.uri().path());
    let headers = request.headers().clone();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let seen = {
        let mut log = log.lock().unwrap();
        let nth = log.iter().filter(|seen| seen.route == route).count();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let seen = RecordedRequest { route, headers, body, nth };
        log.push(seen.clone());
        seen
    };
    let (status, body) = script(&seen).unwrap_or_else(|| canned(&seen));
    let body = match body {
        Value::Null => Bytes::new(),
        Value::Array(bytes) => bytes.iter().map(|it| it.as_u64().unwrap() as u8).collect(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            body.to_string().into()
        }
    };
    Response::builder().status(status).body(Full::new(body)).unwrap()
}

/// The happy path: admitted at once, six free seats, a full wallet.
fn canned(seen: &RecordedRequest) -> (u16, Value) {
    let route = seen.route.as_str();
    match route {
        "POST /api/auth/signup" => (201, json!({ "userId": RESERVATION })),
        "POST /api/auth/login" => (200, json!({ "accessToken": "made", "expiresIn": 3600 })),
        "POST /api/queue/enter" => {
            let entry = json!({ "state": "ADMITTED", "canEnter": true, "position": 0,
                "pollAfterMs": 0, "token": "place-1", "entryToken": "entry-1" });
            (200, entry)
        }
        "POST /api/booking/seats/select" => (201, held(&seen.body["seatIds"])),
        "DELETE /api/booking/seats/release" | "DELETE /api/queue/leave" => (204, Value::Null),
        "GET /api/wallet" => (200, json!({ "balance": 1_000_000 })),
        "POST /api/wallet/charge" => (201, json!({ "balance": 0, "ledgerId": PAYMENT })),
        "POST /api/payment/request" => (201, requested()),
        "POST /api/payment/wallet" | "POST /api/payment/confirm" => (200, confirmed()),
        _ if route.starts_with("POST /api/payment/sandbox/") => {
            (200, json!({ "paymentKey": "key-1" }))
        }
        _ if route.ends_with("/seats") => (200, seat_map("SAAAAAAH")),
        _ => (404, json!({ "status": 404, "code": "NOT_FOUND" })),
    }
}

/// The packed map of these letters, as bytes.
pub(super) fn seat_map(letters: &str) -> Value {
    let bits = |letter: u8| match letter {
        b'A' => 0,
        b'H' => 1,
        _ => 2,
    };
    let pack = |four: &[u8]| -> u8 {
        four.iter().rev().fold(0, |byte, letter| (byte << 2) | bits(*letter))
    };
    letters.as_bytes().chunks_exact(4).map(pack).collect()
}

fn held(seat_ids: &Value) -> Value {
    let ids = seat_ids.as_array().unwrap();
    let seats: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "id": id, "number": "A-1", "grade": "VIP", "price": 150_000 }))
        .collect();
    json!({ "reservationId": RESERVATION, "status": "HELD", "seats": seats,
        "amount": 150_000 * ids.len(), "holdExpiresAt": "2030-01-01T00:00:00Z" })
}

fn requested() -> Value {
    json!({ "paymentId": PAYMENT, "orderId": "0198c0de00007000800000000000002a",
        "amount": 150_000, "status": "READY", "checkout": {} })
}

fn confirmed() -> Value {
    json!({ "paymentId": PAYMENT, "status": "CAPTURED", "tickets": [],
        "reservation": { "id": RESERVATION, "status": "CONFIRMED", "bookingNumber": "B-1" } })
}

pub(super) fn refusal(status: u16, code: &str) -> Option<(u16, Value)> {
    Some((status, json!({ "status": status, "code": code, "title": "no" })))
}

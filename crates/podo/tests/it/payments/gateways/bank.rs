//! A server with all gateways configured, and fakes of them.

use crate::support::client::{Answer, new_key, send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::RsaKeyPair;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use podo_domain::booking::reservations::booking_number;
use podo_testbed::gateways::{Fault, RefundFault};
use podo_testbed::{Gateways, Proxy};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const WEBHOOK_KEY: &[u8] = b"a secret of twenty-four b";

const STRIPE_KEY: &str = "whsec_ofTheEndpoint";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gateway {
    Toss,
    PortOne,
    Inicis,
    Kcp,
    Stripe,
}

impl Gateway {
    pub(crate) const ALL: [Gateway; 5] =
        [Gateway::Toss, Gateway::PortOne, Gateway::Inicis, Gateway::Kcp, Gateway::Stripe];

    /// What fans can choose there besides cards.
    pub(crate) fn methods(self) -> &'static [&'static str] {
        let all = &["KAKAO_PAY", "NAVER_PAY", "TOSS_PAY", "PAYCO", "TRANSFER", "SAMSUNG_PAY"];
        match self {
            Gateway::Toss | Gateway::PortOne | Gateway::Inicis => all,
            Gateway::Kcp => &all[..5],
            Gateway::Stripe => &[],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Gateway::Toss => "toss",
            Gateway::PortOne => "portone",
            Gateway::Inicis => "inicis",
            Gateway::Kcp => "kcp",
            Gateway::Stripe => "stripe",
        }
    }

    pub(crate) fn has_webhooks(self) -> bool {
        matches!(self, Gateway::Toss | Gateway::PortOne | Gateway::Stripe)
    }

    /// "Still processing" is a response to idempotency keys, which only three of them have.
    pub(crate) fn knows(self, fault: Fault) -> bool {
        fault != Fault::Busy || self.has_webhooks()
    }
}

/// How a fan pays, and whether on a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Means {
    pub(crate) method: &'static str,
    pub(crate) on_phone: bool,
}

impl Means {
    pub(crate) const CARD: Means = Means { method: "CARD", on_phone: false };
}

const PHONE: &str =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Mobile/15E148 Safari/604";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Webhook {
    Missing,
    Idempotent,
    TenTimes,
    /// Before the confirmation.
    Early,
    /// Out of order: the final event comes before the earlier one.
    Reordered,
    Forged,
}

impl Webhook {
    pub(crate) const ALL: [Webhook; 6] = [
        Webhook::Missing,
        Webhook::Idempotent,
        Webhook::TenTimes,
        Webhook::Early,
        Webhook::Reordered,
        Webhook::Forged,
    ];
}

/// A fan who is about to pay, or has paid.
pub(crate) struct Case {
    pub(crate) fan: Fan,
    pub(crate) reservation: String,
    pub(crate) payment: String,
    pub(crate) order: String,
    amount: i64,
    gateway: Gateway,
    on_phone: bool,
}

impl Case {
    pub(crate) async fn status(&self) -> String {
        text(&self.fan.payment(&self.payment).await, "status")
    }

    pub(crate) fn confirm_body(&self) -> Value {
        let body = json!({ "paymentId": self.payment, "amount": self.amount });
        let key = match self.gateway {
            Gateway::Toss => format!("tk_{}", self.order),
            Gateway::PortOne => format!("tok_{}", self.order),
            Gateway::Stripe => format!("pi_{}", self.order),
            // Their pages post the approval to us.
            Gateway::Inicis | Gateway::Kcp => return body,
        };
        json!({ "paymentId": self.payment, "amount": self.amount, "paymentKey": key })
    }
}

pub(crate) struct Bank {
    pub(crate) world: World,
    pub(crate) gateways: Gateways,
    /// Between the server and all gateways.
    pub(crate) line: Proxy,
    show: Show,
    day: String,
    _keys: TempDir,
}

impl Bank {
    pub(crate) async fn open() -> Bank {
        Bank::with_seats(80).await
    }

    pub(crate) async fn with_seats(n_seats: u32) -> Bank {
        let gateways = Gateways::start().unwrap();
        let keys = TempDir::with_prefix("podo-keys-").unwrap();
        let line =
            Proxy::to(podo_testbed::network::http::address(&gateways.url()).unwrap()).unwrap();
        let url = format!("http://127.0.0.1:{}", line.port());
        let secret = format!("whsec_{}", STANDARD.encode(WEBHOOK_KEY));
        let (certificate, key) = write_keys(keys.path());
        let settings = [
            ("PODO_PUBLIC_URL", "http://podo.example"),
            ("PODO_GATEWAY_TIMEOUT_SECONDS", "1"),
            ("PODO_SANDBOX", "on"),
            ("PODO_SANDBOX_BESIDE_REAL_GATEWAYS", "fans may buy for nothing"),
            ("PODO_TOSS_URL", &url),
            ("PODO_TOSS_CLIENT_KEY", "test_ck"),
            ("PODO_TOSS_SECRET_KEY", "test_sk"),
            ("PODO_PORTONE_URL", &url),
            ("PODO_PORTONE_STORE_ID", "store"),
            ("PODO_PORTONE_CHANNEL_KEY", "channel"),
            ("PODO_PORTONE_SECRET", "secret"),
            ("PODO_PORTONE_WEBHOOK_SECRETS", &secret),
            ("PODO_PORTONE_CHANNEL", "test"),
            ("PODO_INICIS_URL", &url),
            ("PODO_INICIS_PAY_URL", &url),
            ("PODO_INICIS_MID", "INIpayTest"),
            ("PODO_INICIS_SIGN_KEY", "sign"),
            ("PODO_INICIS_API_KEY", "api"),
            ("PODO_STRIPE_URL", &url),
            ("PODO_STRIPE_PUBLISHABLE_KEY", "pk_test_x"),
            ("PODO_STRIPE_SECRET_KEY", "sk_test_x"),
            ("PODO_STRIPE_WEBHOOK_SECRETS", STRIPE_KEY),
            ("PODO_KCP_URL", &url),
            ("PODO_KCP_SITE_CD", "T0000"),
            ("PODO_KCP_CERTIFICATE", &certificate),
            ("PODO_KCP_PRIVATE_KEY", &key),
        ];
        let world = World::with(&settings).await;
        let show = world.show(Plan { n_seats, ..Plan::default() }).await;
        let mut offered = Gateway::Toss.methods().to_vec();
        offered.extend(["CARD", "WALLET", "VIRTUAL_ACCOUNT"]);
        offer(&world, &show, &offered).await.expect(200);
        let number = booking_number(world.context().now(), 0);
        let day = format!("{}-{}-{}", &number[2..6], &number[6..8], &number[8..10]);
        Bank { world, gateways, line, show, day, _keys: keys }
    }

    /// A fan holds a seat, chooses the gateway and approves on its page.
    pub(crate) async fn start(
        &self,
        gateway: Gateway,
        seat: u32,
        faults: (Fault, RefundFault),
    ) -> Case {
        self.start_with(gateway, &[seat], faults).await
    }

    /// The same with several seats.
    pub(crate) async fn start_with(
        &self,
        gateway: Gateway,
        seats: &[u32],
        faults: (Fault, RefundFault),
    ) -> Case {
        self.start_by(gateway, Means::CARD, seats, faults).await
    }

    /// The same by any means.
    pub(crate) async fn start_by(
        &self,
        gateway: Gateway,
        means: Means,
        seats: &[u32],
        (fault, refund_fault): (Fault, RefundFault),
    ) -> Case {
        let fan = self.world.fan_inside(&self.show).await;
        let reservation = fan.hold(&self.show, seats).await;
        let Means { method, on_phone } = means;
        let body = json!({ "reservationId": reservation, "method": method,
            "gateway": gateway.name() });
        let request = fan.api.call(Method::POST, "/api/payment/request").json(&body);
        let agent = if on_phone { PHONE } else { "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" };
        let request = request.header("User-Agent", agent).header("Idempotency-Key", new_key());
        let ready = send(request).await.expect(201);
        // Two of them have no script for phones: a form opens their page.
        let is_form = on_phone && !gateway.has_webhooks();
        let data = &ready["checkout"]["data"];
        assert_eq!(
            (data["action"].is_string(), data["scriptUrl"].is_string()),
            (is_form, !is_form)
        );
        let (payment, order) = (text(&ready, "paymentId"), text(&ready, "orderId"));
        self.gateways.approve(&order, fault, refund_fault);
        self.gateways.pay_with(&order, method);
        let amount = PRICE * i64::try_from(seats.len()).unwrap();
        let case = Case { fan, reservation, payment, order, amount, gateway, on_phone };
        self.come_back(&case).await;
        case
    }

    pub(crate) fn event(&self) -> String {
        self.show.event.to_string()
    }

    pub(crate) async fn fan(&self) -> Fan {
        self.world.fan_inside(&self.show).await
    }

    pub(crate) async fn hold(&self, fan: &Fan, seat: u32) -> String {
        fan.hold(&self.show, &[seat]).await
    }

    /// The gateway's page posts the approval from its own site, without a session.
    async fn come_back(&self, case: &Case) {
        let order = case.order.as_str();
        let token = format!("{order}-{}", case.amount);
        let fields = match case.gateway {
            Gateway::Toss | Gateway::PortOne | Gateway::Stripe => return,
            Gateway::Inicis if case.on_phone => vec![
                ("P_STATUS", "00"),
                ("P_TID", token.as_str()),
                ("idc_name", "fc"),
                ("P_REQ_URL", "https://evil.example/"),
            ],
            Gateway::Inicis => vec![
                ("resultCode", "0000"),
                ("orderNumber", order),
                ("authToken", token.as_str()),
                ("idc_name", "fc"),
                ("authUrl", "https://evil.example/"),
            ],
            Gateway::Kcp => vec![
                ("res_cd", "0000"),
                ("ordr_idxx", order),
                ("tran_cd", "00100000"),
                ("enc_data", order),
                ("enc_info", "info"),
            ],
        };
        let path = match case.on_phone {
            true => format!("/api/payment/return/{}?order={order}", case.gateway.name()),
            false => format!("/api/payment/return/{}", case.gateway.name()),
        };
        let request = self.world.stranger.call(Method::POST, &path).form(&fields);
        // The test client doesn't follow the redirect, because it has a fragment.
        let answer = send(request.header("Origin", "https://stdpay.inicis.com")).await;
        assert!(answer.status < 400, "{}", answer.text);
    }

    /// The fan cancels one of the seats.
    pub(crate) async fn give_back(&self, case: &Case, seat: u32) {
        let path = format!("/api/booking/reservations/{}/cancel", case.reservation);
        let body = json!({ "reason": "못 가요", "seatIds": [self.show.seat(seat)] });
        case.fan.api.post_new(&path, &body).await.expect(200);
    }

    /// Confirms, with the accompanying webhooks.
    pub(crate) async fn play(&self, case: &Case, webhook: Webhook) {
        if webhook == Webhook::Early {
            self.tell(case, "early").await;
        }
        let body = case.confirm_body();
        let answer = case.fan.api.post_new("/api/payment/confirm", &body).await;
        assert!([200, 202, 402].contains(&answer.status), "{}", answer.text);
        match webhook {
            Webhook::Missing | Webhook::Early => {}
            Webhook::Idempotent => self.tell(case, "once").await,
            Webhook::TenTimes => {
                join_all((0..10).map(|_| self.tell(case, "ten"))).await;
            }
            Webhook::Reordered => {
                self.tell(case, "second").await;
                self.tell(case, "first").await;
            }
            Webhook::Forged => self.forge(case).await,
        }
    }

    /// A webhook as the gateway sends it; `name` identifies deliveries of one event.
    pub(crate) async fn tell(&self, case: &Case, name: &str) {
        let (order, api) = (&case.order, &self.world.stranger);
        let path = format!("/api/payment/webhooks/{}", case.gateway.name());
        let request = api.call(Method::POST, &path);
        let request = match case.gateway {
            Gateway::Toss => request.json(&json!({
                "eventType": "PAYMENT_STATUS_CHANGED", "createdAt": name,
                "data": { "orderId": order, "status": "DONE" },
            })),
            Gateway::PortOne => {
                let kind = if name == "first" { "Transaction.Failed" } else { "Transaction.Paid" };
                let body = json!({ "type": kind, "data": { "paymentId": order } }).to_string();
                let (id, stamp) = (format!("{name}-{order}"), self.seconds());
                let key = hmac::Key::new(hmac::HMAC_SHA256, WEBHOOK_KEY);
                let signed = hmac::sign(&key, format!("{id}.{stamp}.{body}").as_bytes());
                let signature = format!("v1,{}", STANDARD.encode(signed.as_ref()));
                request
                    .header("webhook-id", id)
                    .header("webhook-timestamp", stamp)
                    .header("webhook-signature", signature)
                    .body(body)
            }
            Gateway::Stripe => {
                let kind = if name == "first" { "processing" } else { "succeeded" };
                let intent = json!({ "id": format!("pi_{order}"),
                    "metadata": { "order_id": order } });
                let body = json!({ "id": format!("evt_{name}_{order}"),
                    "type": format!("payment_intent.{kind}"), "data": { "object": intent } });
                let (body, stamp) = (body.to_string(), self.seconds());
                let key = hmac::Key::new(hmac::HMAC_SHA256, STRIPE_KEY.as_bytes());
                let signed = hmac::sign(&key, format!("{stamp}.{body}").as_bytes());
                let hex: String = signed.as_ref().iter().map(|it| format!("{it:02x}")).collect();
                request.header("stripe-signature", format!("t={stamp},v1={hex}")).body(body)
            }
            Gateway::Inicis | Gateway::Kcp => return,
        };
        send(request).await.expect(200);
    }

    fn seconds(&self) -> i64 {
        self.world.context().now().ms() / 1_000
    }

    /// An attacker claims that it is paid.
    async fn forge(&self, case: &Case) {
        let path = format!("/api/payment/webhooks/{}", case.gateway.name());
        let request = self.world.stranger.call(Method::POST, &path);
        let request = match case.gateway {
            Gateway::Toss => request.json(&json!({
                "eventType": "PAYMENT_STATUS_CHANGED", "data": { "orderId": case.order,
                "status": "DONE", "totalAmount": 1 },
            })),
            Gateway::Stripe => request
                .header("stripe-signature", format!("t={},v1=00", self.seconds()))
                .json(&json!({ "id": "evt_x", "type": "payment_intent.succeeded",
                    "data": { "object": { "metadata": { "order_id": case.order } } } })),
            Gateway::PortOne | Gateway::Inicis | Gateway::Kcp => request
                .header("webhook-id", "x")
                .header("webhook-timestamp", self.seconds())
                .header("webhook-signature", "v1,AAAA")
                .json(&json!({ "type": "Transaction.Paid", "data": { "paymentId": case.order } })),
        };
        let answer = send(request).await;
        assert!([200, 401].contains(&answer.status), "{}", answer.text);
    }

    /// Every invariant holds, and the three records agree.
    pub(crate) async fn close(self) {
        let path = format!("/api/admin/reconciliation?day={}", self.day);
        let report = self.world.organiser.get(&path).await.expect(200);
        assert_eq!(report["nDifferences"], 0, "{report:#}");
        assert_ne!(report["payments"], 0);
        let kept = crate::engine::kept(self.world._folder.as_ref().unwrap().path());
        assert_eq!(card_numbers(&kept), Vec::<String>::new());
        for (order, booked) in self.gateways.charged() {
            assert_eq!(booked.n_captures, 1, "{order}: {booked:?}");
        }
        self.world.finish().await;
    }
}

/// The organiser chooses how fans may pay.
pub(crate) async fn offer(world: &World, show: &Show, methods: &[&str]) -> Answer {
    let path = format!("/api/admin/events/{}", show.event);
    let edit = json!({ "paymentMethods": methods });
    send(world.organiser.call(Method::PATCH, &path).json(&edit)).await
}

/// Possible card numbers in the stored bytes: 13 to 19 isolated digits with a card prefix and a
/// valid check digit. The fakes send one in every response.
fn card_numbers(kept: &[u8]) -> Vec<String> {
    let words = kept.split(|byte| !byte.is_ascii_alphanumeric());
    let found = words.filter(|word| is_card_number(word));
    found.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn is_card_number(word: &[u8]) -> bool {
    let is_like_one = (13..=19).contains(&word.len())
        && word.iter().all(u8::is_ascii_digit)
        && (b'3'..=b'6').contains(&word[0]);
    let digit = |(place, byte): (usize, &u8)| {
        let doubled = u32::from(byte - b'0') << (place % 2);
        if doubled > 9 { doubled - 9 } else { doubled }
    };
    is_like_one && word.iter().rev().enumerate().map(digit).sum::<u32>() % 10 == 0
}

#[test]
fn a_card_number_is_known_by_its_check_digit() {
    assert!(is_card_number(b"4111111111111111"));
    assert!(!is_card_number(b"4111111111111112"));
    assert!(!is_card_number(b"1794803212345"));
}

/// An unused certificate, and a signing key.
fn write_keys(folder: &Path) -> (String, String) {
    let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = key.as_der().unwrap();
    let pem = |name: &str, bytes: &[u8]| {
        format!("-----BEGIN {name}-----\n{}\n-----END {name}-----\n", STANDARD.encode(bytes))
    };
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let certificate = write("certificate.pem", pem("CERTIFICATE", b"x"));
    (certificate, write("key.pem", pem("PRIVATE KEY", der.as_ref())))
}

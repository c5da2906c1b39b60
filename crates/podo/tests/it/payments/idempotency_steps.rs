//! Every write with an idempotency key, and how a fan gets there.

use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Show, World, accounts};
use podo_domain::identity::Role;
use serde_json::{Value, json};

/// A write with a key, another body for the same path, and the status of success.
pub(crate) struct Write {
    /// The caller.
    pub(crate) api: Api,
    pub(crate) path: String,
    pub(crate) body: Value,
    pub(crate) other_body: Value,
    pub(crate) status: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Select,
    Request,
    Confirm,
    PayFromWallet,
    CancelReservation,
    CancelPayment,
    Charge,
    ChargeByGateway,
    ConfirmCharge,
    Adjust,
    Transfer,
}

pub(crate) const STEPS: [Step; 11] = [
    Step::Select,
    Step::Request,
    Step::Confirm,
    Step::PayFromWallet,
    Step::CancelReservation,
    Step::CancelPayment,
    Step::Charge,
    Step::ChargeByGateway,
    Step::ConfirmCharge,
    Step::Adjust,
    Step::Transfer,
];

impl Step {
    /// Brings an admitted fan to this step.
    pub(crate) async fn prepare(self, world: &World, fan: &Fan, show: &Show, seat: u32) -> Write {
        let write = |path: &str, body: Value, other_body: Value, status: u16| Write {
            api: fan.api.clone(),
            path: path.to_owned(),
            body,
            other_body,
            status,
        };
        match self {
            Step::Select => {
                let pick = |index: u32| json!({ "scheduleId": show.schedule, "seatIds": [show.seat(index)] });
                write("/api/booking/seats/select", pick(seat), pick(seat + 1), 201)
            }
            Step::Request => {
                let reservation = fan.hold(show, &[seat]).await;
                let pay = |method: &str| json!({ "reservationId": reservation, "method": method });
                write("/api/payment/request", pay("WALLET"), pay("CARD"), 201)
            }
            Step::Confirm => {
                fan.charge(PRICE).await;
                let reservation = fan.hold(show, &[seat]).await;
                let id = fan.ready(&reservation, "WALLET").await;
                let body = json!({ "paymentId": id, "amount": PRICE });
                let other = json!({ "paymentId": id, "amount": PRICE, "paymentKey": "x" });
                write("/api/payment/confirm", body, other, 200)
            }
            Step::PayFromWallet => {
                fan.charge(PRICE).await;
                let reservation = fan.hold(show, &[seat]).await;
                let pay = |amount: i64| json!({ "reservationId": reservation, "amount": amount });
                write("/api/payment/wallet", pay(PRICE), pay(PRICE + 1), 200)
            }
            Step::CancelReservation => {
                let id = fan.buy(show, seat).await.reservation;
                let path = format!("/api/booking/reservations/{id}/cancel");
                write(&path, json!({ "reason": "a" }), json!({ "reason": "b" }), 200)
            }
            Step::CancelPayment => {
                let id = fan.buy(show, seat).await.payment;
                let cancel = |reason: &str| json!({ "paymentId": id, "reason": reason });
                write("/api/payment/cancel", cancel("a"), cancel("b"), 200)
            }
            Step::Charge | Step::ChargeByGateway => {
                let gateway = (self == Step::ChargeByGateway).then_some("sandbox");
                let charge = |amount: i64| json!({ "amount": amount, "gateway": gateway });
                write("/api/wallet/charge", charge(1_000), charge(2_000), 201)
            }
            Step::ConfirmCharge => {
                let confirm = charge_confirmation(fan, 1_000).await;
                let other = json!({ "paymentKey": "x", "chargeId": confirm["chargeId"],
                                    "amount": confirm["amount"] });
                write("/api/wallet/charge/confirm", confirm, other, 201)
            }
            Step::Adjust => {
                let path = format!("/api/admin/users/{}/wallet", fan.id);
                let adjust = |amount: i64| json!({ "amount": amount, "reason": "사과" });
                let (_, token) = accounts(world.context(), 1, Role::Admin).await.remove(0);
                let write = write(&path, adjust(1_000), adjust(2_000), 201);
                Write { api: world.stranger.with_token(&token), ..write }
            }
            Step::Transfer => {
                let ticket = fan.buy(show, seat).await.ticket;
                let give = |email: &str| json!({ "email": email });
                let path = format!("/api/tickets/{ticket}/transfer");
                write(&path, give("friend@podo.example"), give("other@podo.example"), 202)
            }
        }
    }

    /// Whether it moves money, or prepares to.
    pub(crate) fn is_about_money(self) -> bool {
        !matches!(self, Step::Select | Step::Transfer)
    }

    /// Whether it calls a gateway: a concurrent retry gets a conflict.
    pub(crate) fn asks_a_gateway(self) -> bool {
        matches!(self, Step::ConfirmCharge)
    }
}

/// The body that confirms a charge for which the person chose "approve".
async fn charge_confirmation(fan: &Fan, amount: i64) -> Value {
    let body = json!({ "amount": amount, "gateway": "sandbox" });
    let ready = fan.api.post_new("/api/wallet/charge", &body).await.expect(201);
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": "APPROVE" })).await.expect(200);
    json!({ "chargeId": ready["chargeId"], "amount": amount, "paymentKey": chosen["paymentKey"] })
}

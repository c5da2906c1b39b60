//! Payments: by wallet or card, at the last moment, and sometimes canceled again.

use crate::coverage::Moment;
use crate::fan::call::Saw;
use crate::fan::{Fan, HeldSeats, body_of, uuid_in};
use futures::FutureExt;
use futures::future::join;
use podo_app::Error;
use podo_app::operations::idempotency::{CANCEL_RESERVATION, CONFIRM, REQUEST};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::gateway_webhooks;
use podo_app::payments::port::gateway::Delivery;
use podo_app::payments::port::gateway::Device;
use podo_app::payments::{
    CancellationRequest, ConfirmOutcome, ConfirmationRequest, PaymentRequest, cancel_reservation,
    confirm_payment, request_payment,
};
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{Payee, PaymentMethod};
use podo_domain::{PaymentId, Refusal, ReservationId, Timestamp, Won};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const SANDBOX: &str = podo_adapters::gateways::sandbox::NAME;

struct Prepared {
    payment: PaymentId,
    amount: Won,
    until: Timestamp,
    approval: Option<String>,
}

/// The outcome of a confirm call.
enum Paid {
    Yes(Value),
    Unknown,
    No,
}

impl Fan {
    /// Pays; after a declined card perhaps with another one.
    pub(super) async fn pay(&mut self, held_seats: HeldSeats) {
        let (reservation, mut until) = (held_seats.reservation, held_seats.until);
        let is_free = self.choose(held_seats).await;
        for _ in 0..3 {
            self.wait_for_the_edge(until).await;
            let Some(prepared) = self.request(reservation, is_free).await else { return };
            until = prepared.until;
            self.wait_for_the_edge(until).await;
            let meddle = self.meddle(reservation);
            let (paid, ()) = join(self.confirm(&prepared), meddle).await;
            match paid {
                Paid::Yes(paid) => return self.enjoy(reservation, &paid).await,
                Paid::Unknown => return,
                Paid::No => {}
            }
        }
    }

    async fn enjoy(&mut self, reservation: ReservationId, paid: &Value) {
        let number = paid["reservation"]["bookingNumber"].as_str().unwrap().to_owned();
        self.acknowledged.bought.push((reservation, number));
        // The entry ends with the purchase.
        (self.place_token, self.entry_token) = (None, None);
        if self.rng.happens(self.sale.plan.uses_tickets) {
            self.use_ticket(reservation, paid).await;
        }
        if self.rng.happens(self.sale.plan.cancels) {
            self.pause(0, 100).await;
            self.cancel(reservation).await;
        }
    }

    /// Most act at once; some when the hold is about to expire, or has just expired.
    async fn wait_for_the_edge(&mut self, until: Timestamp) {
        if !self.rng.happens(self.sale.plan.at_the_edge) {
            return self.pause(0, 10).await;
        }
        let early = Duration::from_millis(self.rng.below(1_000));
        self.sale.cluster.clock.sleep_until(until.minus(early)).await;
        self.pause(0, 5).await;
    }

    /// A gateway has nothing to charge for a free order.
    async fn request(&mut self, reservation: ReservationId, is_free: bool) -> Option<Prepared> {
        let method = match is_free || self.rng.happens(self.sale.plan.from_wallet) {
            true => PaymentMethod::Wallet,
            false => PaymentMethod::Card,
        };
        if method == PaymentMethod::Wallet && self.rng.happens(80) {
            self.charge().await;
        }
        let (fan, key) = (self.user, self.key(REQUEST, &reservation.to_string()));
        let asked = self.ask("request", Saw::Answers, move |node| {
            let key = key.clone();
            async move {
                let gateway = (method == PaymentMethod::Card).then_some(SANDBOX);
                let device = Device::Desktop;
                let asked = PaymentRequest { key, fan, reservation, method, gateway, device };
                request_payment(&node, asked).await.map(body_of)
            }
            .boxed()
        });
        let body = asked.await?.ok()?;
        let payment = PaymentId::new(uuid_in(&body["paymentId"]));
        let approval = match method.payee() {
            Payee::Gateway => Some(self.approve(payment).await?),
            Payee::Wallet | Payee::BoxOffice => None,
        };
        Some(Prepared {
            payment,
            amount: serde_json::from_value(body["amount"].clone()).unwrap(),
            until: serde_json::from_value(body["holdExpiresAt"].clone()).unwrap(),
            approval,
        })
    }

    /// Chooses on the gateway's page.
    async fn approve(&mut self, payment: PaymentId) -> Option<String> {
        let sale = self.sale.clone();
        let choice = self.rng.one_of(sale.plan.choices);
        for _ in 0..10 {
            let node = &sale.cluster.nodes[sale.any_node(&mut self.rng)];
            match node.sandbox.choose(payment, choice, sale.now()).await {
                Ok(approval) => return Some(approval),
                Err(Error::Unavailable(_) | Error::Conflict(_)) => self.pause(1, 10).await,
                Err(error) => {
                    sale.ensure(false, || format!("the gateway's page: {error}"));
                    return None;
                }
            }
        }
        None
    }

    async fn confirm(&mut self, prepared: &Prepared) -> Paid {
        let body = json!({ "paymentId": prepared.payment, "amount": prepared.amount });
        let key = self.key(CONFIRM, &body.to_string());
        let (fan, payment, amount) = (self.user, prepared.payment, prepared.amount);
        let approval = prepared.approval.clone();
        let sale = self.sale.clone();
        let watcher = self.sale.clone();
        let tells = approval.is_some() && self.rng.happens(sale.plan.webhooks);
        let webhook = (tells, self.rng.ms(0, 20), sale.any_node(&mut self.rng));
        let asked = self.ask("confirm", Saw::Answers, move |node| {
            let (key, payment_key) = (key.clone(), approval.clone());
            let (asked, watcher) =
                (ConfirmationRequest { key, fan, payment, payment_key, amount }, watcher.clone());
            async move {
                match confirm_payment(&node, asked).await? {
                    Idempotent::Fresh(ConfirmOutcome::Paid(paid)) => {
                        Ok(serde_json::to_value(paid).unwrap())
                    }
                    // Another call with the key may know more, so there is no response to compare.
                    Idempotent::Fresh(ConfirmOutcome::Unknown(_) | ConfirmOutcome::Awaiting(_)) => {
                        Err(Refusal::PaymentDeclined { reason: UNKNOWN.to_owned() }.into())
                    }
                    Idempotent::Replay(answer) => {
                        watcher.saw(Moment::Replayed);
                        match answer.status {
                            200 => Ok(serde_json::from_str(&answer.body).unwrap()),
                            _ => Err(Refusal::PaymentDeclined { reason: answer.body }.into()),
                        }
                    }
                }
            }
            .boxed()
        });
        let (answer, ()) = join(sale.while_paying(asked), tell(&sale, payment, webhook)).await;
        match answer {
            Some(Ok(paid)) => Paid::Yes(paid),
            Some(Err(Refusal::PaymentDeclined { reason })) if reason == UNKNOWN => Paid::Unknown,
            Some(Err(_refused)) => Paid::No,
            None => Paid::Unknown,
        }
    }

    async fn cancel(&mut self, reservation: ReservationId) {
        let to = self.rng.one_of(&[RefundTo::Original, RefundTo::Wallet]);
        let (fan, key) = (self.user, self.key(CANCEL_RESERVATION, &reservation.to_string()));
        let moved = self.moved_meanwhile(reservation);
        let canceled = self.ask("cancel", Saw::Answers, move |node| {
            let (key, reason, seats) = (key.clone(), "changed my mind".to_owned(), Vec::new());
            let asked = CancellationRequest { key, fan, reason, seats, to };
            async move { cancel_reservation(&node, reservation, asked).await.map(body_of) }.boxed()
        });
        join(canceled, moved).await;
    }
}

const UNKNOWN: &str = "unknown";

/// The gateway sends another node a webhook while the payment is being confirmed, perhaps twice.
async fn tell(
    sale: &Arc<crate::sale::Sale>,
    payment: PaymentId,
    (tells, late, node): (bool, Duration, usize),
) {
    if !tells {
        return;
    }
    tokio::time::sleep(late).await;
    let context = &sale.cluster.nodes[node].context;
    let body = json!({ "id": payment.order_id(), "orderId": payment.order_id() }).to_string();
    let delivery = Delivery { headers: &[], body: body.as_bytes(), now: sale.now() };
    let acknowledged = async {
        if let Some(hint) = gateway_webhooks::receive(context, SANDBOX, &delivery).await? {
            gateway_webhooks::follow(context, SANDBOX, &hint.id, payment).await?;
        }
        Ok(())
    };
    if let Err(error @ (Error::Broken(_) | Error::Refused(_))) = acknowledged.await {
        sale.ensure(false, || format!("a webhook: {error}"));
    }
}

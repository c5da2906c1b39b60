//! Payments: by wallet or card, at the last moment, twice, and sometimes canceled.

use crate::check::coverage::Coverage;
use crate::fan::{Fan, HeldSeats, body_of, uuid_in};
use crate::time::Owner;
use futures::FutureExt;
use podo_app::Error;
use podo_app::booking::reservations::release_seats;
use podo_app::operations::idempotency::{CANCEL_RESERVATION, CONFIRM, PAY_FROM_WALLET, REQUEST};
use podo_app::operations::port::clock::Clock;
use podo_app::operations::port::idempotency::{IdempotencyKey, Idempotent};
use podo_app::payments::gateway_webhooks::take_return;
use podo_app::payments::port::gateway::Device;
use podo_app::payments::{
    CancellationRequest, ConfirmOutcome, ConfirmationRequest, PaymentRequest, WalletPaymentRequest,
    cancel_reservation, confirm_payment, pay_from_wallet, request_payment,
};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{PaymentId, Refusal, ReservationId, Timestamp, Won};
use serde_json::{Value, json};

/// A prepared payment.
struct Prepared {
    payment: PaymentId,
    amount: Won,
    until: Timestamp,
}

/// The result of a confirm call.
enum Paid {
    Yes(Value),
    /// A virtual account waits for this payment's deposit.
    Awaits(PaymentId, Won),
    Unknown,
    No,
}

impl Fan {
    /// Pays; after a declined card perhaps with another one.
    pub(super) async fn pay(&mut self, held_seats: HeldSeats) {
        let reservation = held_seats.reservation;
        let mut until = held_seats.until;
        for _ in 0..3 {
            self.wait_for_the_edge(until).await;
            // A gateway has nothing to charge for a free order.
            let in_one_call = held_seats.amount.is_zero()
                || self.world.rng.happens(self.world.swarm.from_wallet / 2);
            let paid = if in_one_call {
                self.pay_from_wallet(&held_seats).await
            } else {
                let Some(prepared) = self.request(reservation).await else { return };
                until = prepared.until;
                self.wait_for_the_edge(until).await;
                self.confirm(reservation, &prepared).await
            };
            match paid {
                Paid::Yes(paid) => {
                    if self.world.rng.happens(self.world.swarm.uses_tickets) {
                        self.pause(100, 20_000).await;
                        self.use_ticket(reservation, &paid).await;
                    }
                    if self.world.swarm.has_options && self.world.rng.happens(40) {
                        self.list_ticket(&paid).await;
                    }
                    if self.world.rng.happens(self.world.swarm.cancels) {
                        self.pause(100, 60_000).await;
                        self.cancel(reservation).await;
                    }
                    return;
                }
                Paid::Awaits(payment, amount) => return self.deposit(payment, amount).await,
                Paid::Unknown => return,
                Paid::No => self.pause(100, 5_000).await,
            }
        }
    }

    /// Most act in good time; some in the last, the very or the next millisecond.
    async fn wait_for_the_edge(&self, until: Timestamp) {
        let world = &self.world;
        if !world.rng.happens(world.swarm.at_the_edge) {
            return self.pause(50, 15_000).await;
        }
        let shift = world.rng.below(3) as i64 - 1;
        world.time.sleep_until(Timestamp::from_ms(until.ms() + shift)).await;
    }

    /// Pays in one call instead of a request and its confirmation.
    async fn pay_from_wallet(&mut self, held_seats: &HeldSeats) -> Paid {
        if self.world.rng.happens(80) {
            self.charge().await;
        }
        self.note_moment(held_seats.until);
        let (fan, reservation, amount) = (self.user, held_seats.reservation, held_seats.amount);
        if self.world.rng.happens(self.world.swarm.repeats) {
            self.meddle(reservation);
        }
        let key = self.key(PAY_FROM_WALLET, &reservation.to_string());
        let asked = self.insist("pay from wallet", move |context| {
            let asked = WalletPaymentRequest { key: key.clone(), fan, reservation, amount };
            async move { pay_from_wallet(&context, asked).await.map(body_of) }.boxed()
        });
        match asked.await {
            Some(Ok(paid)) => {
                self.world.saw(Coverage::PaidInOneCall);
                Paid::Yes(paid)
            }
            Some(Err(_refused)) => Paid::No,
            None => Paid::Unknown,
        }
    }

    async fn request(&mut self, reservation: ReservationId) -> Option<Prepared> {
        let pays_from_wallet = self.world.rng.happens(self.world.swarm.from_wallet);
        let method = match pays_from_wallet {
            true => PaymentMethod::Wallet,
            // Seeds without deposits draw no number for it.
            false if self.world.swarm.has_deposits && self.world.rng.happens(60) => {
                PaymentMethod::VirtualAccount
            }
            false => PaymentMethod::Card,
        };
        if pays_from_wallet && self.world.rng.happens(80) {
            self.charge().await;
        }
        let (fan, key) = (self.user, self.key(REQUEST, &reservation.to_string()));
        let name = self.world.swarm.company.name();
        let asked = self.insist("request", move |context| {
            let key = key.clone();
            async move {
                let gateway = (method != PaymentMethod::Wallet).then_some(name);
                let device = Device::Desktop;
                let asked = PaymentRequest { key, fan, reservation, method, gateway, device };
                request_payment(&context, asked).await.map(body_of)
            }
            .boxed()
        });
        let body = asked.await?.ok()?;
        let until = serde_json::from_value(body["holdExpiresAt"].clone());
        let amount = serde_json::from_value(body["amount"].clone());
        let prepared = Prepared {
            payment: PaymentId::new(uuid_in(&body["paymentId"])),
            amount: amount.expect("a payment has an amount"),
            until: until.expect("a payment says how long the hold lasts"),
        };
        if method != PaymentMethod::Wallet {
            self.approve(&prepared).await;
        }
        if method == PaymentMethod::VirtualAccount {
            self.world.pay_with(prepared.payment, method.as_str());
        }
        Some(prepared)
    }

    /// Approves on the company's page, which may post the approval to us.
    async fn approve(&self, prepared: &Prepared) {
        let company = self.world.swarm.company;
        self.world.approve(prepared.payment);
        let fields = company.returned(prepared.payment, prepared.amount.get());
        if fields.is_empty() {
            return;
        }
        let asked = self.insist("return", move |context| {
            let fields = fields.clone();
            async move { take_return(&context, company.name(), &fields).await.map(drop) }.boxed()
        });
        asked.await;
    }

    fn note_moment(&self, until: Timestamp) {
        let now = self.world.time.now().ms();
        if now == until.ms() {
            self.world.saw(Coverage::PayingAtExpiry);
        }
        if now + 1 == until.ms() {
            self.world.saw(Coverage::PayingJustInTime);
        }
    }

    async fn confirm(&self, reservation: ReservationId, prepared: &Prepared) -> Paid {
        let body = json!({ "paymentId": prepared.payment, "amount": prepared.amount });
        let key = self.key(CONFIRM, &body.to_string());
        self.note_moment(prepared.until);
        if self.world.rng.happens(self.world.swarm.repeats) {
            self.meddle(reservation);
        }
        let paid = self.confirm_with(key.clone(), prepared).await;
        if let Paid::Yes(first) = &paid
            && self.world.rng.happens(self.world.swarm.repeats)
        {
            self.check_repeat(key, prepared, first).await;
        }
        paid
    }

    async fn confirm_with(&self, key: IdempotencyKey, prepared: &Prepared) -> Paid {
        let (fan, payment, amount) = (self.user, prepared.payment, prepared.amount);
        let approval = self.world.swarm.company.payment_key(payment);
        let asked = self.insist("confirm", move |context| {
            let (key, payment_key) = (key.clone(), approval.clone());
            let asked = ConfirmationRequest { key, fan, payment, payment_key, amount };
            async move { confirm_payment(&context, asked).await }.boxed()
        });
        match asked.await {
            Some(Ok(Idempotent::Fresh(ConfirmOutcome::Paid(confirmed)))) => {
                Paid::Yes(serde_json::to_value(&confirmed).expect("answers are JSON"))
            }
            Some(Ok(Idempotent::Replay(answer))) => {
                self.world.saw(Coverage::WebhookFirst);
                match answer.status {
                    200 => Paid::Yes(serde_json::from_str(&answer.body).expect("JSON is kept")),
                    202 => Paid::Awaits(payment, amount),
                    _ => Paid::No,
                }
            }
            Some(Ok(Idempotent::Fresh(ConfirmOutcome::Awaiting(_)))) => {
                Paid::Awaits(payment, amount)
            }
            Some(Ok(Idempotent::Fresh(ConfirmOutcome::Unknown(_)))) | None => Paid::Unknown,
            Some(Err(Refusal::PaymentDeclined { .. })) => {
                self.world.saw(Coverage::WalletTooSmall);
                Paid::No
            }
            Some(Err(_refused)) => Paid::No,
        }
    }

    /// I13: the same key gives the same answer, byte for byte, and refuses another body.
    async fn check_repeat(&self, key: IdempotencyKey, prepared: &Prepared, first: &Value) {
        let world = &self.world;
        let again = self.confirm_with(key.clone(), prepared).await;
        match &again {
            Paid::Yes(second) => {
                world.saw(Coverage::Replayed);
                world.ensure(first == second, "I13", || format!("{first}, then {second}"));
            }
            Paid::No => world.ensure(false, "I13", || format!("paid, then not: {first}")),
            Paid::Awaits(..) | Paid::Unknown => {}
        }
        let other = IdempotencyKey { fingerprint: [9; 32], ..key };
        let (fan, payment, amount) = (self.user, prepared.payment, prepared.amount);
        let asked = self.insist("confirm with another body", move |context| {
            let (key, payment_key) = (other.clone(), Some("approval".to_owned()));
            let asked = ConfirmationRequest { key, fan, payment, payment_key, amount };
            async move { confirm_payment(&context, asked).await.map(drop) }.boxed()
        });
        match asked.await {
            Some(Err(Refusal::KeyReused)) => world.saw(Coverage::KeyReused),
            Some(other) => {
                world.ensure(false, "I13", || format!("another body under a used key: {other:?}"));
            }
            None => {}
        }
    }

    /// In another tab during the payment: releases the seats, or pays once more.
    fn meddle(&self, reservation: ReservationId) {
        let (world, fan) = (self.world.clone(), self.user);
        let key = self.key(REQUEST, "another tab");
        world.time.clone().spawn(Owner::World, async move {
            world.time.sleep(world.rng.ms(1, 4_000)).await;
            let Some((node, context)) = world.any_node() else { return };
            let watcher = world.clone();
            world.time.spawn(Owner::Node(node), async move {
                let released = release_seats(&context, fan, reservation).await;
                if let Err(Error::Refused(Refusal::PaymentRunning)) = released {
                    watcher.saw(Coverage::ReleaseRefused);
                }
                let (method, gateway) = (PaymentMethod::Card, Some(watcher.swarm.company.name()));
                let device = Device::Desktop;
                let asked = PaymentRequest { key, fan, reservation, method, gateway, device };
                let requested = request_payment(&context, asked).await;
                if let Err(Error::Refused(Refusal::PaymentRunning)) = requested {
                    watcher.saw(Coverage::SecondTabRefused);
                }
            });
        });
    }

    async fn cancel(&self, reservation: ReservationId) {
        if self.world.swarm.has_desk && self.world.rng.happens(40) {
            self.world.move_soon(reservation);
        }
        let to = self.world.rng.one_of(&[RefundTo::Original, RefundTo::Wallet]);
        let (fan, key) = (self.user, self.key(CANCEL_RESERVATION, &reservation.to_string()));
        let asked = self.insist("cancel", move |context| {
            let (key, reason, seats) = (key.clone(), "changed my mind".to_owned(), Vec::new());
            let asked = CancellationRequest { key, fan, reason, seats, to };
            async move { cancel_reservation(&context, reservation, asked).await.map(drop) }.boxed()
        });
        asked.await;
    }
}

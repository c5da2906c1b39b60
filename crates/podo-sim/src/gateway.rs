//! The payment companies: stand-ins that keep their own ledgers and speak the companies' protocols,
//! so that the product's own adapters run on our side. Each seed uses one of them.

mod believing;
mod company;
mod line;

pub(crate) use company::Company;
pub(crate) use line::GatewayLink;

use crate::check::coverage::Coverage;
use crate::world::World;
use believing::Believing;
use podo_adapters::gateways::GatewaySettings;
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::payments::port::gateway::Gateway as Port;
use podo_domain::PaymentId;
use podo_testbed::gateways::{CompanyReply, Fault, Order, RefundFault};
use std::sync::{Arc, PoisonError};

/// An answer that isn't lost is stored within this time.
const ANSWER_MAX_MS: i64 = 4_000;

/// A call as a company receives it.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) body: String,
}

impl Request {
    /// Whether it requests a charge.
    pub(crate) fn is_capture(&self) -> bool {
        let captures = ["/confirm", "/api/payAuth", "/gw/enc/v1/payment"];
        captures.iter().any(|end| self.path.ends_with(end))
    }

    fn is_about(&self, order: &str) -> bool {
        self.path.contains(order) || self.body.contains(order)
    }
}

impl World {
    /// The product's adapter for this seed's company, over one node's link.
    pub(crate) fn open_gateway(self: &Arc<World>, node: usize) -> Vec<Arc<dyn Port>> {
        let rng: Arc<dyn Rng> = self.rng.clone();
        let world = Arc::downgrade(self);
        let settings = GatewaySettings {
            public_url: "https://podo.example".to_owned(),
            patience: Some(line::PATIENCE),
            ..self.swarm.company.settings()
        };
        let connect = |_patience| {
            let line: Arc<dyn podo_adapters::gateways::transport::Transport> =
                Arc::new(GatewayLink { world: world.clone(), node });
            Ok(line)
        };
        let gateways = settings.open_over(&rng, &connect);
        let gateways = gateways.expect("the settings of a stand-in are valid").into_iter();
        let mutation = self.mutation;
        gateways.map(|inner| Arc::new(Believing { inner, mutation }) as Arc<dyn Port>).collect()
    }

    /// The fan approves on the company's page. This draws the order's fault.
    pub(crate) fn approve(&self, payment: PaymentId) {
        let (swarm, rng) = (&self.swarm, &self.rng);
        let fault = if rng.happens(swarm.gateway_declines) {
            Fault::Declines
        } else if rng.happens(swarm.wrong_amount) {
            Fault::WrongAmount
        } else if rng.happens(swarm.gateway_errs) {
            let odd = [Fault::Fails, Fault::Garbage, Fault::Drops, Fault::Busy];
            let fault = rng.one_of(&odd);
            if swarm.company.knows(fault) { fault } else { Fault::None }
        } else {
            Fault::None
        };
        let refund_fault = match rng.happens(swarm.gateway_errs) {
            true => rng.one_of(&[RefundFault::FailsTimes(2), RefundFault::Drops]),
            false => RefundFault::None,
        };
        self.companies.approve(&payment.order_id(), fault, refund_fault);
    }

    /// How the fan pays there.
    pub(crate) fn pay_with(&self, payment: PaymentId, method: &'static str) {
        self.companies.pay_with(&payment.order_id(), method);
    }

    /// The fan pays to the account. A bank may book it although the account was closed.
    pub(crate) fn deposit(&self, payment: PaymentId, amount: i64) {
        let id = payment.order_id();
        let Some(order) = self.companies.order(&id).filter(|order| order.issued > 0) else {
            return;
        };
        if order.is_voided {
            self.saw(Coverage::DepositLate);
            self.companies.capture_unasked(&id, amount);
        } else {
            self.companies.deposit(&id, amount);
        }
    }

    /// D2: every deposit is a ticket, was one, or went back.
    pub(crate) fn check_deposits(&self) {
        let sql = "select p.id, r.status, p.captured, p.refunded from payments p
                     join reservations r on r.id = p.reservation_id
                    where p.method = 'VIRTUAL_ACCOUNT'
                      and (p.status = 'AWAITING_DEPOSIT'
                           or (p.captured > p.refunded and r.status <> 'CONFIRMED'
                               and not exists (select 1 from refunds f
                                                where f.payment_id = p.id and f.fee > 0)))";
        let left = self.store.look(sql, None);
        self.ensure(left.is_empty(), "D2", || format!("a deposit bought nothing: {left:?}"));
    }

    /// A request has arrived at the company.
    pub(crate) fn receive(&self, request: &Request) -> CompanyReply {
        let orders = self.companies.orders();
        let before = orders.into_iter().find(|(order, _)| request.is_about(order));
        if let Some((order, _)) = &before
            && request.is_capture()
        {
            self.check_intent(order);
        }
        let answer = self.companies.answer(&request.path, request.key.as_deref(), &request.body);
        if let Some((id, before)) = before {
            let after = self.companies.order(&id).unwrap_or_else(|| before.clone());
            self.note_effect(request, &before, &after);
            if before.refunded < after.refunded {
                self.paid_back
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(id.clone(), self.time.now());
            }
            self.note(|| format!("the gateway hears {} of {id}: {after:?}", request.path));
        }
        answer
    }

    fn note_effect(&self, request: &Request, before: &Order, after: &Order) {
        if request.is_capture() && before.is_voided {
            self.saw(Coverage::HeardAfterVoid);
        } else if request.is_capture() && before.n_asked() > 0 {
            self.saw(Coverage::CaptureAskedTwice);
        }
        if after.is_voided && !before.is_voided {
            self.saw(Coverage::Voided);
        }
        let is_within = after.refunded <= after.captured;
        self.ensure(is_within, "I7", || format!("the gateway refunded too much: {after:?}"));
    }

    /// I12: whatever reaches the gateway was stored before.
    fn check_intent(&self, order: &str) {
        let payment = PaymentId::from_order_id(order).expect("an order id contains a payment id");
        let sql = "select 1 from payments where id = $1 and requested_at is not null";
        let is_known = !self.store.look(sql, Some(payment.uuid())).is_empty();
        self.ensure(is_known, "I12", || format!("the gateway got {payment}, which is not stored"));
    }

    /// I11: our ledger equals the gateway's once everything has settled.
    pub(crate) fn check_books(&self) {
        let sql = "select id, captured, amount, status from payments
                    where method in ('CARD', 'VIRTUAL_ACCOUNT')";
        let ours = self.store.look(sql, None);
        for (order, theirs) in self.companies.orders() {
            let payment =
                PaymentId::from_order_id(&order).expect("an order id contains a payment id");
            let name = payment.uuid().to_string();
            let Some(row) = ours.iter().find(|row| row[0] == name) else {
                self.ensure(false, "I12", || {
                    format!("the gateway has {payment}, which is not stored")
                });
                continue;
            };
            let captured: i64 = row[1].parse().expect("an amount is a number");
            let back = self.refunded(payment);
            // A charge that was voided as a whole counts as none.
            let is_same = theirs.is_voided || captured == theirs.captured;
            let agree = is_same && captured - back == theirs.captured - theirs.refunded;
            self.ensure(agree, "I11", || {
                format!("we say {row:?} and {back} back, they {theirs:?}")
            });
        }
        for row in ours.iter().filter(|row| row[1] != "0") {
            let payment = PaymentId::new(row[0].parse().expect("an id is a UUID"));
            let order = self.companies.order(&payment.order_id());
            let is_theirs = order.is_some_and(|order| order.captured > 0);
            self.ensure(is_theirs, "I11", || format!("a charge that was never made: {row:?}"));
        }
    }

    /// Refunds that ended long after the money had moved: the answer was lost, and the gateway's
    /// ledger showed it.
    pub(crate) fn survey_refunds(&self) {
        let paid_back = self.paid_back.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "select payment_id, updated_at from refunds where status = 'REFUNDED'
                      and destination = 'ORIGINAL' and attempts > 1";
        for row in self.store.look(sql, None) {
            let payment = PaymentId::new(row[0].parse().expect("an id is a UUID"));
            let ended_ms: i64 = row[1].parse().expect("a time is a number");
            let moved_at = paid_back.get(&payment.order_id());
            if moved_at.is_some_and(|at| at.ms() + ANSWER_MAX_MS < ended_ms) {
                self.saw(Coverage::RefundFoundInBook);
            }
        }
    }

    /// The amount refunded to the card.
    fn refunded(&self, payment: PaymentId) -> i64 {
        let sql = "select cast(coalesce(sum(amount), 0) as bigint) from refunds
                    where payment_id = $1 and status = 'REFUNDED' and destination = 'ORIGINAL'";
        let rows = self.store.look(sql, Some(payment.uuid()));
        rows.first().and_then(|row| row[0].parse().ok()).unwrap_or(0)
    }

    /// Q1: a fan who started to pay in time and was charged the right amount has the seats, or
    /// canceled them.
    pub(crate) fn check_promise(&self) {
        let sql = "select p.id, r.status, p.amount from payments p
                     join reservations r on r.id = p.reservation_id
                     join refunds f on f.payment_id = p.id and f.reason = 'TOO_LATE'
                    where p.captured = p.amount and p.method = 'CARD'";
        for row in self.store.look(sql, None) {
            self.ensure(false, "Q1", || {
                format!("approved and paid, but without the seats: {row:?}")
            });
        }
        let charged = self.companies.charged().into_iter();
        let is_right =
            |it: &Order| !it.is_voided && it.fault != Fault::WrongAmount && it.method == "CARD";
        let right = charged.filter(|(_, it)| is_right(it));
        for (order, booked) in right {
            if self.is_called_off() && booked.refunded == booked.captured {
                continue;
            }
            let payment =
                PaymentId::from_order_id(&order).expect("an order id contains a payment id");
            let sql = "select r.status from payments p join reservations r
                         on r.id = p.reservation_id where p.id = $1";
            let rows = self.store.look(sql, Some(payment.uuid()));
            let status = rows.first().map(|row| row[0].as_str()).unwrap_or("nothing");
            let has_seats = matches!(status, "CONFIRMED" | "CANCELED");
            self.ensure(has_seats, "Q1", || format!("{payment} was approved, it is {status}"));
        }
    }
}

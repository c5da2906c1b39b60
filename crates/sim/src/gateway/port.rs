//! The line to the gateway: requests and answers may be slow or lost, webhooks come when they
//! like and as often as they like.

use crate::Mutation;
use crate::sight::Sight;
use crate::time::Owner;
use crate::world::World;
use app::ports::gateway::{Answered, Booked, Delivery, Gateway, Hint, Order, RefundOutcome};
use app::ports::payments::{AskGateway, Checkout, DueRefund};
use app::webhooks;
use async_trait::async_trait;
use domain::payments::Outcome;
use domain::{PaymentId, Refusal, Timestamp, Won};
use std::sync::{Arc, Weak};
use std::time::Duration;
use uuid::Uuid;

pub(crate) const NAME: &str = "sim";

/// How long a call waits for its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// One node's line to the gateway.
pub(crate) struct Line {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Line {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("nobody calls after the end of the world")
    }

    /// A question and its answer; nothing when either was lost.
    async fn ask<T>(&self, hear: impl FnOnce(&World) -> T) -> Option<T> {
        let world = self.world();
        world.stumble(self.node, "a question to the gateway").await;
        world.time.sleep(world.chance.ms(1, 300)).await;
        let is_lost =
            |world: &World| world.is_moody() && world.chance.happens(world.swarm.gateway_errs);
        if is_lost(&world) {
            return None;
        }
        let heard = hear(&world);
        let is_lost = is_lost(&world);
        world.stumble(self.node, "an answer of the gateway").await;
        (!is_lost).then_some(heard)
    }

    /// What the answer is taken for on our side.
    fn answered(&self, ask: &AskGateway, outcome: Outcome) -> Answered {
        let world = self.world();
        let outcome = match (outcome, world.mutation) {
            (Outcome::Unknown, Mutation::TimeoutIsFailure) => {
                Outcome::NotCaptured { reason: "TIMEOUT".to_owned() }
            }
            (Outcome::Captured { .. }, Mutation::AnyAmountWillDo) => {
                Outcome::Captured { amount: ask.amount }
            }
            (outcome, _) => outcome,
        };
        if outcome == Outcome::Unknown {
            world.saw(Sight::OutcomeUnknown);
        }
        world.note(|| format!("the gateway says of {}: {outcome:?}", ask.payment));
        Answered { outcome, answer: None, reference: None }
    }
}

#[async_trait]
impl Gateway for Line {
    fn name(&self) -> &'static str {
        NAME
    }

    fn checkout(&self, _order: &Order<'_>) -> Checkout {
        Checkout { gateway: Some(NAME.to_owned()), url: None, data: None }
    }

    async fn capture(&self, ask: &AskGateway, _now: Timestamp) -> Answered {
        let world = self.world();
        world.stumble(self.node, "a charge").await;
        let chance = &world.chance;
        let is_slow = chance.happens(world.swarm.gateway_slow);
        let on_its_way = chance.ms(1, if is_slow { 300_000 } else { 500 });
        let is_lost = chance.happens(world.swarm.network_loses);
        let is_doubled = chance.happens(world.swarm.network_loses);
        let on_its_way_back = chance.ms(1, if is_slow { 20_000 } else { 500 });
        if !is_lost {
            send(&world, ask, on_its_way);
        }
        if is_doubled {
            send(&world, ask, on_its_way + chance.ms(0, 60_000));
        }
        let takes = on_its_way + on_its_way_back;
        if is_lost || takes > PATIENCE {
            world.time.sleep(PATIENCE).await;
            return self.answered(ask, Outcome::Unknown);
        }
        world.time.sleep(takes).await;
        world.stumble(self.node, "the answer to a charge").await;
        self.answered(ask, world.gateway.ask(ask.payment))
    }

    async fn find(&self, ask: &AskGateway, _now: Timestamp) -> Answered {
        let payment = ask.payment;
        let found = self.ask(|world| world.gateway.ask(payment)).await;
        self.answered(ask, found.unwrap_or(Outcome::Unknown))
    }

    async fn void(&self, ask: &AskGateway, _now: Timestamp) -> Answered {
        let payment = ask.payment;
        let voided = self.ask(|world| world.hear_void(payment)).await;
        self.answered(ask, voided.unwrap_or(Outcome::Unknown))
    }

    async fn refund(&self, refund: &DueRefund, _now: Timestamp) -> RefundOutcome {
        let is_renamed = self.world().mutation == Mutation::RefundUnderNewName;
        let name = (refund.refund, if is_renamed { refund.attempts } else { 0 });
        let (payment, amount) = (refund.payment, refund.amount);
        match self.ask(|world| world.hear_refund(payment, name, amount)).await {
            Some(()) => RefundOutcome::Refunded,
            None => {
                self.world().saw(Sight::RefundAnswerLost);
                RefundOutcome::Later { why: "no answer".to_owned() }
            }
        }
    }

    async fn booked(&self, _ask: &AskGateway, _now: Timestamp) -> Option<Booked> {
        None
    }

    fn read_webhook(&self, delivery: &Delivery<'_>) -> Result<Hint, Refusal> {
        let uuid = Uuid::from_slice(delivery.body).map_err(|_error| Refusal::WebhookInvalid)?;
        let (id, kind) = (uuid.to_string(), "paid".to_owned());
        Ok(Hint { id, kind, payment: Some(PaymentId::new(uuid)) })
    }
}

/// The request is on its way, whatever becomes of its sender.
fn send(world: &Arc<World>, ask: &AskGateway, on_its_way: Duration) {
    let (world, payment, amount) = (world.clone(), ask.payment, ask.amount);
    world.time.clone().spawn(Owner::World, async move {
        world.time.sleep(on_its_way).await;
        let outcome = world.hear_capture(payment, amount);
        world.note(|| format!("the gateway heard of {payment}: {outcome:?}"));
        if world.chance.happens(world.swarm.webhooks) {
            let n_deliveries = world.chance.one_of(&[1, 1, 2, 5]);
            for _ in 0..n_deliveries {
                deliver(&world, payment);
            }
        }
    });
}

/// Tells any node that is up; a gateway tries a few times.
fn deliver(world: &Arc<World>, payment: PaymentId) {
    let world = world.clone();
    world.time.clone().spawn(Owner::World, async move {
        let most = world.chance.one_of(&[5, 400, 60_000]);
        world.time.sleep(world.chance.ms(1, most)).await;
        let Some((node, platform)) = world.any_node() else { return };
        world.time.spawn(Owner::Node(node), async move {
            let body = payment.uuid().into_bytes();
            let delivery = Delivery { headers: &[], body: &body, now: platform.now() };
            let received = webhooks::receive(&platform, NAME, &delivery).await;
            if let Ok(Some(hint)) = received {
                // What is not followed now is followed by a job.
                let _ = webhooks::follow(&platform, NAME, &hint.id, payment).await;
            }
        });
    });
}

impl World {
    /// I11: our book is the gateway's book, once all is at rest.
    pub(crate) fn check_books(&self) {
        let sql = "select id, captured, amount, status from payments where method = 'CARD'";
        let ours = self.store.look(sql, None);
        for (payment, entry) in self.gateway.entries() {
            let name = payment.uuid().to_string();
            let Some(row) = ours.iter().find(|row| row[0] == name) else {
                self.ensure(false, "I12", || format!("the gateway knows {payment}, we do not"));
                continue;
            };
            let (captured, back) = (&row[1], self.refunded(payment));
            let agree = *captured == entry.captured.to_string() && back == entry.refunded;
            self.ensure(agree, "I11", || format!("we say {row:?} and {back} back, they {entry:?}"));
        }
        for row in &ours {
            let is_theirs = row[1] == "0"
                || self.gateway.entries().keys().any(|known| known.uuid().to_string() == row[0]);
            self.ensure(is_theirs, "I11", || {
                format!("we believe in a charge nobody made: {row:?}")
            });
        }
    }

    /// What went back to the card.
    fn refunded(&self, payment: PaymentId) -> i64 {
        let sql = "select cast(coalesce(sum(amount), 0) as bigint) from refunds
                    where payment_id = $1 and status = 'REFUNDED' and destination = 'ORIGINAL'";
        let rows = self.store.look(sql, Some(payment.uuid()));
        rows.first().and_then(|row| row[0].parse().ok()).unwrap_or(0)
    }

    /// Q1: whoever started to pay in time and was charged the right amount has the seats, or gave
    /// them back.
    pub(crate) fn check_promise(&self) {
        let sql = "select p.id, r.status, p.amount from payments p
                     join reservations r on r.id = p.reservation_id
                     join refunds f on f.payment_id = p.id and f.reason = 'TOO_LATE'
                    where p.captured = p.amount";
        for row in self.store.look(sql, None) {
            self.ensure(false, "Q1", || format!("approved and paid, but the seats went: {row:?}"));
        }
        let approved = self.gateway.entries().into_iter().filter(|(_, entry)| {
            entry.captured > 0 && Won::new(entry.captured).is_some_and(|won| won.get() % 10 == 0)
        });
        for (payment, _) in approved {
            let sql = "select r.status from payments p join reservations r
                         on r.id = p.reservation_id where p.id = $1";
            let rows = self.store.look(sql, Some(payment.uuid()));
            let status = rows.first().map(|row| row[0].as_str()).unwrap_or("nothing");
            let has_seats = matches!(status, "CONFIRMED" | "CANCELED");
            self.ensure(has_seats, "Q1", || format!("{payment} was approved, it is {status}"));
        }
    }
}

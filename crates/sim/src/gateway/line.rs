//! The line to the company: calls and replies may be slow, doubled or lost, webhooks come when they
//! like and as often as they like.

use super::Request;
use super::company::URL;
use crate::sight::Sight;
use crate::time::Owner;
use crate::world::World;
use adapters::gateways::transport::{Failure, Transport};
use adapters::gateways::wire::{Call, Content, Reply};
use app::ports::clock::Clock;
use app::ports::gateway::Delivery;
use app::webhooks;
use async_trait::async_trait;
use domain::PaymentId;
use futures::channel::oneshot;
use futures::future::{Either, select};
use std::sync::{Arc, Weak};
use std::time::Duration;
use testbed::gateways::Answer;

/// How long a call waits for its answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// One node's line to the company.
pub(crate) struct Line {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Line {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("nobody calls after the end of the world")
    }
}

#[async_trait]
impl Transport for Line {
    async fn send(&self, call: &Call) -> Result<Reply, Failure> {
        let world = self.world();
        world.stumble(self.node, "a charge or another call to the gateway").await;
        if world.is_moody() && world.chance.happens(world.swarm.network_loses / 4) {
            return Err(Failure::NotSent);
        }
        let answer = world.deliver_call(read(call));
        let reply = match select(answer, world.time.sleep(PATIENCE)).await {
            Either::Left((Ok(answer), _)) => reply(answer),
            // Lost on the way there, or on the way back.
            Either::Left((Err(oneshot::Canceled), late)) => {
                late.await;
                Err(Failure::TimedOut)
            }
            Either::Right(_) => Err(Failure::TimedOut),
        };
        world.stumble(self.node, "the answer to a charge or another call").await;
        if reply.is_ok() && world.is_moody() && world.chance.happens(world.swarm.gateway_errs) {
            return Err(Failure::Cut);
        }
        reply
    }

    async fn pause(&self, length: Duration) {
        self.world().time.sleep(length).await;
    }
}

fn reply(answer: Answer) -> Result<Reply, Failure> {
    match answer.is_dropped {
        true => Err(Failure::Cut),
        false => Ok(Reply { status: answer.status, text: answer.text }),
    }
}

fn read(call: &Call) -> Request {
    let is_key = |name: &str| name.eq_ignore_ascii_case("idempotency-key");
    let key = call.headers.iter().find(|(name, _)| is_key(name)).map(|(_, value)| value.clone());
    let body = match &call.body {
        Content::None => String::new(),
        Content::Json(value) => value.to_string(),
        Content::Form(fields) => {
            let pairs = fields.iter().map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join("&")
        }
    };
    let path = call.url.strip_prefix(URL).unwrap_or(&call.url).to_owned();
    Request { path, key, body }
}

impl World {
    /// Sends a call on its way: it arrives whatever becomes of its sender, sometimes twice or never.
    fn deliver_call(self: &Arc<World>, request: Request) -> oneshot::Receiver<Answer> {
        let (chance, swarm) = (&self.chance, &self.swarm);
        let is_slow = request.is_capture() && chance.happens(swarm.gateway_slow);
        let late_max_ms = swarm.company.late_max().as_millis() as u64;
        let there = chance.ms(1, if is_slow { late_max_ms } else { 500 });
        let back = chance.ms(1, if is_slow { 20_000 } else { 500 });
        let is_lost = self.is_moody() && chance.happens(swarm.network_loses);
        let is_doubled = request.is_capture() && chance.happens(swarm.network_loses);
        let again = is_doubled.then(|| there + chance.ms(0, 60_000));
        let (send, receive) = oneshot::channel();
        let world = self.clone();
        self.time.spawn(Owner::World, async move {
            let mut send = Some(send);
            let arrivals = [(!is_lost).then_some(there), again];
            let mut passed = Duration::ZERO;
            for arrival in arrivals.into_iter().flatten() {
                world.time.sleep(arrival.saturating_sub(passed)).await;
                passed = arrival;
                let answer = world.hear(&request);
                if request.is_capture() {
                    world.send_webhooks(&request);
                }
                if let Some(send) = send.take() {
                    world.time.sleep(back).await;
                    passed += back;
                    let _ = send.send(answer);
                }
            }
        });
        receive
    }

    fn send_webhooks(self: &Arc<World>, request: &Request) {
        let orders = self.companies.orders();
        let found = orders.iter().find(|(order, _)| request.is_about(order));
        let payment = found.and_then(|(order, _)| PaymentId::from_order_id(order));
        if let Some(payment) = payment
            && self.chance.happens(self.swarm.webhooks)
        {
            let n_deliveries = self.chance.one_of(&[1, 1, 2, 5]);
            for _ in 0..n_deliveries {
                deliver_webhook(self, payment);
            }
        }
    }
}

/// Tells any node that is up.
fn deliver_webhook(world: &Arc<World>, payment: PaymentId) {
    let world = world.clone();
    world.time.clone().spawn(Owner::World, async move {
        let most = world.chance.one_of(&[5, 400, 60_000]);
        world.time.sleep(world.chance.ms(1, most)).await;
        let company = world.swarm.company;
        let Some((headers, body)) = company.webhook(payment, world.time.now()) else { return };
        let Some((node, platform)) = world.any_node() else { return };
        world.saw(Sight::Webhook);
        world.time.spawn(Owner::Node(node), async move {
            let name = company.name();
            let delivery = Delivery { headers: &headers, body: &body, now: platform.now() };
            let received = webhooks::receive(&platform, name, &delivery).await;
            if let Ok(Some(hint)) = received {
                // What is not followed now is followed by a job.
                let _ = webhooks::follow(&platform, name, &hint.id, payment).await;
            }
        });
    });
}

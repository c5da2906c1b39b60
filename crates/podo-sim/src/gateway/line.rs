//! The link to the company: calls and replies may be slow, duplicated or lost, and webhooks come at
//! any time and any number of times.

use crate::check::coverage::Coverage;
use crate::gateway::Request;
use crate::gateway::company::URL;
use crate::time::Owner;
use crate::world::World;
use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::{Either, select};
use podo_adapters::gateways::protocol::{Call, Content, Reply};
use podo_adapters::gateways::transport::{Failure, Transport};
use podo_app::operations::port::clock::Clock;
use podo_app::payments::gateway_webhooks;
use podo_app::payments::port::gateway::Delivery;
use podo_domain::PaymentId;
use podo_testbed::gateways::CompanyReply;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long a call waits for its answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// One node's link to the company.
pub(crate) struct GatewayLink {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl GatewayLink {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("the world outlives every call")
    }
}

#[async_trait]
impl Transport for GatewayLink {
    async fn send(&self, call: &Call) -> Result<Reply, Failure> {
        let world = self.world();
        world.stumble(self.node, "a charge or another call to the gateway").await;
        if world.is_moody() && world.rng.happens(world.swarm.network_loses / 4) {
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
        if reply.is_ok() && world.is_moody() && world.rng.happens(world.swarm.gateway_errs) {
            return Err(Failure::Cut);
        }
        reply
    }

    async fn pause(&self, length: Duration) {
        self.world().time.sleep(length).await;
    }
}

fn reply(answer: CompanyReply) -> Result<Reply, Failure> {
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
    /// Sends a call. It arrives even if its sender is gone, sometimes twice or never.
    fn deliver_call(self: &Arc<World>, request: Request) -> oneshot::Receiver<CompanyReply> {
        let (rng, swarm) = (&self.rng, &self.swarm);
        let is_slow = request.is_capture() && rng.happens(swarm.gateway_slow);
        let late_max_ms = swarm.company.late_max().as_millis() as u64;
        let there = rng.ms(1, if is_slow { late_max_ms } else { 500 });
        let back = rng.ms(1, if is_slow { 20_000 } else { 500 });
        let is_lost = self.is_moody() && rng.happens(swarm.network_loses);
        let is_doubled = request.is_capture() && rng.happens(swarm.network_loses);
        let again = is_doubled.then(|| there + rng.ms(0, 60_000));
        let (send, receive) = oneshot::channel();
        let world = self.clone();
        self.time.spawn(Owner::World, async move {
            let mut send = Some(send);
            let arrivals = [(!is_lost).then_some(there), again];
            let mut passed = Duration::ZERO;
            for arrival in arrivals.into_iter().flatten() {
                world.time.sleep(arrival.saturating_sub(passed)).await;
                passed = arrival;
                let answer = world.receive(&request);
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
            && self.rng.happens(self.swarm.webhooks)
        {
            let n_deliveries = self.rng.one_of(&[1, 1, 2, 5]);
            for _ in 0..n_deliveries {
                deliver_webhook(self, payment);
            }
        }
    }
}

/// Delivers to any running node.
fn deliver_webhook(world: &Arc<World>, payment: PaymentId) {
    let world = world.clone();
    world.time.clone().spawn(Owner::World, async move {
        let most = world.rng.one_of(&[5, 400, 60_000]);
        world.time.sleep(world.rng.ms(1, most)).await;
        let company = world.swarm.company;
        let Some((headers, body)) = company.webhook(payment, world.time.now()) else { return };
        let Some((node, context)) = world.any_node() else { return };
        world.saw(Coverage::Webhook);
        world.time.spawn(Owner::Node(node), async move {
            let name = company.name();
            let delivery = Delivery { headers: &headers, body: &body, now: context.now() };
            let received = gateway_webhooks::receive(&context, name, &delivery).await;
            if let Ok(Some(hint)) = received {
                // A job retries what fails now.
                let _ = gateway_webhooks::follow(&context, name, &hint.id, payment).await;
            }
        });
    });
}

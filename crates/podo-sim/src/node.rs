//! Nodes: the real use cases and jobs on simulated engines.

use crate::faults::injector::RandomFaults;
use crate::live::bus::BusLink;
use crate::live::{Filter, Room};
use crate::swarm::PhasePlan;
use crate::time::Owner;
use crate::world::{MASTER_KEY, World};
use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use podo_adapters::live::memory;
use podo_app::booking::reconciliation;
use podo_app::context::{Foundation, LiveEngines, Rules, Services};
use podo_app::identity::keyring::Keyring;
use podo_app::identity::port::passwords::{Passwords, Verdict};
use podo_app::messaging::port::webhook_client::{
    AnswerLimits, Answered, Post, Posted, WebhookClient,
};
use podo_app::messaging::workers;
use podo_app::messaging::workers::Worker;
use podo_app::operations::clock::SyncedClock;
use podo_app::operations::jobs;
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::waiting_room::PollRateLimiter;
use podo_app::{AppContext, Error, Result};
use podo_domain::{NodeId, Refusal, Timestamp};
use std::sync::Arc;

/// Ports that the simulation never uses: log-ins and webhook deliveries.
struct Unconnected;

#[async_trait]
impl Passwords for Unconnected {
    async fn hash(&self, _password: String) -> Result<String> {
        Err(Error::unavailable("the simulation has no log-ins"))
    }

    async fn hash_new(&self, _password: String) -> Result<String> {
        Err(Error::unavailable("the simulation has no sign-ups"))
    }

    async fn verify(&self, _password: String, _hash: Option<String>) -> Result<Verdict> {
        Err(Error::unavailable("the simulation has no log-ins"))
    }
}

#[async_trait]
impl WebhookClient for Unconnected {
    fn check(&self, _url: &str) -> std::result::Result<(), Refusal> {
        Err(Refusal::WebhookUrlRefused)
    }

    async fn post(&self, _post: &Post) -> Posted {
        Posted::Failed("the simulation has no channels".to_owned())
    }

    async fn ask(&self, _post: &Post, _limits: AnswerLimits) -> Answered {
        Answered::Not("the simulation has no channels".to_owned())
    }
}

/// A job and the minimum and maximum seconds between its rounds.
struct Duty {
    name: &'static str,
    pause_s: (u64, u64),
    round: for<'p> fn(&'p AppContext, Timestamp) -> BoxFuture<'p, Result<jobs::Round>>,
}

const DUTIES: [Duty; 14] = [
    Duty {
        name: "admit",
        pause_s: (1, 3),
        round: |context, now| podo_app::waiting_room::jobs::admit_fans(context, now).boxed(),
    },
    Duty {
        name: "expire",
        pause_s: (1, 12),
        round: |context, now| podo_app::booking::jobs::expire::expire_holds(context, now).boxed(),
    },
    Duty {
        name: "settle",
        pause_s: (5, 20),
        round: |context, now| {
            podo_app::payments::jobs::settle::settle_unknown_payments(context, now).boxed()
        },
    },
    Duty {
        name: "deposits",
        pause_s: (5, 30),
        round: |context, now| {
            podo_app::payments::jobs::deposits::follow_deposits(context, now).boxed()
        },
    },
    Duty {
        name: "refund",
        pause_s: (3, 20),
        round: |context, now| podo_app::payments::jobs::refund::make_refunds(context, now).boxed(),
    },
    Duty {
        name: "refund-canceled",
        pause_s: (3, 20),
        round: |context, now| {
            podo_app::payments::jobs::refund_canceled::refund_canceled_shows(context, now).boxed()
        },
    },
    Duty {
        name: "release-kept",
        pause_s: (2, 10),
        round: |context, now| podo_app::booking::jobs::release::release_kept(context, now).boxed(),
    },
    Duty {
        name: "draw",
        pause_s: (0, 3),
        round: |context, now| podo_app::booking::jobs::draw::draw(context, now).boxed(),
    },
    Duty {
        name: "offer-drawn",
        pause_s: (5, 20),
        round: |context, now| podo_app::booking::jobs::draw::offer_drawn(context, now).boxed(),
    },
    Duty {
        name: "offer",
        pause_s: (2, 10),
        round: |context, now| podo_app::booking::jobs::offer::offer_seats(context, now).boxed(),
    },
    Duty {
        name: "resell",
        pause_s: (2, 10),
        round: |context, now| podo_app::tickets::resales::offer_resales(context, now).boxed(),
    },
    Duty {
        name: "relay",
        pause_s: (2, 10),
        round: |context, now| {
            podo_app::messaging::jobs::relay::relay_messages(context, now).boxed()
        },
    },
    Duty {
        name: "webhooks",
        pause_s: (10, 40),
        round: |context, now| {
            podo_app::payments::jobs::gateway_webhooks::follow_webhooks(context, now).boxed()
        },
    },
    Duty {
        name: "reconcile",
        pause_s: (10, 30),
        round: |context, now| {
            podo_app::booking::jobs::reconcile::reconcile_seats(context, None, now).boxed()
        },
    },
];

impl World {
    /// A running node, and its number.
    pub(crate) fn any_node(&self) -> Option<(usize, Arc<AppContext>)> {
        let nodes = self.nodes();
        let first = self.rng.below(nodes.len() as u64) as usize;
        let order = (0..nodes.len()).map(|step| (first + step) % nodes.len());
        order.into_iter().find_map(|node| Some((node, nodes[node].clone()?)))
    }

    /// Starts a node as the process does: with only the store's data.
    pub(crate) async fn start_node(self: &Arc<World>, node: usize) {
        let clock = self.synced_clock(node).await;
        let context = Arc::new(self.context(node, clock));
        self.note(|| format!("node {node} starts"));
        self.nodes()[node] = Some(context.clone());
        // Before the first request, as the process does it; the jobs retry what fails now.
        let _ = podo_app::waiting_room::jobs::open_rooms(&context, context.now()).await;
        let _ = reconciliation::fill_filter(&context).await;
        // Jobs that would find nothing stay out: the runs of other seeds keep their course.
        let has_work = |duty: &&Duty| match duty.name {
            "resell" => self.swarm.has_options,
            "draw" | "offer-drawn" => self.swarm.phases == PhasePlan::Draw,
            "deposits" => self.swarm.has_deposits,
            _ => true,
        };
        for duty in DUTIES.iter().filter(has_work) {
            self.time.spawn(Owner::Node(node), do_duty(self.clone(), context.clone(), duty));
        }
        // The members of a group share its messages; here one node has all of them.
        if node == 0 {
            for worker in [workers::ALL[0], workers::ALL[1]] {
                let work = do_work(self.clone(), context.clone(), worker);
                self.time.spawn(Owner::Node(node), work);
            }
        }
    }

    fn context(self: &Arc<World>, node: usize, clock: Arc<SyncedClock>) -> AppContext {
        let world = Arc::downgrade(self);
        let rough = RandomFaults { world: world.clone(), node };
        let store = self.store.under(Arc::new(rough)).expect("the store is in memory");
        let foundation = Foundation {
            node: NodeId::new(self.rng.id(self.time.now())),
            store: Arc::new(store),
            clock,
            rng: self.rng.clone(),
            keyring: Keyring::new(&MASTER_KEY),
            rules: Rules {
                hold_length: self.swarm.hold_length,
                offer_length: self.swarm.hold_length,
                limits_on: false,
                health_limits: None,
                tickets_rotate: false,
                admins_need_code: false,
                admin_idle: None,
                admin_proof: None,
                confirm_email: false,
                queue_log_for: None,
                logins_for: std::time::Duration::from_secs(92 * 86_400),
                records_for: std::time::Duration::from_secs(1_827 * 86_400),
                home: String::new(),
                gateway_rates: Default::default(),
                currency: podo_domain::Currency::Krw,
                time_zone: "Asia/Seoul".to_owned(),
                sign_ups_per_minute: 1,
                brand: Box::default(),
            },
        };
        let live = LiveEngines {
            queue: Arc::new(Room { world: world.clone(), node }),
            seat_filter: Arc::new(Filter { world: world.clone(), node }),
            limits: Arc::new(memory::Limits::default()),
            shared_buckets: Arc::new(memory::SharedBuckets::default()),
            revocations: Arc::new(memory::Revocations::default()),
            seat_versions: Arc::new(memory::SeatVersions::default()),
            invalidation: Arc::new(memory::Invalidation::default()),
            node_load: Arc::new(memory::NodeLoad::default()),
        };
        let services = Services {
            bus: Arc::new(BusLink { world, node }),
            webhook_client: Arc::new(Unconnected),
            passwords: Arc::new(Unconnected),
        };
        AppContext::builder(foundation, live, services)
            .gateways(self.open_gateway(node))
            .poll_rate_limiter(PollRateLimiter::with_slots(1 << 10))
            .build()
    }
}

/// Runs rounds until the world ends; a failed one is retried in the next round. Once nothing new
/// can happen, the rounds are less frequent.
async fn do_duty(world: Arc<World>, context: Arc<AppContext>, duty: &'static Duty) {
    while world.time.now() < world.end() {
        let (least, most) = duty.pause_s;
        let haste = if world.is_on_sale() { 1_000 } else { 6_000 };
        world.time.sleep(world.rng.ms(least * haste, most * haste)).await;
        if let Err(error) = (duty.round)(&context, context.now()).await {
            world.note(|| format!("the job {} failed: {error}", duty.name));
        }
    }
}

async fn do_work(world: Arc<World>, context: Arc<AppContext>, worker: &'static dyn Worker) {
    while world.time.now() < world.end() {
        let haste = if world.is_on_sale() { 1_000 } else { 4_000 };
        world.time.sleep(world.rng.ms(2 * haste, 15 * haste)).await;
        let subscription = context.messaging.bus.subscribe(worker.name(), worker.topics()).await;
        let Ok(mut subscription) = subscription else { continue };
        // Failed messages stay on the bus and are redelivered.
        let _ = workers::work(&context, worker, &mut *subscription).await;
    }
}

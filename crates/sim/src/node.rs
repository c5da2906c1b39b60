//! Nodes: the real use cases and jobs on the simulated outside.

use crate::bus::Wire;
use crate::live::{Filter, Room};
use crate::time::Owner;
use crate::weather::Rough;
use crate::world::{MASTER_KEY, World};
use adapters::memory;
use app::clock::SyncedClock;
use app::platform::Rules;
use app::ports::clock::{Chance, Clock};
use app::ports::courier::{Courier, Post, Posted};
use app::ports::passwords::{Passwords, Verdict};
use app::queue::Knocks;
use app::rate_limits::RateLimits;
use app::seals::Seals;
use app::sessions::Sessions;
use app::workers::{self, Worker};
use app::{Error, Platform, Result, jobs, reconciliation};
use async_trait::async_trait;
use domain::{NodeId, Refusal, Timestamp};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

/// What nobody in the simulation does: log in, or call an organiser's server.
struct Nobody;

#[async_trait]
impl Passwords for Nobody {
    async fn hash(&self, _password: String) -> Result<String> {
        Err(Error::unavailable("nobody logs in"))
    }

    async fn hash_new(&self, _password: String) -> Result<String> {
        Err(Error::unavailable("nobody signs up"))
    }

    async fn verify(&self, _password: String, _hash: Option<String>) -> Result<Verdict> {
        Err(Error::unavailable("nobody logs in"))
    }
}

#[async_trait]
impl Courier for Nobody {
    fn check(&self, _url: &str) -> std::result::Result<(), Refusal> {
        Err(Refusal::WebhookUrlRefused)
    }

    async fn post(&self, _post: &Post) -> Posted {
        Posted::Failed("nobody carries it".to_owned())
    }
}

/// A job and the seconds between its rounds, least and most.
struct Duty {
    name: &'static str,
    pause_s: (u64, u64),
    round: for<'p> fn(&'p Platform, Timestamp) -> BoxFuture<'p, Result<jobs::Round>>,
}

const DUTIES: [Duty; 9] = [
    Duty {
        name: "admit",
        pause_s: (1, 3),
        round: |platform, now| jobs::admit_fans(platform, now).boxed(),
    },
    Duty {
        name: "expire",
        pause_s: (1, 12),
        round: |platform, now| jobs::expire_holds(platform, now).boxed(),
    },
    Duty {
        name: "settle",
        pause_s: (5, 20),
        round: |platform, now| jobs::settle_unknown_payments(platform, now).boxed(),
    },
    Duty {
        name: "refund",
        pause_s: (3, 20),
        round: |platform, now| jobs::make_refunds(platform, now).boxed(),
    },
    Duty {
        name: "refund-canceled",
        pause_s: (3, 20),
        round: |platform, now| jobs::refund_canceled_shows(platform, now).boxed(),
    },
    Duty {
        name: "offer",
        pause_s: (2, 10),
        round: |platform, now| jobs::offer_seats(platform, now).boxed(),
    },
    Duty {
        name: "relay",
        pause_s: (2, 10),
        round: |platform, now| jobs::relay_messages(platform, now).boxed(),
    },
    Duty {
        name: "webhooks",
        pause_s: (10, 40),
        round: |platform, now| jobs::follow_webhooks(platform, now).boxed(),
    },
    Duty {
        name: "reconcile",
        pause_s: (10, 30),
        round: |platform, now| jobs::reconcile_seats(platform, None, now).boxed(),
    },
];

impl World {
    /// A node that is up, and its number.
    pub(crate) fn any_node(&self) -> Option<(usize, Arc<Platform>)> {
        let nodes = self.nodes();
        let first = self.chance.below(nodes.len() as u64) as usize;
        let order = (0..nodes.len()).map(|step| (first + step) % nodes.len());
        order.into_iter().find_map(|node| Some((node, nodes[node].clone()?)))
    }

    /// Starts a node as the process does: with nothing but what the store remembers.
    pub(crate) async fn start_node(self: &Arc<World>, node: usize) {
        let clock = self.synced_clock(node).await;
        let platform = Arc::new(self.platform(node, clock));
        self.note(|| format!("node {node} starts"));
        self.nodes()[node] = Some(platform.clone());
        // Before the first request, as the process does it; what fails now the jobs make up for.
        let _ = jobs::open_rooms(&platform, platform.now()).await;
        let _ = reconciliation::fill_filter(&platform).await;
        for duty in &DUTIES {
            self.time.spawn(Owner::Node(node), do_duty(self.clone(), platform.clone(), duty));
        }
        // The members of a group share its messages; here one node has all of them.
        if node == 0 {
            for worker in [workers::ALL[0], workers::ALL[1]] {
                let work = do_work(self.clone(), platform.clone(), worker);
                self.time.spawn(Owner::Node(node), work);
            }
        }
    }

    fn platform(self: &Arc<World>, node: usize, clock: Arc<SyncedClock>) -> Platform {
        let world = Arc::downgrade(self);
        let rough = Rough { world: world.clone(), node };
        let store = self.store.under(Arc::new(rough)).expect("the store is in memory");
        let seals = Seals::new(&MASTER_KEY);
        Platform {
            node: NodeId::new(self.chance.id(self.time.now())),
            store: Arc::new(store),
            queue: Arc::new(Room { world: world.clone(), node }),
            holds: Arc::new(Filter { world: world.clone(), node }),
            limits: Arc::new(memory::Limits::default()),
            rate_limits: RateLimits::new(Arc::new(memory::SharedBuckets::default())),
            revocations: Arc::new(memory::Revocations::default()),
            seat_versions: Arc::new(memory::SeatVersions::default()),
            strains: Arc::new(memory::Strains::default()),
            bus: Arc::new(Wire { world, node }),
            channels: Default::default(),
            courier: Arc::new(Nobody),
            passwords: Arc::new(Nobody),
            gateways: self.open_gateway(node),
            certifier: None,
            social: Vec::new(),
            clock,
            chance: self.chance.clone(),
            sessions: Sessions::new(&seals),
            seals,
            schedules: Default::default(),
            shelf: Default::default(),
            progress: Default::default(),
            knocks: Knocks::with_slots(1 << 10),
            proven: Default::default(),
            noted: Default::default(),
            openings: Default::default(),
            waits: Default::default(),
            queue_log: Default::default(),
            vitals: Default::default(),
            layouts: Default::default(),
            seat_maps: Default::default(),
            reconciliation: Default::default(),
            purchases: Default::default(),
            worker_tallies: Default::default(),
            job_tallies: Default::default(),
            spans: None,
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
                sign_ups_per_minute: 1,
            },
        }
    }
}

/// Rounds until the world ends; one that fails is tried again at its next turn. When nothing new
/// can happen any more, the jobs are in less of a hurry.
async fn do_duty(world: Arc<World>, platform: Arc<Platform>, duty: &'static Duty) {
    while world.time.now() < world.end() {
        let (least, most) = duty.pause_s;
        let haste = if world.is_on_sale() { 1_000 } else { 6_000 };
        world.time.sleep(world.chance.ms(least * haste, most * haste)).await;
        if let Err(error) = (duty.round)(&platform, platform.now()).await {
            world.note(|| format!("the job {} failed: {error}", duty.name));
        }
    }
}

async fn do_work(world: Arc<World>, platform: Arc<Platform>, worker: &'static dyn Worker) {
    while world.time.now() < world.end() {
        let haste = if world.is_on_sale() { 1_000 } else { 4_000 };
        world.time.sleep(world.chance.ms(2 * haste, 15 * haste)).await;
        let subscription = platform.bus.subscribe(worker.name(), worker.topics()).await;
        let Ok(mut subscription) = subscription else { continue };
        // What fails stays on the bus and comes again.
        let _ = workers::work(&platform, worker, &mut *subscription).await;
    }
}

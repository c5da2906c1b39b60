//! Redis loses its last writes: it restarts from an older snapshot, or a lagging replica replaces
//! it. A number belongs to one fan forever, acknowledged places and entries are restored, and every
//! admitted fan can hold.

use crate::support::client::{Answer, send, text};
use crate::support::fan::Fan;
use crate::support::world::{MONTH, Plan, Show, World, until, until_within};
use podo_domain::waiting_room::RETURN_WINDOW;
use podo_testbed::{Redis, RedisCluster};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::block_in_place;

const PLAN: Plan = Plan {
    n_seats: 40,
    opens_in: Duration::ZERO,
    starts_in: MONTH,
    max_active: 2,
    entry_ttl_seconds: 600,
};

const PATIENCE: Duration = Duration::from_secs(40);

/// A fan with their acknowledged state.
struct Guest {
    name: &'static str,
    fan: Fan,
    token: String,
    number: u64,
    position: u64,
}

impl Guest {
    async fn enters(world: &World, show: &Show, name: &'static str) -> Guest {
        let fan = world.fan().await;
        let view = until_within(PATIENCE, "the waiting room answers", async || {
            let answer = fan.enter(show).await;
            (answer.status != 503).then_some(answer)
        });
        let view = view.await.expect(200);
        let (token, number) = (text(&view, "token"), view["number"].as_u64().unwrap());
        let position = view["position"].as_u64().unwrap();
        println!("{name} has number {number}, {} at {position}", view["state"]);
        Guest { name, fan, token, number, position }
    }

    /// Polls with the place token, like the page. While Redis is down, retries.
    async fn poll(&self, show: &Show) -> Value {
        let path = format!("/api/queue/status?scheduleId={}", show.schedule);
        let answer = until_within(PATIENCE, "the waiting room answers", async || {
            let call = self.fan.api.call(reqwest::Method::GET, &path);
            let answer: Answer = send(call.header("Queue-Token", &self.token)).await;
            (answer.status != 503).then_some(answer)
        });
        let answer = answer.await;
        assert_eq!(
            answer.status, 200,
            "{} with number {}: {}",
            self.name, self.number, answer.text
        );
        let view = answer.expect(200);
        let number = view["number"].as_u64();
        assert_eq!(number, Some(self.number), "{} was told another number", self.name);
        view
    }

    async fn is_admitted(&mut self, show: &Show) {
        let token = until_within(PATIENCE, self.name, async || {
            let view = self.poll(show).await;
            (view["state"] == "ADMITTED").then(|| text(&view, "entryToken"))
        });
        self.fan.api = self.fan.api.with_entry(&token.await);
    }
}

/// All numbers are distinct.
fn assert_unique(guests: &[&Guest]) {
    let mut names: BTreeMap<u64, &str> = BTreeMap::new();
    for guest in guests {
        if let Some(other) = names.insert(guest.number, guest.name) {
            panic!("{other} and {} both have number {}", guest.name, guest.number);
        }
    }
}

/// Two fans are inside and two wait when `keep` runs; then one leaves, the next is admitted and
/// three more enter, all of which `lose` loses.
async fn lose_the_tail(url: String, keep: impl FnOnce(&Show), lose: impl FnOnce()) {
    let world = World::with(&[("PODO_LIVE_URL", url.as_str())]).await;
    let show = world.show(PLAN).await;
    let mut early = Vec::new();
    for name in ["inside", "leaver", "let in later", "second in line"] {
        early.push(Guest::enters(&world, &show, name).await);
    }
    for guest in &mut early[..2] {
        guest.is_admitted(&show).await;
    }
    block_in_place(|| keep(&show));

    let mut waiting = early.split_off(2);
    early.pop().unwrap().fan.leave(&show).await;
    let [mut inside, mut let_in] = [early.remove(0), waiting.remove(0)];
    let_in.is_admitted(&show).await;
    let_in.fan.select(&show, &[0]).await.expect(201);
    for name in ["lost one", "lost two", "lost three"] {
        waiting.push(Guest::enters(&world, &show, name).await);
    }
    waiting[0].position = 1;
    block_in_place(lose);

    // The first to enter after the loss is new. The others poll at their usual interval, and until
    // then the newcomer's position is not final.
    let newcomer = Guest::enters(&world, &show, "first newcomer").await;
    waiting.push(Guest { position: u64::MAX, ..newcomer });
    for index in [2, 1, 3, 0] {
        waiting[index].poll(&show).await;
    }
    waiting.push(Guest::enters(&world, &show, "second newcomer").await);
    assert_unique(&waiting.iter().chain([&inside, &let_in]).collect::<Vec<_>>());
    for (position, guest) in (1..).zip(&waiting) {
        let told = guest.position;
        assert!(position <= told, "{} was at {told} and is at {position}", guest.name);
        until("everybody stands where they stood", async || {
            let view = guest.poll(&show).await;
            assert_eq!(view["state"], "WAITING", "{}: {view}", guest.name);
            (view["position"] == position).then_some(())
        })
        .await;
    }
    for guest in [&mut inside, &mut let_in] {
        guest.is_admitted(&show).await;
    }
    let_in.fan.select(&show, &[1]).await.expect(201);

    world.clock.advance(RETURN_WINDOW);
    inside.fan.buy(&show, 10).await;
    for (seat, guest) in (11..).zip(&mut waiting) {
        guest.is_admitted(&show).await;
        guest.fan.buy(&show, seat).await;
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_restarted_from_an_older_snapshot() {
    let redis = RefCell::new(Redis::start().unwrap());
    let url = redis.borrow().url();
    let keep = |_: &Show| drop(redis.borrow().cli(&["save"]).unwrap());
    let lose = || {
        redis.borrow_mut().kill_9().unwrap();
        redis.borrow_mut().restart().unwrap();
    };
    lose_the_tail(url, keep, lose).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_lagged_takes_over() {
    let cluster = RefCell::new(RedisCluster::start().unwrap());
    let url = cluster.borrow().url();
    let range = Cell::new(0);
    let keep = |show: &Show| {
        let cluster = cluster.borrow();
        range.set(cluster.range_of(&format!("{{{}}}", show.schedule)).unwrap());
        cluster.starve_replica(range.get()).unwrap();
    };
    let lose = || drop(cluster.borrow_mut().kill_master(range.get()).unwrap());
    lose_the_tail(url, keep, lose).await;
}

//! Organisers: they cancel the date in the middle of the sale, keep seats, sell at the box office,
//! change prices and move bookings.

mod desk;
mod keeping;
mod moving;
mod pricing;

use crate::check::coverage::Coverage;
use crate::world::{ORGANISER, World};
use futures::FutureExt;
use podo_app::catalog::cancel_schedule;
use podo_app::identity::keyring::sha256;
use podo_app::operations::port::clock::{Clock, Rng as _};
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::{AppContext, Error};
use podo_domain::id::SeatIndex;
use podo_domain::{SeatId, UserId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use uuid::Uuid;

pub(crate) async fn call_off(world: Arc<World>) {
    if !world.swarm.is_called_off {
        return;
    }
    let sale_ms = world.swarm.sale.as_millis() as u64;
    world.time.sleep_until(world.opening()).await;
    world.time.sleep(world.rng.ms(1_000, sale_ms - 1)).await;
    // From the first attempt on, the cancellation may have happened.
    world.is_called_off.store(true, Ordering::Relaxed);
    loop {
        let schedule = world.schedule;
        let request = |context: Arc<AppContext>| {
            async move { cancel_schedule(&context, ORGANISER, schedule).await.map(drop) }.boxed()
        };
        let answer = world.call(request).await;
        world.note(|| format!("an organiser calls the date off: {answer:?}"));
        // A refusal: an earlier attempt succeeded, and its answer was lost.
        if let Some(Ok(()) | Err(Error::Refused(_))) = answer {
            return world.saw(Coverage::CalledOff);
        }
        world.time.sleep(Duration::from_secs(2)).await;
    }
}

/// An organiser at work, until the sale is over.
pub(crate) async fn work(world: Arc<World>) {
    if !world.swarm.has_desk {
        return;
    }
    while world.is_on_sale() {
        world.time.sleep(world.rng.ms(1_000, 20_000)).await;
        match world.rng.below(20) {
            0..=2 => world.create_allocation().await,
            3 => world.keep_more().await,
            4..=5 => world.release_by_hand().await,
            6..=9 => world.issue().await,
            10..=11 => world.refund_at_desk().await,
            12..=17 => world.move_any_booking().await,
            _ => world.change_prices().await,
        }
    }
    world.resolve_refunds_of_desk().await;
}

impl World {
    fn organiser_key(&self, endpoint: &'static str, body: &str) -> IdempotencyKey {
        self.key_of(ORGANISER, endpoint, body)
    }

    fn key_of(&self, user: UserId, endpoint: &'static str, body: &str) -> IdempotencyKey {
        let key = self.rng.id(self.time.now()).to_string();
        IdempotencyKey { user, endpoint, key, fingerprint: sha256(body.as_bytes()) }
    }

    /// Some seats of a query, in no order.
    fn some_seats(&self, sql: &'static str, about: Uuid, n_max: u64) -> Vec<SeatId> {
        let rows = self.store.look(sql, Some(about));
        let index = |row: &Vec<String>| row[0].parse().expect("an index is a number");
        let mut indexes: Vec<SeatIndex> = rows.iter().map(index).collect();
        let n_seats = (1 + self.rng.below(n_max)).min(indexes.len() as u64);
        let draw = |_| {
            let at = self.rng.below(indexes.len() as u64) as usize;
            self.schedule.seat(indexes.swap_remove(at))
        };
        (0..n_seats).map(draw).collect()
    }

    /// One of the ids that a query about the date finds.
    fn any_id(&self, sql: &'static str) -> Option<Uuid> {
        let rows = self.store.look(sql, Some(self.schedule.uuid()));
        let at = self.rng.below((rows.len() as u64).max(1)) as usize;
        rows.get(at).map(|row| row[0].parse().expect("an id is a UUID"))
    }
}

/// Every seat of the date, and those in a state.
const ALL: &str = "select seat_index from seats where schedule_id = $1 order by seat_index";
const FREE: &str = "select seat_index from seats
                     where schedule_id = $1 and state = 'FREE' order by seat_index";
const KEPT: &str = "select seat_index from seats
                     where schedule_id = $1 and state = 'KEPT' order by seat_index";

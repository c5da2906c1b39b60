//! An organiser who calls the date off in the middle of the sale.

use crate::sight::Sight;
use crate::world::World;
use app::catalog::cancel_schedule;
use app::{Error, Platform};
use domain::UserId;
use futures::FutureExt;
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
    world.time.sleep(world.chance.ms(1_000, sale_ms - 1)).await;
    let actor = UserId::new(Uuid::from_u128(3));
    // From the first try on it may have happened.
    world.is_called_off.store(true, Ordering::Relaxed);
    loop {
        let schedule = world.schedule;
        let request = |platform: Arc<Platform>| {
            async move { cancel_schedule(&platform, actor, schedule).await.map(drop) }.boxed()
        };
        let answer = world.call(request).await;
        world.note(|| format!("an organiser calls the date off: {answer:?}"));
        // A refusal: an earlier try was done, and its answer lost.
        if let Some(Ok(()) | Err(Error::Refused(_))) = answer {
            return world.saw(Sight::CalledOff);
        }
        world.time.sleep(Duration::from_secs(2)).await;
    }
}

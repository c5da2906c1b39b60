//! An organiser who cancels the date in the middle of the sale.

use crate::check::coverage::Coverage;
use crate::world::World;
use futures::FutureExt;
use podo_app::catalog::cancel_schedule;
use podo_app::{AppContext, Error};
use podo_domain::UserId;
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
    let actor = UserId::new(Uuid::from_u128(3));
    // From the first attempt on, the cancellation may have happened.
    world.is_called_off.store(true, Ordering::Relaxed);
    loop {
        let schedule = world.schedule;
        let request = |context: Arc<AppContext>| {
            async move { cancel_schedule(&context, actor, schedule).await.map(drop) }.boxed()
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

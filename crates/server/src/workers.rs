//! The loops around the workers, and the ear of every node.

use crate::tasks::Tasks;
use app::Platform;
use app::ports::bus::Subscription;
use app::workers::{HEARD, Worker, hear, work};
use std::sync::Arc;
use std::time::Duration;

/// Pause after a failure: the store or the bus is away, and comes back in its own time.
const PAUSE: Duration = Duration::from_secs(1);

/// Most parcels that a node hears of at once, and how long it waits for them.
const HEARD_MAX: usize = 500;
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs a worker until it is time to stop. `first` is its place in the group, if it has one already.
pub async fn run_worker(
    platform: Arc<Platform>,
    tasks: Tasks,
    worker: &'static dyn Worker,
    first: Option<Box<dyn Subscription>>,
) {
    let name = worker.name();
    let mut place = first;
    while !tasks.is_stopping() {
        let Some(subscription) = place.as_mut() else {
            place = join(&platform, worker).await;
            if place.is_none() {
                tasks.pause(PAUSE).await;
            }
            continue;
        };
        let round = tokio::select! {
            // What was taken and not finished comes again, to whoever works then.
            () = tasks.stopped() => break,
            round = work(&platform, worker, &mut **subscription) => round,
        };
        if let Err(error) = round {
            tracing::error!(worker = name, %error, "Messages wait: a round of {name} failed");
            tasks.pause(PAUSE).await;
        }
    }
}

/// Makes topics that are missing, once the bus answers.
pub async fn prepare_bus(platform: Arc<Platform>, tasks: Tasks) {
    while !tasks.is_stopping() {
        match platform.bus.prepare().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "The bus is not ready; messages wait for it"),
        }
        tasks.pause(PAUSE * 5).await;
    }
}

/// Least pause between two rings: in a rush the relay has no time to sleep anyway.
const RING_EVERY: Duration = Duration::from_millis(20);

/// Tells the relays of other nodes that this one wrote a message.
pub async fn ring_bell(platform: Arc<Platform>, tasks: Tasks) {
    while !tasks.is_stopping() {
        let rung = tokio::select! {
            () = tasks.stopped() => break,
            rung = platform.store.tell_others() => rung,
        };
        if let Err(error) = rung {
            tracing::debug!(%error, "Nobody was told of a message; the relay looks for itself");
        }
        tasks.pause(RING_EVERY).await;
    }
}

/// Wakes the relay of this node when another wrote a message.
pub async fn hear_bell(platform: Arc<Platform>, tasks: Tasks) {
    while !tasks.is_stopping() {
        let lost = tokio::select! {
            () = tasks.stopped() => break,
            lost = platform.store.hear_others() => lost,
        };
        if let Err(error) = lost {
            tracing::warn!(%error, "The relay is not told of messages; it looks for itself");
        }
        tasks.pause(PAUSE).await;
    }
}

/// A place in the worker's group.
pub async fn join(platform: &Platform, worker: &dyn Worker) -> Option<Box<dyn Subscription>> {
    let name = worker.name();
    match platform.bus.subscribe(&format!("podo-{name}"), worker.topics()).await {
        Ok(subscription) => Some(subscription),
        Err(error) => {
            tracing::warn!(worker = name, %error, "The bus gives {name} no place; it tries again");
            None
        }
    }
}

/// Every node forgets what others have changed. What was missed before it began to listen is
/// asked for again after a while.
pub async fn run_ear(platform: Arc<Platform>, tasks: Tasks) {
    let mut ear: Option<Box<dyn Subscription>> = None;
    while !tasks.is_stopping() {
        let Some(subscription) = ear.as_mut() else {
            ear = platform.bus.listen(&HEARD).await.ok();
            if ear.is_none() {
                tasks.pause(PAUSE).await;
            }
            continue;
        };
        let heard = tokio::select! {
            () = tasks.stopped() => break,
            heard = subscription.receive(HEARD_MAX, PATIENCE) => heard,
        };
        let Ok(parcels) = heard else {
            ear = None;
            tasks.pause(PAUSE).await;
            continue;
        };
        if !parcels.is_empty() {
            hear(&platform, &parcels);
        }
        if subscription.commit().await.is_err() {
            ear = None;
        }
    }
}

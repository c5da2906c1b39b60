//! The loops around the workers, and each node's cache invalidator.

use crate::jobs::tasks::Tasks;
use podo_app::AppContext;
use podo_app::messaging::port::bus::Subscription;
use podo_app::messaging::workers::{INVALIDATING, Worker, invalidate_caches, work};
use std::sync::Arc;
use std::time::Duration;

/// Back-off after a failure of the store or the bus.
const PAUSE: Duration = Duration::from_secs(1);

/// Most envelopes received at once by the cache invalidator, and how long it waits for them.
const RECEIVED_MAX: usize = 500;
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs a worker until shutdown. `first` is its subscription, if it has already joined the group.
pub async fn run_worker(
    context: Arc<AppContext>,
    tasks: Tasks,
    worker: &'static dyn Worker,
    first: Option<Box<dyn Subscription>>,
) {
    let name = worker.name();
    let mut place = first;
    while !tasks.is_stopping() {
        let Some(subscription) = place.as_mut() else {
            place = join(&context, worker).await;
            if place.is_none() {
                tasks.pause(PAUSE).await;
            }
            continue;
        };
        let round = tokio::select! {
            // Unfinished messages are redelivered to the group's next consumer.
            () = tasks.stopped() => break,
            round = work(&context, worker, &mut **subscription) => round,
        };
        if let Err(error) = round {
            tracing::error!(worker = name, %error, "A round of {name} failed; retrying");
            tasks.pause(PAUSE).await;
        }
    }
}

/// Creates missing topics as soon as the bus is reachable.
pub async fn prepare_bus(context: Arc<AppContext>, tasks: Tasks) {
    while !tasks.is_stopping() {
        match context.messaging.bus.prepare().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "The bus is not ready; retrying"),
        }
        tasks.pause(PAUSE * 5).await;
    }
}

/// Least pause between two notifications: during a rush the relay doesn't sleep anyway.
const NOTIFY_EVERY: Duration = Duration::from_millis(20);

/// Notifies the relays of other nodes that this one has written a message.
pub async fn notify_relays(context: Arc<AppContext>, tasks: Tasks) {
    while !tasks.is_stopping() {
        let notified = tokio::select! {
            () = tasks.stopped() => break,
            notified = context.store.notify_others() => notified,
        };
        if let Err(error) = notified {
            tracing::debug!(%error, "Could not notify other nodes of a message; their relays poll");
        }
        tasks.pause(NOTIFY_EVERY).await;
    }
}

/// Wakes this node's relay when another node has written a message.
pub async fn wake_relay(context: Arc<AppContext>, tasks: Tasks) {
    while !tasks.is_stopping() {
        let lost = tokio::select! {
            () = tasks.stopped() => break,
            lost = context.store.listen() => lost,
        };
        if let Err(error) = lost {
            tracing::warn!(%error, "The notification connection failed; the relay polls");
        }
        tasks.pause(PAUSE).await;
    }
}

/// Joins the worker's consumer group.
pub async fn join(context: &AppContext, worker: &dyn Worker) -> Option<Box<dyn Subscription>> {
    let name = worker.name();
    match context.messaging.bus.subscribe(&format!("podo-{name}"), worker.topics()).await {
        Ok(subscription) => Some(subscription),
        Err(error) => {
            tracing::warn!(worker = name, %error, "{name} could not join its consumer group; retrying");
            None
        }
    }
}

/// Invalidates this node's cache entries that other nodes have changed. Entries that changed before
/// it subscribed expire by their TTL.
pub async fn run_cache_invalidator(context: Arc<AppContext>, tasks: Tasks) {
    let mut invalidator: Option<Box<dyn Subscription>> = None;
    while !tasks.is_stopping() {
        let Some(subscription) = invalidator.as_mut() else {
            invalidator = context.messaging.bus.listen(&INVALIDATING).await.ok();
            if invalidator.is_none() {
                tasks.pause(PAUSE).await;
            }
            continue;
        };
        let received = tokio::select! {
            () = tasks.stopped() => break,
            received = subscription.receive(RECEIVED_MAX, PATIENCE) => received,
        };
        let Ok(envelopes) = received else {
            invalidator = None;
            tasks.pause(PAUSE).await;
            continue;
        };
        if !envelopes.is_empty() {
            invalidate_caches(&context, &envelopes);
        }
        if subscription.commit().await.is_err() {
            invalidator = None;
        }
    }
}

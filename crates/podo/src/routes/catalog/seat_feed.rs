//! Live seat changes: one task per watched schedule polls for changes, and all streams share them.

use crate::jobs::tasks::Tasks;
use podo_app::AppContext;
use podo_app::booking::seat_map::{Delta, Snapshot};
use podo_domain::ScheduleId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::broadcast;

/// Changes that a slow listener may lag behind before it gets the whole map instead.
const BEHIND_MAX: usize = 16;

/// How often the task polls for changes.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What listeners receive.
#[derive(Clone)]
pub enum News {
    Changed(Arc<Delta>),
    /// The task missed changes; this is the current state.
    Whole(Arc<Snapshot>),
    /// The date is canceled.
    Canceled,
}

#[derive(Default)]
pub struct SeatFeed {
    watched: Mutex<HashMap<ScheduleId, broadcast::Sender<News>>>,
}

impl SeatFeed {
    /// Subscribes. The first listener of a schedule starts its task.
    pub fn listen(
        self: &Arc<Self>,
        context: &Arc<AppContext>,
        tasks: &Tasks,
        schedule: ScheduleId,
    ) -> broadcast::Receiver<News> {
        let mut watched = self.lock();
        if let Some(sender) = watched.get(&schedule) {
            return sender.subscribe();
        }
        let (sender, receiver) = broadcast::channel(BEHIND_MAX);
        watched.insert(schedule, sender);
        drop(watched);
        tasks.spawn(self.clone().look(context.clone(), tasks.clone(), schedule));
        receiver
    }

    /// Polls until the last listener leaves or the process stops.
    async fn look(self: Arc<Self>, context: Arc<AppContext>, tasks: Tasks, schedule: ScheduleId) {
        tokio::select! {
            () = self.look_until_left(&context, schedule) => {}
            // Dropping the sender ends the streams of the remaining listeners.
            () = tasks.stopped() => drop(self.lock().remove(&schedule)),
        }
    }

    async fn look_until_left(&self, context: &AppContext, schedule: ScheduleId) {
        let mut last: Option<Arc<Snapshot>> = None;
        let mut is_called_off = false;
        while self.is_watched(schedule) {
            match context.booking.seat_maps.snapshot(context, schedule).await {
                Ok(next) => {
                    if let Some(news) = last.as_ref().and_then(|last| news(last, &next)) {
                        self.tell(schedule, news);
                    }
                    last = Some(next);
                }
                Err(error) => tracing::debug!(%error, "Could not read the seats"),
            }
            if !is_called_off && is_canceled(context, schedule).await {
                is_called_off = true;
                self.tell(schedule, News::Canceled);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Shares the lock with `listen`, so that no listener joins a feed that is ending.
    fn is_watched(&self, schedule: ScheduleId) -> bool {
        let mut watched = self.lock();
        let has_listeners =
            watched.get(&schedule).is_some_and(|sender| sender.receiver_count() > 0);
        if !has_listeners {
            watched.remove(&schedule);
        }
        has_listeners
    }

    fn tell(&self, schedule: ScheduleId, news: News) {
        if let Some(sender) = self.lock().get(&schedule) {
            // Sending without listeners is fine.
            let _ = sender.send(news);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, broadcast::Sender<News>>> {
        self.watched.lock().expect("the lock is never poisoned")
    }
}

/// Whether the date is canceled, from a cache that is at most a second old.
pub(crate) async fn is_canceled(context: &AppContext, schedule: ScheduleId) -> bool {
    let record = context.catalog.schedules.get(&*context.store, schedule, context.now()).await;
    record.is_ok_and(|record| record.is_canceled())
}

fn news(last: &Snapshot, next: &Arc<Snapshot>) -> Option<News> {
    if last.version == next.version {
        return None;
    }
    match next.latest().filter(|delta| delta.since == last.version) {
        Some(delta) => Some(News::Changed(delta.clone())),
        None => Some(News::Whole(next.clone())),
    }
}

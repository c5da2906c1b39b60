//! Changes of seats as they happen: one task per watched schedule looks, everybody listens.

use crate::tasks::Tasks;
use app::Platform;
use app::seat_map::{Delta, Snapshot};
use domain::ScheduleId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::broadcast;

/// Changes that a slow listener may be behind; then it gets the whole map instead.
const BEHIND_MAX: usize = 16;

/// How often the task looks for changes.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What listeners are sent.
#[derive(Clone)]
pub enum News {
    Changed(Arc<Delta>),
    /// The task did not see all that happened: this is how it stands.
    Whole(Arc<Snapshot>),
    /// The date is called off.
    Canceled,
}

#[derive(Default)]
pub struct SeatFeed {
    watched: Mutex<HashMap<ScheduleId, broadcast::Sender<News>>>,
}

impl SeatFeed {
    /// Listens from now on. The first listener of a schedule starts the task that looks.
    pub fn listen(
        self: &Arc<Self>,
        platform: &Arc<Platform>,
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
        tasks.spawn(self.clone().look(platform.clone(), tasks.clone(), schedule));
        receiver
    }

    /// Looks until nobody listens any more, or it is time to stop.
    async fn look(self: Arc<Self>, platform: Arc<Platform>, tasks: Tasks, schedule: ScheduleId) {
        let mut last: Option<Arc<Snapshot>> = None;
        let mut is_called_off = false;
        while !tasks.is_stopping() && self.is_watched(schedule) {
            match platform.seat_maps.snapshot(&platform, schedule).await {
                Ok(next) => {
                    if let Some(news) = last.as_ref().and_then(|last| news(last, &next)) {
                        self.tell(schedule, news);
                    }
                    last = Some(next);
                }
                Err(error) => tracing::debug!(%error, "The seats cannot be looked at"),
            }
            if !is_called_off && is_canceled(&platform, schedule).await {
                is_called_off = true;
                self.tell(schedule, News::Canceled);
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = tasks.stopped() => {}
            }
        }
        if tasks.is_stopping() {
            // Whoever still listens learns that there will be no more.
            self.lock().remove(&schedule);
        }
    }

    /// Under one lock with `listen`, so that nobody joins a feed that is just ending.
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
            // Nobody listening is no trouble.
            let _ = sender.send(news);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, broadcast::Sender<News>>> {
        self.watched.lock().expect("nothing panics under this lock")
    }
}

/// Whether the date is called off, by what this node knows: a second old at most.
pub(crate) async fn is_canceled(platform: &Platform, schedule: ScheduleId) -> bool {
    let record = platform.schedules.get(&*platform.store, schedule, platform.now()).await;
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

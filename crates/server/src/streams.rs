//! Streams of the waiting room. One look a schedule is shared by all who listen; each stream rests
//! by the clock, longer far back, and is woken early only by news that concern everybody.
//!
//! A stream makes a message when its connection can take one. So a slow reader is told the newest
//! state, never a heap of old ones.

use app::queue::{self, Asker, QueueState, QueueView};
use app::{Error, Platform};
use domain::queue::{QueueMode, tell_after_ms};
use domain::{Refusal, ScheduleId, UserId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::watch;

use crate::tasks::Tasks;

/// How often the shared look is taken.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Whoever is inside or shut out is looked after this often.
const REST_MAX: Duration = Duration::from_secs(5);

/// News for everybody are told within this time, not to all at once.
const SPREAD_MS: u64 = 1_000;

/// Streams of one fan for one schedule; more tabs poll.
const PER_FAN_MAX: u32 = 6;

#[derive(Default)]
pub struct Streams {
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    lookouts: HashMap<ScheduleId, Weak<Lookout>>,
    fans: HashMap<(ScheduleId, UserId), u32>,
}

/// Whether there is news that everybody should hear soon. It ends with its last listener.
struct Lookout {
    news: watch::Receiver<News>,
}

/// What concerns everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct News {
    mode: Option<QueueMode>,
    message: Option<String>,
    message_en: Option<String>,
    is_drawn: bool,
    is_away: bool,
    is_canceled: bool,
}

/// One open stream, counted while it lives.
struct Place {
    streams: Arc<Streams>,
    key: (ScheduleId, UserId),
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut shared = self.streams.shared.lock().expect("nothing panics under this lock");
        if let Some(n_open) = shared.fans.get_mut(&self.key) {
            *n_open -= 1;
            if *n_open == 0 {
                shared.fans.remove(&self.key);
            }
        }
    }
}

impl Streams {
    /// How many are open.
    pub fn n_open(&self) -> u64 {
        let shared = self.shared.lock().expect("nothing panics under this lock");
        shared.fans.values().map(|n_open| u64::from(*n_open)).sum()
    }

    fn open(
        self: &Arc<Streams>,
        key: (ScheduleId, UserId),
        limited: bool,
    ) -> Result<Place, Refusal> {
        let mut shared = self.shared.lock().expect("nothing panics under this lock");
        let n_open = shared.fans.entry(key).or_default();
        if limited && *n_open >= PER_FAN_MAX {
            return Err(Refusal::TooManyRequests { retry_after_s: 5 });
        }
        *n_open += 1;
        Ok(Place { streams: self.clone(), key })
    }

    /// The lookout of a schedule, started when nobody listened so far.
    fn lookout(
        &self,
        platform: &Arc<Platform>,
        tasks: &Tasks,
        schedule: ScheduleId,
    ) -> Arc<Lookout> {
        let mut shared = self.shared.lock().expect("nothing panics under this lock");
        if let Some(lookout) = shared.lookouts.get(&schedule).and_then(Weak::upgrade) {
            return lookout;
        }
        shared.lookouts.retain(|_, lookout| lookout.strong_count() > 0);
        let (tell, news) = watch::channel(News::default());
        let lookout = Arc::new(Lookout { news });
        shared.lookouts.insert(schedule, Arc::downgrade(&lookout));
        tasks.spawn(look_out(platform.clone(), tasks.clone(), schedule, tell));
        lookout
    }
}

/// Looks until nobody listens any more or it is time to stop.
async fn look_out(
    platform: Arc<Platform>,
    tasks: Tasks,
    schedule: ScheduleId,
    tell: watch::Sender<News>,
) {
    while !tell.is_closed() && !tasks.is_stopping() {
        let now = platform.now();
        // Without a record there is no news; each stream finds out for itself what is wrong.
        if let Ok(record) = platform.schedules.get(&*platform.store, schedule, now).await {
            let progress = platform.progress.get(&platform, &record, now).await;
            let settings = &record.queue;
            let news = News {
                mode: Some(settings.mode),
                message: settings.message.clone(),
                message_en: settings.message_en.clone(),
                is_drawn: record.times.sale_starts_at <= now,
                is_away: progress.is_away,
                is_canceled: record.is_canceled(),
            };
            tell.send_if_modified(|last| {
                let is_new = *last != news;
                *last = news;
                is_new
            });
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = tasks.stopped() => {}
        }
    }
}

/// What a stream says next.
pub enum Said {
    /// Where the fan stands; something has changed.
    View(Box<QueueView>),
    /// There is nothing more to say.
    Over(Error),
    /// The process ends; the fan should come back in a while.
    Bye { retry_after_ms: u64 },
}

/// One fan who listens.
pub struct Listener {
    platform: Arc<Platform>,
    tasks: Tasks,
    schedule: ScheduleId,
    asker: Asker,
    last: Option<QueueView>,
    news: watch::Receiver<News>,
    is_over: bool,
    _lookout: Arc<Lookout>,
    _place: Place,
}

impl Listener {
    /// Begins to listen. Refusal: `TooManyRequests`, for more streams than one fan needs.
    pub fn start(
        streams: &Arc<Streams>,
        platform: &Arc<Platform>,
        tasks: &Tasks,
        (schedule, asker): (ScheduleId, Asker),
    ) -> Result<Listener, Refusal> {
        let place = streams.open((schedule, asker.fan), platform.rules.limits_on)?;
        let lookout = streams.lookout(platform, tasks, schedule);
        Ok(Listener {
            platform: platform.clone(),
            tasks: tasks.clone(),
            schedule,
            asker,
            last: None,
            news: lookout.news.clone(),
            is_over: false,
            _lookout: lookout,
            _place: place,
        })
    }

    /// Waits until there is something to say; nothing after the end.
    pub async fn next(&mut self) -> Option<Said> {
        if self.is_over {
            return None;
        }
        loop {
            if self.last.is_some() && !self.rest().await {
                self.is_over = true;
                let retry_after_ms = 1_000 + self.platform.chance.number() % 4_000;
                return Some(Said::Bye { retry_after_ms });
            }
            match self.look().await {
                Ok(view) => {
                    if self.is_news(&view) {
                        self.last = Some(view.clone());
                        return Some(Said::View(Box::new(view)));
                    }
                }
                Err(error) => {
                    self.is_over = true;
                    return Some(Said::Over(error));
                }
            }
        }
    }

    async fn look(&mut self) -> app::Result<QueueView> {
        let now = self.platform.now();
        let view = match queue::status_now(&self.platform, self.asker, self.schedule, now) {
            Some(view) => view,
            None => queue::status(&self.platform, self.asker, self.schedule).await?,
        };
        if let Some(number) = view.number {
            self.asker.proof = Some(app::ports::queue::Returning::Line { number });
        }
        Ok(view)
    }

    /// The time alone is no news, nor is the moment of the next question.
    fn is_news(&self, view: &QueueView) -> bool {
        self.last.as_ref().is_none_or(|last| {
            let token = view.token.clone().or_else(|| last.token.clone());
            let same = QueueView {
                now: view.now,
                poll_after_ms: view.poll_after_ms,
                token: token.clone(),
                ..last.clone()
            };
            same != QueueView { token, ..view.clone() }
        })
    }

    /// Rests until it is worth looking again; false when it is time to stop.
    async fn rest(&mut self) -> bool {
        let pause = self.pause();
        let spread = Duration::from_millis(self.platform.chance.number() % SPREAD_MS);
        let woken = async {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // It fails only when the lookout stops, and then so do we.
                _ = self.news.changed() => tokio::time::sleep(spread).await,
            }
        };
        tokio::select! {
            () = woken => !self.tasks.is_stopping(),
            () = self.tasks.stopped() => false,
        }
    }

    fn pause(&self) -> Duration {
        let chance = self.platform.chance.number();
        let Some(view) = &self.last else { return Duration::ZERO };
        match view.state {
            QueueState::Waiting => Duration::from_millis(tell_after_ms(view.ahead, chance).into()),
            QueueState::Lobby => {
                let until = view.opens_at.map_or(REST_MAX, |at| at.since(self.platform.now()));
                until.min(REST_MAX) + Duration::from_millis(50 + chance % SPREAD_MS)
            }
            QueueState::Admitted => {
                let until = view.entry_expires_at.map(|at| at.since(self.platform.now()));
                until.unwrap_or(REST_MAX).min(REST_MAX) + Duration::from_millis(chance % 250)
            }
            QueueState::Expired | QueueState::Closed => {
                REST_MAX + Duration::from_millis(chance % SPREAD_MS)
            }
        }
    }
}

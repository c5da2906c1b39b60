//! Streams of the waiting room. All listeners of a schedule share one poll of it; each stream
//! sleeps on a timer, longer if it is far back, and wakes early only for changes that concern all
//! fans.
//!
//! A stream builds a message only when its connection can take one, so a slow reader gets the
//! latest state, never a backlog. A waiting stream is a timer and the last message: a node keeps a
//! hundred thousand of them.

use crate::jobs::tasks::Tasks;
use podo_app::waiting_room;
use podo_app::waiting_room::port::queue::PlaceProof;
use podo_app::waiting_room::{Asker, QueueState, QueueView};
use podo_app::{AppContext, Error};
use podo_domain::waiting_room::{QueueMode, tell_after_ms};
use podo_domain::{Refusal, ScheduleId, UserId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Interval of the shared poll.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Longest pause for fans who are admitted or shut out.
const REST_MAX: Duration = Duration::from_secs(5);

/// Streams look at common moments, so that one wake-up of a thread serves many of them.
const TICK: Duration = Duration::from_millis(50);

/// Changes for all fans are spread over this time, to avoid a thundering herd.
const SPREAD_MS: u64 = 1_000;

/// Streams per fan and schedule; further tabs poll.
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

/// Announces changes that concern all fans. Ends with its last listener.
struct Lookout {
    started: Instant,
    news: watch::Receiver<News>,
}

impl Lookout {
    /// The next tick from this moment on.
    fn tick_after(&self, at: Instant) -> Instant {
        let since = at.saturating_duration_since(self.started).as_nanos();
        let n_ticks = since.div_ceil(TICK.as_nanos());
        self.started + TICK * u32::try_from(n_ticks).unwrap_or(u32::MAX)
    }
}

/// The state that concerns all fans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct News {
    mode: Option<QueueMode>,
    message: Option<String>,
    message_en: Option<String>,
    is_drawn: bool,
    is_away: bool,
    is_canceled: bool,
}

/// An open stream; counts until dropped.
struct OpenStream {
    streams: Arc<Streams>,
    key: (ScheduleId, UserId),
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut shared = self.streams.shared.lock().expect("the lock is never poisoned");
        if let Some(n_open) = shared.fans.get_mut(&self.key) {
            *n_open -= 1;
            if *n_open == 0 {
                shared.fans.remove(&self.key);
            }
        }
    }
}

impl Streams {
    /// The number of open streams.
    pub fn n_open(&self) -> u64 {
        let shared = self.shared.lock().expect("the lock is never poisoned");
        shared.fans.values().map(|n_open| u64::from(*n_open)).sum()
    }

    fn open(
        self: &Arc<Streams>,
        key: (ScheduleId, UserId),
        limited: bool,
    ) -> Result<OpenStream, Refusal> {
        let mut shared = self.shared.lock().expect("the lock is never poisoned");
        let n_open = shared.fans.entry(key).or_default();
        if limited && *n_open >= PER_FAN_MAX {
            return Err(Refusal::TooManyRequests { retry_after_s: 5 });
        }
        *n_open += 1;
        Ok(OpenStream { streams: self.clone(), key })
    }

    /// The schedule's lookout, started for its first listener.
    fn lookout(
        &self,
        context: &Arc<AppContext>,
        tasks: &Tasks,
        schedule: ScheduleId,
    ) -> Arc<Lookout> {
        let mut shared = self.shared.lock().expect("the lock is never poisoned");
        if let Some(lookout) = shared.lookouts.get(&schedule).and_then(Weak::upgrade) {
            return lookout;
        }
        shared.lookouts.retain(|_, lookout| lookout.strong_count() > 0);
        let (tell, news) = watch::channel(News::default());
        let lookout = Arc::new(Lookout { started: Instant::now(), news });
        shared.lookouts.insert(schedule, Arc::downgrade(&lookout));
        tasks.spawn(look_out(context.clone(), tasks.clone(), schedule, tell));
        lookout
    }
}

/// Polls until the last listener leaves or the process stops. The end closes the channel, which
/// ends the streams.
async fn look_out(
    context: Arc<AppContext>,
    tasks: Tasks,
    schedule: ScheduleId,
    tell: watch::Sender<News>,
) {
    let looks = async {
        while !tell.is_closed() {
            look_at_room(&context, schedule, &tell).await;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        () = looks => {}
        () = tasks.stopped() => {}
    }
}

async fn look_at_room(context: &AppContext, schedule: ScheduleId, tell: &watch::Sender<News>) {
    let now = context.now();
    // Without a record there is no change; each stream finds the error itself.
    let Ok(Some(record)) = context.catalog.schedules.room(&*context.store, schedule, now).await
    else {
        return;
    };
    let progress = context.waiting_room.progress.get(context, &record, now).await;
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

/// The next event of a stream.
pub enum StreamEvent {
    /// The fan's position has changed.
    View(Box<QueueView>),
    /// The stream ends with this error.
    Over(Error),
    /// The process is shutting down; the fan should reconnect later.
    Bye { retry_after_ms: u64 },
}

/// One listening fan.
pub struct Listener {
    context: Arc<AppContext>,
    /// The waiting room.
    schedule: ScheduleId,
    asker: Asker,
    /// What the fan knows, without its token.
    last: Option<QueueView>,
    news: watch::Receiver<News>,
    /// When to look next. It survives a wait that is dropped.
    look_at: Instant,
    is_over: bool,
    lookout: Arc<Lookout>,
    _place: OpenStream,
}

impl Listener {
    /// Starts to listen. Refuses more streams than one fan needs with `TooManyRequests`.
    pub fn start(
        streams: &Arc<Streams>,
        context: &Arc<AppContext>,
        tasks: &Tasks,
        asker: Asker,
    ) -> Result<Listener, Refusal> {
        let schedule = asker.room;
        let place = streams.open((schedule, asker.fan), context.rules.limits_on)?;
        let lookout = streams.lookout(context, tasks, schedule);
        let mut news = lookout.news.clone();
        // The first look sees everything until now.
        news.mark_unchanged();
        Ok(Listener {
            context: context.clone(),
            schedule,
            asker,
            last: None,
            news,
            look_at: Instant::now(),
            is_over: false,
            lookout,
            _place: place,
        })
    }

    /// Waits for the next event; `None` after the end. Dropping the wait loses nothing.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        if self.is_over {
            return None;
        }
        loop {
            if self.last.is_some() && !self.rest().await {
                self.is_over = true;
                let retry_after_ms = 1_000 + self.context.rng.number() % 4_000;
                return Some(StreamEvent::Bye { retry_after_ms });
            }
            match self.look().await {
                Ok(view) => {
                    let news = self.remember(view);
                    self.look_at = self.lookout.tick_after(Instant::now() + self.pause());
                    if let Some(view) = news {
                        return Some(StreamEvent::View(Box::new(view)));
                    }
                }
                Err(error) => {
                    self.is_over = true;
                    return Some(StreamEvent::Over(error));
                }
            }
        }
    }

    async fn look(&mut self) -> podo_app::Result<QueueView> {
        let now = self.context.now();
        let view = match waiting_room::status_now(&self.context, self.asker, self.schedule, now) {
            Some(view) => view,
            // Rare; boxing keeps the future of every stream small.
            None => {
                Box::pin(waiting_room::status(&self.context, self.asker, self.schedule)).await?
            }
        };
        if let Some(number) = view.number {
            self.asker.proof = Some(PlaceProof::Line { number });
        }
        Ok(view)
    }

    /// Returns the view if it is news. Changes of the clock, of the next poll's time and of the
    /// token don't count.
    fn remember(&mut self, mut view: QueueView) -> Option<QueueView> {
        let token = view.token.take();
        if let Some(last) = &mut self.last {
            (last.now, last.poll_after_ms) = (view.now, view.poll_after_ms);
            if *last == view {
                return None;
            }
        }
        self.last = Some(view.clone());
        Some(QueueView { token, ..view })
    }

    /// Sleeps until the next look, which a change for all fans brings forward; false at shutdown.
    async fn rest(&mut self) -> bool {
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(self.look_at) => return self.news.has_changed().is_ok(),
                changed = self.news.changed() => {
                    // This fails only if the lookout stops, which means that we stop too.
                    if changed.is_err() {
                        return false;
                    }
                    let spread = Duration::from_millis(self.context.rng.number() % SPREAD_MS);
                    let soon = self.lookout.tick_after(Instant::now() + spread);
                    self.look_at = self.look_at.min(soon);
                }
            }
        }
    }

    fn pause(&self) -> Duration {
        let random = self.context.rng.number();
        let Some(view) = &self.last else { return Duration::ZERO };
        match view.state {
            QueueState::Waiting => Duration::from_millis(tell_after_ms(view.ahead, random).into()),
            QueueState::Lobby => {
                let until = view.opens_at.map_or(REST_MAX, |at| at.since(self.context.now()));
                until.min(REST_MAX) + Duration::from_millis(50 + random % SPREAD_MS)
            }
            QueueState::Admitted => {
                let until = view.entry_expires_at.map(|at| at.since(self.context.now()));
                until.unwrap_or(REST_MAX).min(REST_MAX) + Duration::from_millis(random % 250)
            }
            QueueState::Expired | QueueState::Closed => {
                REST_MAX + Duration::from_millis(random % SPREAD_MS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_look_at_common_ticks_and_never_early() {
        let started = Instant::now();
        let (_tell, news) = watch::channel(News::default());
        let lookout = Lookout { started, news };
        let after = |ms: u64| lookout.tick_after(started + Duration::from_millis(ms)) - started;
        assert_eq!([0, 1, 50, 51].map(|ms| after(ms).as_millis()), [0, 50, 50, 100]);
        assert_eq!(after(86_400_010).as_millis(), 86_400_050);
    }
}
